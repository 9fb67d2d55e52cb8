package import ByteSources
import Glibc
package import RandomAccess
package import Results
package import SubjectProtocol
import Support
package import SystemPackage
import Vectors

/// The objects of a run. Each is made when a cell first needs it, and shared by all cells that need the same one.
package final class ObjectStore {
    private let make: (FilePath, any CipherBackend)?
    private let input: MeasuredObject?
    private let serve: Serve?
    private let strategies: [String: Strategy]
    private var objects: [String: MeasuredObject] = [:]
    private var digests: [String: String] = [:]
    private let plaintext = SplitMix64Stream(seed: 0x6368_756e_6b77_6973)

    /// A function that offers a file on a server of this machine, with or without TLS, and returns its address.
    package typealias Serve = (_ file: any ByteSource, _ isSecure: Bool) throws(DecryptionError) -> RemoteObject

    /// The suffix of the names of all files that a store makes.
    package static let fileSuffix = ".chunkwise.bin"

    /// - Parameters:
    ///   - folder: The folder for files of ciphertext. It must exist.
    ///   - encryption: The backend that encrypts them.
    ///   - strategies: The strategies by their texts in cells, for those that the text alone does not determine.
    ///   - serve: The function that offers a file on a server; `nil` for a store without served objects.
    package init(
        folder: FilePath, encryption: any CipherBackend, strategies: [String: Strategy] = [:], serve: Serve? = nil
    ) {
        self.make = (folder, encryption)
        self.strategies = strategies
        self.serve = serve
        self.input = nil
    }

    /// A store for the cells of a plan: of the given object, or of files in a folder.
    package convenience init(
        _ plan: Plan, input: MeasuredObject?, folder: FilePath, encryption: any CipherBackend,
        servers: LoopbackServers?
    ) {
        guard let input else {
            self.init(
                folder: folder, encryption: encryption, strategies: plan.strategies, serve: servers.map { $0.serve })
            return
        }
        self.init(input: input)
    }

    /// A store of a single object for all cells.
    package init(input: MeasuredObject) {
        self.make = nil
        self.serve = nil
        self.strategies = [:]
        self.input = input
    }

    /// The strategy of a cell; for a playlist, that of its segments.
    private func strategy(of cell: Cell) throws(DecryptionError) -> Strategy {
        if let known = input?.strategy ?? strategies[cell.strategy] { return known }
        return try Strategy(measured: cell.strategy)
    }

    /// Returns whether the strategy of a cell is among the strategies that a subject lists.
    package func isOffered(_ cell: Cell, by names: [String]) -> Bool {
        cell.format == PlaylistRequest.strategyName
            ? names.contains(cell.format) : (try? strategy(of: cell))?.format.isOffered(by: names) == true
    }

    /// Returns the object for the measurement of a cell.
    ///
    /// - Throws: `DecryptionError.io` if there is no space for it.
    package func object(for cell: Cell) throws(DecryptionError) -> MeasuredObject {
        if let input { return input }
        let name = Self.name(of: cell)
        let kind = ObjectKind(of: cell)
        let reached = kind?.isServed == true ? "\(cell.sourceName) \(name)" : name
        if let known = objects[reached] { return known }
        let strategy = try strategy(of: cell)
        let segmentByteCount = cell.format == PlaylistRequest.strategyName ? strategy.chunkByteCount : nil
        var keyBytes = [UInt8](repeating: 0, count: cell.keyByteCount)
        keyBytes.withUnsafeMutableBytes { SplitMix64Stream(seed: 0x6b65_79).fill($0, from: 0) }
        let key = try SecretKey(material: keyBytes)
        var made: MeasuredObject
        if kind == .generated {
            made = try .generated(strategy: strategy, key: key, plaintextByteCount: cell.objectByteCount)
        } else {
            guard let (folder, encryption) = make else { throw .unsupported("a file without a folder") }
            let path = folder.appending(name)
            try makeFile(path, cell: cell, strategy: strategy, key: key, encryption: encryption)
            let file = ["path": .string(path.string)] as JSONValue
            made = MeasuredObject(
                strategy: strategy, key: key, plaintextByteCount: cell.objectByteCount,
                source: kind?.isServed == true ? try served(path, for: cell) : file,
                expected: StreamPlaintext(stream: plaintext))
        }
        if let segmentByteCount {
            made.playlist = try MeasuredPlaylist(
                resource: name, segmentByteCount: segmentByteCount, plaintextByteCount: cell.objectByteCount)
        }
        objects[reached] = made
        return made
    }

    /// Offers a file on a server, with a cell's options for requests.
    private func served(_ path: FilePath, for cell: Cell) throws(DecryptionError) -> JSONValue {
        guard let serve else { throw .unsupported("objects on servers") }
        let remoteObject = try serve(FileSource(path: path), cell.source == ObjectKind.https.rawValue)
        return remoteObject.adopting(cell.connection).json
    }

    /// Returns the SHA-256 of the bytes that a workload must deliver.
    ///
    /// - Throws: `DecryptionError` if the ciphertext cannot be read.
    package func expectedDigest(
        of object: MeasuredObject, cell: Cell, reads: ReadList
    ) throws(DecryptionError) -> String {
        // A sequential workload delivers the same bytes with any window.
        let name = Self.name(of: cell) + " \(cell.workload) \(cell.readCount ?? 0)"
        if let known = digests[name] { return known }
        let digest = try object.expected.digest(of: reads)
        digests[name] = digest
        return digest
    }

    /// Throws before the disk is filled if there is not enough space. The corresponding C function is `statvfs`.
    private func requireSpace(for cell: Cell, at path: FilePath) throws(DecryptionError) {
        var status = statvfs()
        guard statvfs(path.removingLastComponent().string, &status) == 0 else { return }
        let free = UInt64(status.f_bavail) * UInt64(status.f_frsize)
        guard cell.objectByteCount < free else {
            throw .io(
                operation: "make an object of \(ByteSize(cell.objectByteCount))", code: ENOSPC,
                reason: "\(ByteSize((free >> 20) << 20)) are free in \(path.removingLastComponent())")
        }
    }

    /// Encrypts the plaintext, unless an interrupted run has done so.
    private func makeFile(
        _ path: FilePath, cell: Cell, strategy: Strategy, key: SecretKey, encryption: any CipherBackend
    ) throws(DecryptionError) {
        // Files get their names only when they are complete, so that an existing file is a complete one.
        if (try? FileSource(path: path)) != nil { return }
        try requireSpace(for: cell, at: path)
        let sink = try FileSink(path: path)
        let encryptor = try ObjectEncryptor(strategy: strategy, backend: encryption, key: key, windowByteCount: 1 << 20)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        var written: UInt64 = 0
        func write(_ bytes: UnsafeRawBufferPointer) throws {
            try sink.write(bytes, at: written)
            written += UInt64(bytes.count)
        }
        do {
            var offset: UInt64 = 0
            while offset < cell.objectByteCount {
                let count = Int(min(UInt64(buffer.count), cell.objectByteCount - offset))
                let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
                plaintext.fill(part, from: offset)
                try encryptor.append(UnsafeRawBufferPointer(part), to: write)
                offset += UInt64(count)
            }
            try encryptor.finish(to: write)
        } catch {
            throw error as? DecryptionError ?? .io(operation: "write \(path)", code: 0, reason: "\(error)")
        }
        try sink.commit()
    }

    static func name(of cell: Cell) -> String {
        // Mapped, served and plain reads share one file.
        let kind = ObjectKind(of: cell) == .generated ? ObjectKind.generated : .file
        var parts = [kind.rawValue, cell.keyWord, cell.format]
        if cell.strategy != cell.format {
            // The parameters may be longer than a file name.
            parts.append(Hexadecimal.encode(SHAFunction.sha256.hash(Array(cell.strategy.utf8)).prefix(8)))
        }
        return (parts + ["\(cell.objectByteCount)\(fileSuffix)"]).joined(separator: "-")
    }
}

