internal import ByteSources
import Glibc
public import HLS
public import RandomAccess
internal import Support
public import SystemPackage

/// Sealed keys in a folder, a file each, which nobody but their owner may open.
///
/// A file appears under its name when all of it is on the disk, and the folder is synced before anything older is
/// erased: whatever ends in between, one of the two is there. Names hold a digest of the identifier, which may be a URL
/// with a password in it, and the generation. Several processes of one device may use one folder; what is another
/// device's in it is left as it is, and keeps keys of the same identifier from being stored.
public struct SealedKeyFolder: KeyStorage {
    /// The most bytes of a sealed key: an identifier of a mebibyte, and what stands beside it.
    private static let maxByteCount = 2 << 20

    private let path: FilePath
    private let isStrict: Bool
    private let warn: @Sendable (KeyWarning) -> Void

    /// Opens a folder, or makes it.
    ///
    /// - Parameters:
    ///   - path: The folder; the one above it must be there.
    ///   - isStrict: Whether it is an error that others can open the folder or a file in it.
    ///   - warn: Is called otherwise.
    /// - Throws: `DecryptionError.io`, `.openToOthers`.
    public init(
        path: FilePath, isStrict: Bool = false, warn: @escaping @Sendable (KeyWarning) -> Void = { _ in }
    ) throws(DecryptionError) {
        let result = path.withPlatformString { name in mkdir(name, 0o700) }
        if result < 0, errno != EEXIST { _ = try SystemCall.retrying("create key folder \(path)") { -1 } }
        try PrivateFile.checkFolder(path, isStrict: isStrict, warn: warn)
        self.path = path
        self.isStrict = isStrict
        self.warn = warn
    }

    /// Stores a sealed key; see `KeyStorage.write(_:identifier:generation:)`. One of the same generation is overwritten.
    public func write(_ sealed: [UInt8], identifier: String, generation: Int) throws(DecryptionError) {
        let file = path.appending("\(Self.prefix(identifier))\(generation).key")
        let before = SecureEraser(file)
        let sink = try FileSink(path: file, isSecret: true)
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: sealed.count, alignment: 1)
        defer { room.deallocate() }
        room.copyBytes(from: sealed)
        try sink.write(UnsafeRawBufferPointer(room), at: 0)
        try sink.commit()
        try PrivateFile.sync(folder: path)
        try before.overwrite()
    }

    /// Overwrites and removes what is stored; see `KeyStorage.erase(identifier:generation:)`.
    public func erase(identifier: String, generation: Int) throws(DecryptionError) {
        let doomed = try files(of: identifier).filter { $0.generation <= generation }
        for file in doomed { try SecureEraser(path.appending(file.name)).erase() }
        if !doomed.isEmpty { try PrivateFile.sync(folder: path) }
    }

    /// All that is stored for an identifier; see `KeyStorage.sealed(identifier:)`. What is no file, or too long for a
    /// sealed key, is there without a byte.
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

    /// The files of an identifier, the oldest first. The corresponding C functions are `opendir` and `readdir`.
    private func files(of identifier: String) throws(DecryptionError) -> [(name: FilePath.Component, generation: Int)] {
        try PrivateFile.checkFolder(path, isStrict: isStrict) { _ in }
        guard let stream = path.withPlatformString({ opendir($0) }) else {
            _ = try SystemCall.retrying("open key folder \(path)") { -1 }
            return []
        }
        defer { closedir(stream) }
        let prefix = Self.prefix(identifier)
        var files: [(name: FilePath.Component, generation: Int)] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
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
