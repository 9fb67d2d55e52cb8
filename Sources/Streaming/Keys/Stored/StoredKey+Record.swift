import RandomAccess

/// A key and what is stored beside it, as bytes to be sealed.
///
/// Version (1), generation (4), storage, playback, received at, first use or 0, last seen (8 each, in nanoseconds), whether
/// there was a first use (1), length of the device (2), of the identifier (4), device and identifier (UTF-8), key (16);
/// numbers are big-endian.
extension StoredKey {
    private static let version: UInt8 = 1
    private static let fixedByteCount = 1 + 4 + 5 * 8 + 1 + 2 + 4
    private static let keyByteCount = 16

    /// Writes the record.
    ///
    /// - Throws: `DecryptionError.invalidParameter` if a name is too long, `.invalidKey` if the key is not 16 bytes.
    func record(with key: SecretKey) throws(DecryptionError) -> ErasedBytes {
        guard key.byteCount == Self.keyByteCount else { throw .invalidKey(byteCount: key.byteCount) }
        guard let deviceCount = UInt16(exactly: device.utf8.count), identifier.utf8.count <= 1 << 20,
            let identifierCount = UInt32(exactly: identifier.utf8.count), let generation = UInt32(exactly: generation)
        else {
            throw .invalidParameter(
                name: "stored key",
                value: "with a device of \(device.utf8.count) bytes and an identifier of "
                    + "\(identifier.utf8.count)", expected: "at most 65535 and 1048576")
        }
        let record = ErasedBytes(
            capacity: Self.fixedByteCount + Int(deviceCount) + Int(identifierCount) + Self.keyByteCount)
        record.append(Self.version)
        record.append(generation)
        for time in [storage, playback, receivedAt, firstUse ?? .zero, lastSeen] {
            record.append(KeyTiming.nanoseconds(time))
        }
        record.append(firstUse == nil ? UInt8(0) : 1)
        record.append(deviceCount)
        record.append(identifierCount)
        for text in [device, identifier] { Array(text.utf8).withUnsafeBytes { record.append($0) } }
        key.withUnsafeBytes { record.append($0) }
        return record
    }

    /// Reads a record.
    ///
    /// - Returns: What is stored beside the key, and the key; `nil` if it is no record.
    static func read(_ bytes: UnsafeRawBufferPointer) -> (stored: StoredKey, key: SecretKey)? {
        guard bytes.count >= fixedByteCount + keyByteCount, bytes[0] == version else { return nil }
        func number<Number: FixedWidthInteger & BitwiseCopyable>(at place: Int, _: Number.Type) -> Number {
            Number(bigEndian: bytes.loadUnaligned(fromByteOffset: place, as: Number.self))
        }
        func time(_ index: Int) -> Duration {
            let nanoseconds = number(at: 5 + 8 * index, UInt64.self)
            return .seconds(Int64(nanoseconds / 1_000_000_000)) + .nanoseconds(Int64(nanoseconds % 1_000_000_000))
        }
        let deviceCount = Int(number(at: 46, UInt16.self))
        let identifierCount = Int(number(at: 48, UInt32.self))
        let (device, identifier) = (fixedByteCount, fixedByteCount + deviceCount)
        let keyStart = identifier + identifierCount
        guard bytes[45] <= 1, bytes.count == keyStart + keyByteCount,
            let key = try? SecretKey(UnsafeRawBufferPointer(rebasing: bytes[keyStart...]))
        else { return nil }
        let stored = StoredKey(
            identifier: String(decoding: bytes[identifier..<keyStart], as: UTF8.self),
            device: String(decoding: bytes[device..<identifier], as: UTF8.self),
            generation: Int(number(at: 1, UInt32.self)), storage: time(0), playback: time(1), receivedAt: time(2),
            firstUse: bytes[45] == 1 ? time(3) : nil, lastSeen: time(4))
        return (stored, key)
    }
}