/// The source of a measured object's ciphertext.
package enum ObjectKind: String, CaseIterable, Hashable, Sendable {
    /// A file that was encrypted beforehand. It is in the page cache.
    case file
    /// The same file, mapped into memory. Its pages are not copied, and count as the process's memory.
    case mmap
    /// The same file, read without the page cache, so that each read goes to the storage.
    case direct
    /// The same file, read without the page cache by io_uring.
    case uring
    /// Ciphertext that is computed when it is read. It can have any length, and needs no storage.
    case generated
    /// Ranges of the same file, from a server on this machine or at a URL.
    case http
    /// Ranges of the same file over TLS.
    case https

    /// True if the object is a file, which needs space.
    package var isFile: Bool { self != .generated }

    /// True if reads do not use the page cache.
    package var isDirect: Bool { self == .direct || self == .uring }

    /// True if bytes come from a server.
    package var isServed: Bool { self == .http || self == .https }

    /// The kind that ``Cell/source`` names; `nil` for a name that no plan can have.
    package init?(of cell: Cell) { self.init(rawValue: cell.source) }
}

extension RemoteObject {
    /// The source in a cell: the scheme.
    package var source: String { (isSecure ? ObjectKind.https : .http).rawValue }

    /// The unusual options of connections and ranges in a cell; `nil` if all are usual.
    package var connection: Connection? {
        Connection(
            tlsAllowances: isSecure ? tls.options : [], isKept: keepsConnections, readAheadDepth: readAheadDepth)
    }

