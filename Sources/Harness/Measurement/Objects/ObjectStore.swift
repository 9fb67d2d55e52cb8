package import ByteSources
import Glibc
package import RandomAccess
package import Results
package import SubjectProtocol
import Support
package import SystemPackage
import Vectors

/// The objects of a run, each made when a cell first asks for it and used by all that have the same.
package final class ObjectStore {
    private let make: (FilePath, any CipherBackend)?
    private let input: MeasuredObject?
    private let serve: Serve?
    private let strategies: [String: Strategy]
    private var objects: [String: MeasuredObject] = [:]
    private var digests: [String: String] = [:]
    private let plaintext = SplitMix64Stream(seed: 0x6368_756e_6b77_6973)

    /// Puts a file on a server of this machine, which speaks TLS or not, and says how subjects find it there.
    package typealias Serve = (_ file: any ByteSource, _ isSecure: Bool) throws(DecryptionError) -> RemoteObject

    /// How the names of all files end that a store makes.
    package static let fileSuffix = ".chunkwise.bin"

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - folder: Where files of ciphertext go; must exist.
    ///   - encryption: What encrypts them.
    ///   - strategies: The strategies by their texts in cells, as far as the texts do not say all.
    ///   - serve: What puts them on a server; without it there are no objects that come from one.
    package init(
        folder: FilePath, encryption: any CipherBackend, strategies: [String: Strategy] = [:], serve: Serve? = nil
    ) {
        self.make = (folder, encryption)
        self.strategies = strategies
        self.serve = serve
        self.input = nil
    }

    /// Creates a store of a single object, which all cells get.
    package init(input: MeasuredObject) {
        self.make = nil
        self.serve = nil
        self.strategies = [:]
        self.input = input
    }

    /// The strategy of a cell; of a playlist, its segments.
    private func strategy(of cell: Cell) throws(DecryptionError) -> Strategy {
        if let known = input?.strategy ?? strategies[cell.strategy] { return known }
        return try Strategy(measured: cell.strategy)
    }

    /// Says whether a subject that lists some strategies has a cell's.
    package func isOffered(_ cell: Cell, by names: [String]) -> Bool {
        cell.format == PlaylistRequest.strategyName
            ? names.contains(cell.format) : (try? strategy(of: cell))?.format.isOffered(by: names) == true
    }

    /// The object that a cell is measured on.
    ///
    /// - Throws: `DecryptionError.io` if there is no space for it.
    package func object(for cell: Cell) throws(DecryptionError) -> MeasuredObject {
        if let input { return input }
        let name = Self.name(of: cell)
        let kind = ObjectKind(of: cell)
        let reached = kind?.isServed == true ? "\(cell.source) \(name)" : name
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
                source: kind?.isServed == true ? try served(path, as: cell.source) : file,
                expected: StreamPlaintext(stream: plaintext))
        }
        if let segmentByteCount {
            made.playlist = try MeasuredPlaylist(
                resource: name, segmentByteCount: segmentByteCount, plaintextByteCount: cell.objectByteCount)
        }
        objects[reached] = made
        return made
    }

    /// Puts a file on a server; what its cells say of their source says how it is asked for.
    private func served(_ path: FilePath, as sourceName: String) throws(DecryptionError) -> JSONValue {
        guard let serve else { throw .unsupported("objects on servers") }
        let remoteObject = try serve(FileSource(path: path), sourceName.hasPrefix("https"))
        return remoteObject.adopting(sourceName).json
    }

    /// SHA-256 of what a workload must deliver of an object.
    ///
    /// - Throws: `DecryptionError` if the ciphertext cannot be read.
    package func expectedDigest(
        of object: MeasuredObject, cell: Cell, reads: ReadList
    ) throws(DecryptionError) -> String {
        // However it is cut into windows, a sequential workload delivers the same.
        let name = Self.name(of: cell) + " \(cell.workload) \(cell.readCount ?? 0)"
        if let known = digests[name] { return known }
        let digest = try object.expected.digest(of: reads)
        digests[name] = digest
        return digest
    }

    /// Better said now than after a disk was filled. The corresponding C function is `statvfs`.
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

    /// Encrypts the plaintext, unless a run that was broken off did so before.
    private func makeFile(
        _ path: FilePath, cell: Cell, strategy: Strategy, key: SecretKey, encryption: any CipherBackend
    ) throws(DecryptionError) {
        // Files appear under their names only when they are complete, so the name alone says enough.
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
        // Mapped or served or not, it is one file.
        let kind = ObjectKind(of: cell) == .generated ? ObjectKind.generated : .file
        var parts = [kind.rawValue, cell.keyWord, cell.format]
        if cell.strategy != cell.format {
            // Its parameters may be longer than a name.
            parts.append(Hexadecimal.encode(SHAFunction.sha256.hash(Array(cell.strategy.utf8)).prefix(8)))
        }
        return (parts + ["\(cell.objectByteCount)\(fileSuffix)"]).joined(separator: "-")
    }
}

