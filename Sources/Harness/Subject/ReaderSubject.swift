package import ByteSources
import CLinux
import PluginBackend
package import RandomAccess
package import SubjectProtocol
package import Support
import SystemPackage
import Vectors

/// One of our readers as a subject of the protocol: what `chunkwise subject` runs, and every measured process.
package final class ReaderSubject: SubjectImplementation {
    struct OpenObject {
        var object: ReadObject
        var reader: any RandomAccessDecryptor
        var origin: Origin
        /// The file's path, where it is one.
        var path: FilePath?
        /// The object as it is measured, where that is another one: a plug-in without guards.
        var measured: ReadObject?
    }

    /// What an object was opened from, and can be opened from again.
    enum Origin {
        /// A source, and the member `source` of the request; `nil` for a served one, which cannot be opened twice.
        case source(any ByteSource, OpenParameters, description: JSONValue?)
        case playlist(PlaylistOpening)
    }

    let backend: any CipherBackend
    /// What is measured: the same, without what is only there to find faults.
    let measuredBackend: any CipherBackend
    let configuration: ReaderConfiguration
    private let programVersion: String
    private let network: (any NetworkSources)?
    private var objects: [UInt64: OpenObject] = [:]
    /// What the source that was made last was made from.
    private var latestDescription: JSONValue?
    private var payload = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    /// What timed a workload last, for the next request to time it again: new buffers cost as much as they are long,
    /// and who compares two subjects asks often. Whatever else is asked for ends it.
    private var latestRunner: (id: UInt64, workload: Workload, runner: WorkloadRunner, usage: OwnUsage?)?

    /// Creates a subject.
    package init(
        backend: any CipherBackend, configuration: ReaderConfiguration, programVersion: String,
        network: (any NetworkSources)? = nil
    ) {
        self.backend = backend
        measuredBackend = (backend as? PluginBackend)?.unguarded ?? backend
        self.configuration = configuration
        self.programVersion = programVersion
        self.network = network
    }

    deinit {
        eraseBytes(payload)
        payload.deallocate()
    }

    /// The members of the answer to `hello`.
    package var hello: [String: JSONValue] {
        let strategies = reader?.strategyNames ?? backend.strategyNames
        let extraWork = configuration.extraWork.map { ", extra work \($0)" } ?? ""
        let others =
            (readsPlaylists ? [PlaylistRequest.strategyName] : []) + (reader == nil ? [Format.describedName] : [])
        return [
            "protocol": 1, "name": .string("chunkwise/\(backend.name)"),
            "version": .string("\(programVersion) (\(backend.name) \(backend.version)\(extraWork))"),
            "strategies": JSONValue(strings: strategies + others),
            "keyByteCounts": .array(backend.keyByteCounts.map { .integer(UInt64($0)) }),
            "sources": ["path", "served"], "granularity": configuration.access.granularity,
            "measures": true,
        ]
    }

    /// Whether an object is open under `id`.
    package func isOpen(_ id: UInt64) -> Bool { objects[id] != nil }

    /// Opens a file; or, which only this program asks of itself, a generated object, an object on a server, or any of
    /// them behind a simulated link.
    package func source(
        _ description: JSONValue, parameters: OpenParameters
    ) throws(DecryptionError) -> any ByteSource {
        latestDescription = description
        let source = try SourceDescription.open(description, parameters: parameters, network: network)
        guard let remote = description["remote"] else { return source }
        let client = remote["client"]?.string.flatMap { RemoteClient(rawValue: $0) } ?? .serial
        return client.open(source, strategy: parameters.strategy, link: try RemoteLink(described: remote))
    }

    /// Opens an object.
    package func open(
        id: UInt64, parameters: OpenParameters, source: any ByteSource
    ) throws(DecryptionError) -> UInt64 {
        latestRunner = nil
        let object = try Self.object(parameters, source, backend)
        let description = source is ServedSource ? nil : latestDescription
        objects[id] = OpenObject(
            object: object, reader: try configuration.makeReader(of: object),
            origin: .source(source, parameters, description: description),
            path: description?["path"]?.string.map { FilePath($0) })
        return object.plaintextByteCount
    }

    /// The plug-in's whole reader, if it has one.
    private var reader: PluginReader? { (backend as? PluginBackend)?.reader }

    /// Opens an object with a backend, or a plug-in's own reader.
    private static func object(
        _ parameters: OpenParameters, _ source: any ByteSource, _ backend: any CipherBackend
    ) throws(DecryptionError) -> ReadObject {
        if let reader = (backend as? PluginBackend)?.reader {
            return .plugin(try reader.open(source, strategy: parameters.strategy, key: parameters.key))
        }
        return .encrypted(
            try EncryptedObject(source: source, strategy: parameters.strategy, backend: backend, key: parameters.key))
    }

    /// The object as it is measured: opened once more where that is another one.
    private func measured(_ id: UInt64) throws(DecryptionError) -> OpenObject {
        var entry = try entry(id)
        guard backend is PluginBackend else { return entry }
        if let measured = entry.measured {
            entry.object = measured
        } else {
            switch entry.origin {
            case .source(let source, let parameters, _):
                entry.object = try Self.object(parameters, source, measuredBackend)
            case .playlist(let opening): entry.object = .composite(try opening.open(with: measuredBackend))
            }
            objects[id]?.measured = entry.object
        }
        return entry
    }

    /// Whether playlists are opened: only the blocks of a range are ever read of them.
    package var readsPlaylists: Bool {
        reader == nil && configuration.access == .block && configuration.extraWork == nil
            && backend.supports(.aesCBC, keyByteCount: 16)
    }

    /// Opens a playlist.
    package func openPlaylist(id: UInt64, request: PlaylistRequest) throws(DecryptionError) -> UInt64 {
        latestRunner = nil
        let opening = PlaylistOpening(request: request)
        let object = ReadObject.composite(try opening.open(with: backend))
        objects[id] = OpenObject(
            object: object, reader: try configuration.makeReader(of: object), origin: .playlist(opening),
            path: opening.path)
        return object.plaintextByteCount
    }

    /// Reads a range.
    package func read(id: UInt64, offset: UInt64, count: UInt64) throws(DecryptionError) -> UnsafeRawBufferPointer {
        latestRunner = nil
        let entry = try entry(id)
        let length = entry.object.plaintextByteCount
        let maximum = Int(min(count, length - min(offset, length)))
        if payload.count < maximum {
            let larger = try UnsafeMutableRawBufferPointer.tryAllocate(byteCount: maximum)
            payload.deallocate()
            payload = larger
        }
        let delivered = try entry.reader.read(
            at: offset, into: UnsafeMutableRawBufferPointer(rebasing: payload[..<maximum]))
        try entry.reader.checkVersion()
        return UnsafeRawBufferPointer(rebasing: payload[..<delivered])
    }

    /// Forgets an object.
    package func close(id: UInt64) {
        latestRunner = nil
        objects[id] = nil
        // What the allocator keeps would be there for the next object, and in no figure of its memory.
        if objects.isEmpty { chunkwise_trim_memory() }
    }

    /// Runs a measurement.
    ///
    /// Asked with `"extended":true`, which only this program knows, `digest` answers `requestCount`, `fetchedByteCount`
    /// and `decryptedByteCount` as well, `time` answers `boundByteCount` and `usage`, and there are `firstByte` and
    /// `openLoop`. With `"cold":true` a file is dropped from the page cache before each iteration, and
    /// `residentByteCount` is the max that was kept of it.
    package func measure(id: UInt64, request: JSONValue) throws(DecryptionError) -> [String: JSONValue] {
        guard let description = request["workload"], case .object = description else {
            throw .invalidParameter(name: "member", value: "\"workload\"", expected: "an object")
        }
        let workload = try Workload(description)
        let wantsMore = request["extended"]?.bool == true
        let collected = request["collect"]?.string
        // Before another runner takes as much memory.
        if collected != "time" || wantsMore != (latestRunner?.usage != nil) || latestRunner?.id != id
            || latestRunner?.workload.starting(atDraw: 0) != workload.starting(atDraw: 0)
        {
            latestRunner = nil
        }
        switch collected {
        case "digest":
            let answer = try digest(try measured(id), workload)
            return wantsMore ? answer : answer.filter { ["digest", "deliveredByteCount"].contains($0.key) }
        case "time":
            guard let nanoseconds = request["minimumNanoseconds"]?.integer,
                let iterations = request["maximumIterations"]?.integer, iterations > 0
            else {
                throw .invalidParameter(
                    name: "member", value: "\"minimumNanoseconds\" or \"maximumIterations\"", expected: "integers")
            }
            let opened = try measured(id)
            if wantsMore { return try time(id, workload, nanoseconds, iterations, try cold(request, opened)) }
            let runner = try keptRunner(opened.object, workload)
            let durations = try runner.durations(atLeast: nanoseconds, maxCount: iterations)
            latestRunner = (id, workload, runner, nil)
            return ["nanoseconds": .array(durations.map { .integer($0) })]
        case "latencies":
            let object = try measured(id).object
            let count = try workload.reads(plaintextByteCount: object.plaintextByteCount).count
            guard count <= Workload.maxLatencies else {
                throw .unsupported("latencies of \(count) reads: expected at most \(Workload.maxLatencies)")
            }
            let runner = try runner(object, workload)
            try cold(request, try entry(id))?.drop()
            let latencies = try runner.latencies()
            return ["latencies": .array(latencies.map { .integer($0) })]
        case "openLoop" where wantsMore:
            return try openLoop(try measured(id).object, workload, request)
        case "firstByte" where wantsMore:
            return try firstByte(try measured(id), workload, request)
        default:
            throw .invalidParameter(name: "member", value: "\"collect\"", expected: "digest, time or latencies")
        }
    }

    private func entry(_ id: UInt64) throws(DecryptionError) -> OpenObject {
        guard let entry = objects[id] else {
            throw .invalidParameter(name: "id", value: "\(id)", expected: "an open object")
        }
        return entry
    }

    private func runner(_ object: ReadObject, _ workload: Workload) throws(DecryptionError) -> WorkloadRunner {
        try WorkloadRunner(
            reads: try workload.reads(plaintextByteCount: object.plaintextByteCount), object: object,
            configuration: configuration)
    }

    /// What timed the same workload last, at the draw that is asked for now. A failure ends it.
    private func keptRunner(_ object: ReadObject, _ workload: Workload) throws(DecryptionError) -> WorkloadRunner {
        guard let kept = latestRunner?.runner else { return try runner(object, workload) }
        latestRunner = nil
        kept.reads = try workload.reads(plaintextByteCount: object.plaintextByteCount)
        return kept
    }

    /// Reads when reads are due: `arrivals` such as `poisson:2000`, `readCount` of them, drawn from `arrivalSeed`.
    ///
    /// - Returns: `latencies` from the due times on and `services` from the starts on, one integer a read, and
    ///   `elapsedNanoseconds`.
    private func openLoop(
        _ object: ReadObject, _ workload: Workload, _ request: JSONValue
    ) throws(DecryptionError) -> [String: JSONValue] {
        guard let arrivals = request["arrivals"]?.string.flatMap({ Arrivals($0) }),
            let count = request["readCount"]?.integer, (1...UInt64(Arrivals.maxReads)).contains(count),
            let seed = request["arrivalSeed"]?.integer
        else {
            throw .invalidParameter(
                name: "member", value: "\"arrivals\", \"readCount\" or \"arrivalSeed\"",
                expected: "such as poisson:2000, and integers")
        }
        let times = try runner(object, workload).openLoop(
            due: arrivals.dueNanoseconds(count: Int(count), seed: seed))
        return [
            "latencies": .array(times.latencies.map(JSONValue.integer)),
            "services": .array(times.services.map(JSONValue.integer)),
            "elapsedNanoseconds": .integer(times.elapsedNanoseconds),
        ]
    }

    /// Counts on the way: the object is opened once more behind a source and a backend that do.
    private func digest(_ entry: OpenObject, _ workload: Workload) throws(DecryptionError) -> [String: JSONValue] {
        let decrypted = ByteCounter()
        let counting = CountingBackend(measuredBackend, counter: decrypted)
        let object: ReadObject
        let fetched = FetchRecord(keepsRanges: false)
        switch entry.origin {
        case .source(let base, let parameters, _):
            let source = RecordingSource(base, record: fetched)
            // What a plug-in's own reader decrypts, nobody else counts.
            object = try Self.object(parameters, source.viewable, reader == nil ? counting : measuredBackend)
        case .playlist(let opening):
            object = .composite(try opening.open(with: counting, fetched: fetched))
        }
        let runner = try runner(object, workload)
        fetched.reset()
        decrypted.reset()
        let result = try runner.digest()
        return [
            "digest": .string(Hexadecimal.encode(result.digest)), "deliveredByteCount": .integer(result.byteCount),
            "requestCount": .integer(fetched.requestCount), "fetchedByteCount": .integer(fetched.fetchedByteCount),
            "decryptedByteCount": .integer(decrypted.value),
        ]
    }

    private func time(
        _ id: UInt64, _ workload: Workload, _ minimumNanoseconds: UInt64, _ maximumIterations: UInt64,
        _ cold: ColdFile?
    ) throws(DecryptionError) -> [String: JSONValue] {
        let entry = try measured(id)
        let reads = try workload.reads(plaintextByteCount: entry.object.plaintextByteCount)
        // Before the runner's threads are, so that they are counted.
        let usage = latestRunner?.usage ?? OwnUsage()
        let runner = try keptRunner(entry.object, workload)
        usage.reset()
        if cold == nil { usage.begin() }
        let durations = try runner.durations(atLeast: minimumNanoseconds, maxCount: maximumIterations) {
            () throws(DecryptionError) in
            guard let cold else { return }
            // What dropping takes is not the reader's.
            usage.end()
            try cold.drop()
            usage.begin()
        }
        usage.end()
        latestRunner = (id, workload, runner, usage)
        let bound = configuration.boundByteCount(
            bufferByteCount: reads.largestByteCount, chunkByteCount: entry.object.chunkByteCount,
            plaintextByteCount: entry.object.plaintextByteCount, isAuthenticated: entry.object.isAuthenticated,
            copiesInLibrary: UInt64(backend.copyCountPerCall), requestByteCount: entry.requestByteCount,
            viewByteCount: entry.viewByteCount)
        let ahead = entry.isServed ? min(RemoteObject.aheadByteCount, entry.object.plaintextByteCount) : 0
        return [
            "nanoseconds": .array(durations.map { .integer($0) }),
            "boundByteCount": .integer(bound + entry.object.tableByteCount + ahead),
            "residentByteCount": JSONValue(cold?.residentByteCount),
            "usage": usage.total.map { .object($0.mapValues(JSONValue.integer)) } ?? .null,
        ]
    }
}

