import ByteSources
import Glibc
public import HLS
public import RandomAccess
import Support
public import SystemPackage

/// A folder of sealed keys, one file each, that only their owner may open.
///
/// A file gets its name when all of its bytes are on the disk, and the folder is synced before anything older is
/// erased. If the process ends in between, one of the two files is there. A name holds the generation and a digest of
/// the identifier, because the identifier may be a URL with a password. Several processes of one device may share a
/// folder. Another device's files are left as they are, and keys of the same identifiers cannot be stored.
public struct SealedKeyFolder: KeyStorage {
    /// The max number of bytes of a sealed key: an identifier of one mebibyte, and the other fields.
    private static let maxByteCount = 2 << 20

    private let path: FilePath
    private let isStrict: Bool
    private let warn: @Sendable (KeyWarning) -> Void

    /// Opens a folder, or creates it.
    ///
    /// - Parameters:
    ///   - path: The folder; its parent must exist.
    ///   - isStrict: True if it is an error that others can open the folder or a file in it.
    ///   - warn: Called with a warning otherwise.
    /// - Throws: `DecryptionError.io`, `.openToOthers`.
    public init(
        path: FilePath, isStrict: Bool = false, warn: @escaping @Sendable (KeyWarning) -> Void = { _ in }
    ) throws(DecryptionError) {
        let result = path.withPlatformString { name in mkdir(name, 0o700) }
        if result < 0, errno != EEXIST { throw SystemCall.failure("create key folder \(path)") }
        try PrivateFile.checkFolder(path, isStrict: isStrict, warn: warn)
        self.path = path
        self.isStrict = isStrict
        self.warn = warn
    }

    /// Stores a sealed key; see `KeyStorage.write(_:identifier:generation:)`. A file of the same generation is
    /// overwritten.
    public func write(_ sealed: [UInt8], identifier: String, generation: Int) throws(DecryptionError) {
        let file = path.appending("\(Self.prefix(identifier))\(generation).key")
        let before = SecureEraser(file)
        let sink = try FileSink(path: file, isSecret: true)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: sealed.count, alignment: 1)
        defer { buffer.deallocate() }
        buffer.copyBytes(from: sealed)
        try sink.write(UnsafeRawBufferPointer(buffer), at: 0)
        try sink.commit()
        try PrivateFile.sync(folder: path)
        try before.overwrite()
    }

    /// Overwrites and removes stored keys; see `KeyStorage.erase(identifier:generation:)`.
    public func erase(identifier: String, generation: Int) throws(DecryptionError) {
        let expired = try files(of: identifier).filter { $0.generation <= generation }
        for file in expired { try SecureEraser(path.appending(file.name)).erase() }
        if !expired.isEmpty { try PrivateFile.sync(folder: path) }
    }

    /// Returns all that is stored for an identifier; see `KeyStorage.sealed(identifier:)`. An entry that is not a
    /// regular file, or is too long for a sealed key, counts as empty.
    ///
    /// - Throws: `DecryptionError.io`, `.openToOthers`.
    public func sealed(identifier: String) throws(DecryptionError) -> [[UInt8]] {
        var sealed: [[UInt8]] = []
        for file in try files(of: identifier) {
            let bytes = try PrivateFile.read(
                path.appending(file.name), maximum: Self.maxByteCount, isStrict: isStrict, warn: warn)
            // Another process may have erased it just now.
            if let bytes { sealed.append(bytes) }
        }
        return sealed
    }

    /// The files of an identifier, the oldest first.
    private func files(of identifier: String) throws(DecryptionError) -> [(name: FilePath.Component, generation: Int)] {
        try PrivateFile.checkFolder(path, isStrict: isStrict) { _ in }
        let prefix = Self.prefix(identifier)
        var files: [(name: FilePath.Component, generation: Int)] = []
        for name in try Folder.entries(in: path.string).map(\.name) {
            guard name.hasPrefix(prefix), name.hasSuffix(".key"),
                let generation = Int(name.dropFirst(prefix.count).dropLast(4)), generation > 0,
                let component = FilePath.Component(name)
            else { continue }
            files.append((component, generation))
        }
        return files.sorted { $0.generation < $1.generation }
    }

    private static func prefix(_ identifier: String) -> String {
        Hexadecimal.encode(MessageDigest.sha256(Array(identifier.utf8))) + "-"
    }
}

/// The identity that stored keys are bound to: a random name in a file that does not leave the device.
///
/// The binding is as strong as the file's protection. If the device has a chip that holds names, write its name to the
/// file or pass it to `KeySession` directly.
public struct DeviceIdentity: Hashable, Sendable {
    /// The name: 64 hexadecimal digits.
    public let name: String

    private static let byteCount = 32

    /// Reads a device's identity, or creates one.
    ///
    /// - Parameters:
    ///   - path: The file; it holds the name and a line feed.
    ///   - isMade: True to write a new name if there is no file. Two processes that do so at the same time end with the
    ///     same name.
    ///   - isStrict: True if it is an error that others can open the file.
    ///   - warn: Called with a warning otherwise.
    /// - Throws: `DecryptionError.io`, `.openToOthers`, `.invalidParameter` if the file holds something else.
    public init(
        path: FilePath, isMade: Bool = false, isStrict: Bool = false, warn: (KeyWarning) -> Void = { _ in }
    ) throws(DecryptionError) {
        var text = try PrivateFile.read(path, maximum: 1024, isStrict: isStrict, warn: warn)
        if text == nil, isMade {
            try Self.make(path)
            text = try PrivateFile.read(path, maximum: 1024, isStrict: isStrict, warn: warn)
        }
        guard let text else {
            throw .io(operation: "open device identity \(path)", code: ENOENT, reason: "there is no such file")
        }
        let name = String(decoding: text.last == 0x0A ? text.dropLast() : text[...], as: UTF8.self)
        guard Hexadecimal.decode(name)?.count == Self.byteCount else {
            throw .invalidParameter(
                name: "device identity", value: "in \(path), of \(text.count) bytes",
                expected: "\(2 * Self.byteCount) lower-case hexadecimal digits")
        }
        self.name = name
    }

    /// Writes a new identity, unless another process was first. The corresponding C functions are `fsync` and `link`.
    private static func make(_ path: FilePath) throws(DecryptionError) {
        let name = Hexadecimal.encode([UInt8].random(count: byteCount))
        let hidden = path.removingLastComponent().appending(".chunkwise-\(getpid())-\(name.prefix(16)).partial")
        let descriptor = try SystemCall.check("create device identity \(path)") {
            try FileDescriptor.open(
                hidden, .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec],
                permissions: [.ownerReadWrite])
        }
        defer {
            try? descriptor.close()
            _ = hidden.withPlatformString { unlink($0) }
        }
        _ = try SystemCall.check("write device identity \(path)") { try descriptor.writeAll(Array((name + "\n").utf8)) }
        _ = try SystemCall.retrying("write device identity \(path)") { Int(fsync(descriptor.rawValue)) }
        let linked = hidden.withPlatformString { from in path.withPlatformString { to in link(from, to) } }
        if linked < 0, errno != EEXIST { throw SystemCall.failure("create device identity \(path)") }
        let folder = path.removingLastComponent()
        try PrivateFile.sync(folder: folder.isEmpty ? "." : folder)
    }
}