/// Where the ciphertext of a measured object comes from.
package enum ObjectKind: String, CaseIterable, Hashable, Sendable {
    /// A file that was encrypted beforehand; it is in the page cache.
    case file
    /// The same file, decrypted from where the system keeps its pages: no copy, and they count as the process's memory.
    case mmap
    /// The same file, read past the page cache, so that each read is one of the storage.
    case direct
    /// The same, by io_uring.
    case uring
    /// Computed where it is read: any length, at no cost.
    case generated
    /// Ranges of the same file, from a server on this machine or the one that a URL names.
    case http
    /// The same over TLS.
    case https

    /// Whether there is a file to be made, for which there must be space.
    package var isFile: Bool { self != .generated }

    /// Whether reads go past the page cache.
    package var isDirect: Bool { self == .direct || self == .uring }

    /// Whether bytes come from a server.
    package var isServed: Bool { self == .http || self == .https }

    /// What a cell's ``Cell/source`` names, which may say more behind it; `nil` for what no plan makes.
    package init?(of cell: Cell) {
        self.init(rawValue: String(cell.source.prefix { $0 != " " }))
    }
}

/// Whether there is space for the objects of a plan: better said before anything is measured than in the middle.
package enum SpaceCheck {
    /// What is missing.
    package struct Shortage: Hashable, Sendable {
        /// The cell whose object is the largest that is to be made.
        package let cell: PlannedCell
        /// What all objects that are to be made take, and what is free, in bytes.
        package let message: String
    }

    /// Compares what objects take with what is free.
    ///
    /// - Parameters:
    ///   - cells: The cells; those of generated objects take nothing.
    ///   - folder: Where the run's folder is or will be.
    /// - Returns: `nil` if there is enough, or the system does not tell.
    package static func shortage(of cells: [PlannedCell], in folder: RunFolder) -> Shortage? {
        guard let free = freeByteCount(near: folder.path) else { return nil }
        return shortage(of: cells, freeByteCount: free) { name in
            access(folder.objectFolder.appending(name).string, F_OK) == 0
        }
    }

    /// Compares what objects take with what is free; `isMade` says which files are there already.
    static func shortage(
        of cells: [PlannedCell], freeByteCount free: UInt64, isMade: (String) -> Bool
    ) -> Shortage? {
        var known: Set<String> = []
        var sum: UInt64 = 0
        var largest: PlannedCell?
        for planned in cells where ObjectKind(of: planned.cell)?.isFile ?? true {
            let name = ObjectStore.name(of: planned.cell)
            guard known.insert(name).inserted, !isMade(name) else { continue }
            // Padding is a part in 16 at most, with the shortest chunks.
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

    /// The free bytes of the file system that a folder is on, or will be. The corresponding C function is `statvfs`.
    private static func freeByteCount(near folder: FilePath) -> UInt64? {
        var folder = folder.isRelative ? FilePath(".").pushing(folder) : folder
        var status = statvfs()
        while statvfs(folder.string, &status) != 0 {
            guard errno == ENOENT, folder.removeLastComponent(), !folder.isEmpty else { return nil }
        }
        // What has no blocks at all, such as /proc, does not say what it takes.
        guard status.f_blocks > 0 else { return nil }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize)
    }
}

/// The servers of a run on this machine, each started when it is first needed.
package final class LoopbackServers {
    private let network: any NetworkSources
    private var servers: [Bool: any LoopbackServer] = [:]

    /// Starts nothing yet.
    package init(_ network: any NetworkSources) {
        self.network = network
    }

    /// Puts a source on the server that speaks TLS, or on the one that does not.
    ///
    /// - Returns: Where clients find it, as long as the servers are.
    /// - Throws: `DecryptionError.io` if no server can be started.
    package func serve(_ source: any ByteSource, isSecure: Bool) throws(DecryptionError) -> RemoteObject {
        if let server = servers[isSecure] { return server.offer(source) }
        let server = try network.startServer(isSecure: isSecure)
        servers[isSecure] = server
        return server.offer(source)
    }
}
