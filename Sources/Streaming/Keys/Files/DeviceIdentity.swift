internal import ByteSources
import Glibc
public import HLS
public import RandomAccess
internal import Support
public import SystemPackage

/// What stored keys are bound to: a random name in a file that does not leave the device.
///
/// It binds as well as the file is kept: where there is a chip that holds names, its name belongs into the file, or into
/// `KeySession` at once.
public struct DeviceIdentity: Hashable, Sendable {
    /// The name: 64 hexadecimal digits.
    public let name: String

    private static let byteCount = 32

    /// Reads a device's identity, or makes one.
    ///
    /// - Parameters:
    ///   - path: The file, of the name and a line's end.
    ///   - isMade: Whether a file that is not there is written, with a new name; two processes that do so at a time end
    ///     with the same.
    ///   - isStrict: Whether it is an error that others can open the file.
    ///   - warn: Is called otherwise.
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
        var random = SystemRandomNumberGenerator()
        let name = Hexadecimal.encode((0..<byteCount).map { _ in UInt8.random(in: 0...255, using: &random) })
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
        if linked < 0, errno != EEXIST { _ = try SystemCall.retrying("create device identity \(path)") { -1 } }
        let folder = path.removingLastComponent()
        try PrivateFile.sync(folder: folder.isEmpty ? "." : folder)
    }
}