    /// Returns the object with a cell's options of connections and ranges; the checks of certificates are its own.
    package func adopting(_ connection: Connection?) -> RemoteObject {
        var remoteObject = self
        remoteObject.keepsConnections = connection?.isKept ?? true
        remoteObject.readAheadDepth = connection?.readAheadDepth
        return remoteObject
    }
}

/// A check for enough space for the objects of a plan, before the measurement starts.
package enum SpaceCheck {
    /// A lack of space.
    package struct Shortage: Hashable, Sendable {
        /// The cell with the largest object that has to be made.
        package let cell: PlannedCell
        /// A message with the size of all objects that have to be made, and the free space.
        package let message: String
    }

    /// Compares the size of the objects with the free space.
    ///
    /// - Parameters:
    ///   - cells: The cells. Generated objects need no space.
    ///   - folder: The run's folder, which need not exist yet.
    /// - Returns: `nil` if there is enough space, or if the system does not report it.
    package static func shortage(of cells: [PlannedCell], in folder: RunFolder) -> Shortage? {
        guard let free = freeByteCount(near: folder.path) else { return nil }
        return shortage(of: cells, freeByteCount: free) { name in
            access(folder.objectFolder.appending(name).string, F_OK) == 0
        }
    }

    /// Compares the size of the objects with the free space. `isMade` returns whether a file exists already.
    static func shortage(
        of cells: [PlannedCell], freeByteCount free: UInt64, isMade: (String) -> Bool
    ) -> Shortage? {
        var known: Set<String> = []
        var sum: UInt64 = 0
        var largest: PlannedCell?
        for planned in cells where ObjectKind(of: planned.cell)?.isFile ?? true {
            let name = ObjectStore.name(of: planned.cell)
            guard known.insert(name).inserted, !isMade(name) else { continue }
            // Ignores padding, which is at most a sixteenth, with the shortest chunks.
            let byteCount = planned.cell.objectByteCount
            sum = sum.addingReportingOverflow(byteCount).overflow ? .max : sum + byteCount
            if byteCount > largest?.cell.objectByteCount ?? 0 { largest = planned }
        }
        guard sum > free, let largest else { return nil }
        let size = ByteSize(largest.cell.objectByteCount)
        return Shortage(
            cell: largest,
            message: "object-size \(size): all objects take \(ByteSize((sum >> 20) << 20)): expected at most the "
                + "\(ByteSize((free >> 20) << 20)) that are free")
    }

    /// The free bytes of a folder's file system. The folder need not exist. The corresponding C function is `statvfs`.
    private static func freeByteCount(near folder: FilePath) -> UInt64? {
        var folder = folder.isRelative ? FilePath(".").pushing(folder) : folder
        var status = statvfs()
        while statvfs(folder.string, &status) != 0 {
            guard errno == ENOENT, folder.removeLastComponent(), !folder.isEmpty else { return nil }
        }
        // A file system without blocks, such as /proc, does not report its space.
        guard status.f_blocks > 0 else { return nil }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize)
    }
}

/// The servers of a run on this machine. Each starts when it is first needed.
package final class LoopbackServers {
    private let network: any NetworkSources
    private var servers: [Bool: any LoopbackServer] = [:]

    package init(_ network: any NetworkSources) {
        self.network = network
    }

    /// Offers a source on the server with TLS, or on the one without.
    ///
    /// - Returns: The object's address for clients. It is valid while this value exists.
    /// - Throws: `DecryptionError.io` if no server can be started.
    package func serve(_ source: any ByteSource, isSecure: Bool) throws(DecryptionError) -> RemoteObject {
        if let server = servers[isSecure] { return server.offer(source) }
        let server = try network.startServer(isSecure: isSecure)
        servers[isSecure] = server
        return server.offer(source)
    }
}