extension ReaderSubject.OpenObject {
    /// Whether the ciphertext comes from a server.
    fileprivate var isServed: Bool {
        guard case .source(_, _, let description?) = origin else { return false }
        return RemoteObject(description) != nil
    }

    /// How many bytes of the source are asked for at once.
    fileprivate var requestByteCount: Int {
        if case .source(let source, _, _) = origin { source.requestByteCount } else { DistantSource.requestByteCount }
    }

    /// What a thread's view of the file takes: pages that are mapped, or a buffer for reads past the page cache.
    fileprivate var viewByteCount: UInt64 {
        guard case .source(let source, _, _) = origin else { return 0 }
        if source is DirectSource { return DirectSource.boundByteCount }
        return source is any ViewableSource && !object.isAuthenticated ? MappedSource.boundByteCount : 0
    }
}

extension ReaderSubject {
    /// How often an object is opened to see how long its first byte takes, unless that is longer than
    /// ``openNanoseconds``.
    private static let (openCount, openNanoseconds) = (32, 200_000_000 as UInt64)

    /// Opens the object again and again, and makes the first read of a workload each time.
    ///
    /// - Returns: `firstByte`: for each time, the nanoseconds from before the source is opened until the read is there.
    func firstByte(
        _ opened: OpenObject, _ workload: Workload, _ request: JSONValue
    ) throws(DecryptionError) -> [String: JSONValue] {
        if case .source(_, _, nil) = opened.origin { throw .unsupported("opening a served source again") }
        var reads = try workload.reads(plaintextByteCount: opened.object.plaintextByteCount)
        guard reads.count > 0 else { return ["firstByte": []] }
        let cold = try cold(request, opened)
        let buffers = try UnsafeMutableRawBufferPointer.tryAllocate(byteCounts: [Int(reads[0].count)])
        defer {
            for buffer in buffers {
                eraseBytes(buffer)
                buffer.deallocate()
            }
        }
        // The kernel hands pages out when they are first touched.
        buffers[0].initializeMemory(as: UInt8.self, repeating: 0)
        var (nanoseconds, sum) = ([JSONValue](), 0 as UInt64)
        while nanoseconds.count < Self.openCount, sum < Self.openNanoseconds {
            try cold?.drop()
            let start = monotonicNanoseconds()
            let reader = try configuration.makeReader(of: try openAgain(opened.origin))
            _ = try reader.read(at: reads[0].offset, into: buffers[0])
            try reader.checkVersion()
            let duration = monotonicNanoseconds() - start
            reads.goOn()
            nanoseconds.append(.integer(duration))
            sum += duration
        }
        return ["firstByte": .array(nanoseconds)]
    }

    private func openAgain(_ origin: Origin) throws(DecryptionError) -> ReadObject {
        switch origin {
        case .source(let served, let parameters, let description):
            let source = try description.map { (description) throws(DecryptionError) in
                try self.source(description, parameters: parameters)
            }
            return try Self.object(parameters, source ?? served, measuredBackend)
        case .playlist(let opening): return .composite(try opening.open(with: measuredBackend))
        }
    }

    /// The file that a request wants to be cold; `nil` if it does not.
    ///
    /// - Throws: `DecryptionError.unsupported` for an object that is no file.
    func cold(_ request: JSONValue, _ opened: OpenObject) throws(DecryptionError) -> ColdFile? {
        guard request["cold"]?.bool == true, request["extended"]?.bool == true else { return nil }
        guard let path = opened.path else { throw .unsupported("dropping what is no file from the page cache") }
        return ColdFile(path: path)
    }
}
