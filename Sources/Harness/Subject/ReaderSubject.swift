package import ByteSources
import CLinux
import PluginBackend
package import RandomAccess
package import SubjectProtocol
package import Support
import SystemPackage
import Vectors

/// One of our readers as a subject of the protocol. `chunkwise subject` and every measured process run it.
package final class ReaderSubject: SubjectHandler {
    struct OpenObject {
        var object: ReadObject
        var reader: any RandomAccessDecryptor
        var origin: Origin
        /// The path, if the source is a file.
        var path: FilePath?
        /// The object to measure, if it is another one: a plug-in without guards.
        var measured: ReadObject?
    }

    /// The origin of an object, from which it can be opened again.
    enum Origin {
        /// A source, and the member `source` of the request; `nil` for a served source, which cannot be opened twice.
        case source(any ByteSource, OpenParameters, description: JSONValue?)
        case list(any ListOpening)
    }

    let backend: any CipherBackend
    /// The backend to measure: the same, without the guards that only find faults.
    let measuredBackend: any CipherBackend
    let configuration: ReaderConfiguration
    private let programVersion: String
    private let network: (any NetworkSources)?
    private var objects: [UInt64: OpenObject] = [:]
    /// The description of the source that was made last.
    private var latestDescription: JSONValue?
    private var payload = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    /// The runner that timed a workload last, kept in case the next request times it again: making long buffers is
    /// costly, and a comparison of two subjects sends many such requests. Any other request ends it.
    private var latestRunner: (id: UInt64, workload: Workload, runner: WorkloadRunner, usage: OwnUsage?)?

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
        let strategies = (reader?.strategyNames ?? backend.strategyNames).filter(configuration.reads)
        let extraWork = configuration.extraWork.map { ", extra work \($0)" } ?? ""
        let readsDescriptions = reader == nil && configuration.extraWork == nil
        let others = lists.map(\.rawValue) + (readsDescriptions ? [Format.describedName] : [])
        return [
            "protocol": 1, "name": .string("chunkwise/\(backend.name)"),
            "version": .string("\(programVersion) (\(backend.name) \(backend.version)\(extraWork))"),
            "strategies": JSONValue(strings: strategies + others),
            "keyByteCounts": .array(backend.keyByteCounts.map { .integer(UInt64($0)) }),
            "sources": ["path", "served"], "granularity": configuration.access.granularity,
            "measures": true,
        ]
    }

    /// Returns whether an object is open under `id`.
    package func isOpen(_ id: UInt64) -> Bool { objects[id] != nil }

    /// Opens a file. If this program asks itself, it can also be a generated object, an object on a server, or any of
    /// these behind a simulated link.
    package func source(
        _ description: JSONValue, parameters: OpenParameters
    ) throws(DecryptionError) -> any ByteSource {
        latestDescription = description
        let source = try SourceDescription.open(description, parameters: parameters, network: network)
        guard let remote = description["remote"] else { return source }
        let client = remote["client"]?.string.flatMap { RemoteClient(rawValue: $0) } ?? .serial
        return client.open(source, strategy: parameters.strategy, link: try RemoteLink(described: remote))
    }

    /// Opens an object with the configured reader.
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

    /// The plug-in's own reader, if it has one.
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

    /// Returns the object to measure, which is opened again if it is another one.
    private func measured(_ id: UInt64) throws(DecryptionError) -> OpenObject {
        var entry = try entry(id)
        guard backend is PluginBackend else { return entry }
        if let measured = entry.measured {
            entry.object = measured
        } else {
            switch entry.origin {
            case .source(let source, let parameters, _):
                entry.object = try Self.object(parameters, source, measuredBackend)
            case .list(let opening): entry.object = try opening.open(with: measuredBackend, fetched: nil)
            }
            objects[id]?.measured = entry.object
        }
        return entry
    }

    /// The lists that can be opened. They are only read by the blocks of a range.
    package var lists: [ListStrategy] {
        guard reader == nil, configuration.access == .block, configuration.extraWork == nil,
            backend.supports(.aesCBC, keyByteCount: 16)
        else { return [] }
        return [.playlist] + (FilmObject.isRead(by: backend) ? [.film] : [])
    }

    /// Opens a playlist or a film.
    package func open(id: UInt64, list: ListRequest) throws(DecryptionError) -> UInt64 {
        let opening: any ListOpening =
            switch list {
            case .playlist(let request): PlaylistOpening(request: request)
            case .film(let request): FilmOpening(request: request)
            }
        latestRunner = nil
        let object = try opening.open(with: backend, fetched: nil)
        objects[id] = OpenObject(
            object: object, reader: try configuration.makeReader(of: object), origin: .list(opening),
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

    /// Closes an object.
    package func close(id: UInt64) {
        latestRunner = nil
        objects[id] = nil
        // Memory that the allocator keeps would be reused for the next object, and missing from the figures of its
        // memory.
        if objects.isEmpty { chunkwise_trim_memory() }
    }

    /// Runs a measurement.
    ///
    /// With `"extended":true`, which only this program knows, `digest` also answers `requestCount`, `fetchedByteCount`
    /// and `decryptedByteCount`, `time` also answers `boundByteCount` and `usage`, and `firstByte` and `openLoop`
    /// exist. With `"cold":true` a file is dropped from the page cache before each iteration, and `residentByteCount`
    /// is the max number of bytes that stayed there.
    package func measure(id: UInt64, request: JSONValue) throws(DecryptionError) -> [String: JSONValue] {
        guard let description = request["workload"], case .object = description else {
            throw .missing("workload", "an object")
        }
        let workload = try Workload(description)
        let wantsMore = request["extended"]?.bool == true
        let collected = request["collect"]?.string
        // Released before another runner takes as much memory.
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
            throw .missing("collect", "digest, time or latencies")
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

    /// Returns the runner that timed the same workload last, set to the requested draw. A failure ends it.
    private func keptRunner(_ object: ReadObject, _ workload: Workload) throws(DecryptionError) -> WorkloadRunner {
        guard let kept = latestRunner?.runner else { return try runner(object, workload) }
        latestRunner = nil
        kept.reads = try workload.reads(plaintextByteCount: object.plaintextByteCount)
        return kept
    }

    /// Reads at due times: `readCount` arrivals such as `poisson:2000`, drawn from `arrivalSeed`.
    ///
    /// - Returns: One integer per read in `latencies`, from the due times on, and in `services`, from the starts on;
    ///   and `elapsedNanoseconds`.
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

    /// Opens the object again behind a counting source and a counting backend, and hashes its reads.
    private func digest(_ entry: OpenObject, _ workload: Workload) throws(DecryptionError) -> [String: JSONValue] {
        let decrypted = ByteCounter()
        let counting = CountingBackend(measuredBackend, counter: decrypted)
        let object: ReadObject
        let fetched = FetchRecord(keepsRanges: false)
        switch entry.origin {
        case .source(let base, let parameters, _):
            let source = RecordingSource(base, record: fetched)
            // The decryption in a plug-in's own reader cannot be counted.
            object = try Self.object(parameters, source.viewable, reader == nil ? counting : measuredBackend)
        case .list(let opening): object = try opening.open(with: counting, fetched: fetched)
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
        // The counters must exist before the runner's threads, so that these are counted.
        let usage = latestRunner?.usage ?? OwnUsage()
        let runner = try keptRunner(entry.object, workload)
        usage.reset()
        if cold == nil { usage.begin() }
        let durations = try runner.durations(atLeast: minimumNanoseconds, maxCount: maximumIterations) {
            () throws(DecryptionError) in
            guard let cold else { return }
            // The time of the drop is not the reader's.
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
    /// True if the ciphertext comes from a server.
    fileprivate var isServed: Bool {
        guard case .source(_, _, let description?) = origin else { return false }
        return RemoteObject(description) != nil
    }

    /// The number of bytes that are requested of the source at once.
    fileprivate var requestByteCount: Int {
        if case .source(let source, _, _) = origin { source.requestByteCount } else { DistantSource.requestByteCount }
    }

    /// The memory of a thread's view of the file: mapped pages, or a buffer for reads past the page cache.
    fileprivate var viewByteCount: UInt64 {
        guard case .source(let source, _, _) = origin else { return 0 }
        if source is DirectSource { return DirectSource.boundByteCount }
        return source is any ViewableSource && !object.isAuthenticated ? MappedSource.boundByteCount : 0
    }
}

extension ReaderSubject {
    /// The max number of times that an object is opened to measure the time to its first byte, unless the sum of these
    /// times reaches ``openNanoseconds``.
    private static let (openCount, openNanoseconds) = (32, 200_000_000 as UInt64)

    /// Opens the object repeatedly, and makes the first read of a workload each time.
    ///
    /// - Returns: `firstByte`: for each time, the nanoseconds from before the source is opened until the read is
    ///   complete.
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
        // The kernel only allocates pages when they are first touched.
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
        case .list(let opening): return try opening.open(with: measuredBackend, fetched: nil)
        }
    }

    /// Returns the file to drop from the page cache; `nil` if the request does not ask for it.
    ///
    /// - Throws: `DecryptionError.unsupported` for an object that is not a file.
    func cold(_ request: JSONValue, _ opened: OpenObject) throws(DecryptionError) -> ColdFile? {
        guard request["cold"]?.bool == true, request["extended"]?.bool == true else { return nil }
        guard let path = opened.path else { throw .unsupported("dropping what is no file from the page cache") }
        return ColdFile(path: path)
    }
}
