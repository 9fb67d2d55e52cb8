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
    private var objects: [String: MeasuredObject] = [:]
    private var digests: [String: String] = [:]
    private let plaintext = SplitMix64Stream(seed: 0x6368_756e_6b77_6973)

    /// Puts a file on a server of this machine, which speaks TLS or not, and says how subjects find it there.
    package typealias Serve = (_ file: any ByteSource, _ isSecure: Bool) throws(DecryptionError) -> RemoteObject

    /// How the names of all files end that a store makes.
    static let fileSuffix = ".chunkwise.bin"

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - folder: Where files of ciphertext go; must exist.
    ///   - encryption: What encrypts them.
    ///   - serve: What puts them on a server; without it there are no objects that come from one.
    package init(folder: FilePath, encryption: any CipherBackend, serve: Serve? = nil) {
        self.make = (folder, encryption)
        self.serve = serve
        self.input = nil
    }

    /// Creates a store of a single object, which all cells get.
    package init(input: MeasuredObject) {
        self.make = nil
        self.serve = nil
        self.input = input
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
        let strategy = try cell.strategy()
        var keyBytes = [UInt8](repeating: 0, count: cell.keyByteCount)
        keyBytes.withUnsafeMutableBytes { SplitMix64Stream(seed: 0x6b65_79).fill($0, from: 0) }
        let key = try SecretKey(keyBytes)
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
        if cell.strategy == PlaylistRequest.strategyName, let segmentByteCount = cell.chunkByteCount {
            made.playlist = try MeasuredPlaylist(
                resource: name, segmentByteCount: segmentByteCount, plaintextByteCount: cell.objectByteCount)
        }
        objects[reached] = made
        return made
    }

    /// Puts a file on a server; what its cells say of their source says how it is asked for.
    private func served(_ path: FilePath, as sourceName: String) throws(DecryptionError) -> JSONValue {
        guard let serve else { throw .unsupported("objects on servers") }
        let place = try serve(FileSource(path: path), sourceName.hasPrefix("https"))
        return place.adopting(sourceName).json
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
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { room.deallocate() }
        var written: UInt64 = 0
        func write(_ bytes: UnsafeRawBufferPointer) throws {
            try sink.write(bytes, at: written)
            written += UInt64(bytes.count)
        }
        do {
            var offset: UInt64 = 0
            while offset < cell.objectByteCount {
                let count = Int(min(UInt64(room.count), cell.objectByteCount - offset))
                let part = UnsafeMutableRawBufferPointer(rebasing: room[..<count])
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
        var parts = [kind.rawValue, "aes\(cell.keyByteCount * 8)", cell.strategy]
        if let ivRule = cell.ivRule { parts.append(ivRule) }
        if let padding = cell.padding { parts.append(padding) }
        if let chunkByteCount = cell.chunkByteCount { parts.append("\(chunkByteCount)") }
        return (parts + ["\(cell.objectByteCount)\(fileSuffix)"]).joined(separator: "-")
    }
}
