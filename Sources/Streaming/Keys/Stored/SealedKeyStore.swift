public import RandomAccess

/// A place for sealed keys, such as a folder or a database.
public protocol KeyStorage: Sendable {
    /// Stores a sealed key beside older ones of the identifier. When this returns, the key is stored durably.
    ///
    /// - Throws: `DecryptionError`.
    func write(_ sealed: [UInt8], identifier: String, generation: Int) throws(DecryptionError)

    /// Overwrites and removes the stored keys of an identifier up to a generation. Missing ones are not an error.
    ///
    /// - Throws: `DecryptionError`.
    func erase(identifier: String, generation: Int) throws(DecryptionError)

    /// Returns all sealed keys of an identifier, in any order.
    ///
    /// - Throws: `DecryptionError`.
    func sealed(identifier: String) throws(DecryptionError) -> [[UInt8]]
}

/// A storage, and the sealer of its contents.
///
/// Sealing does not stop an attacker who puts back an old copy of the storage, with keys that were still unused then.
/// That would take a counter outside of the storage, which only a device can have.
public struct SealedKeyStore: Sendable {
    private let storage: any KeyStorage
    private let sealer: any KeySealer

    /// The sealer must be the one that sealed the storage's contents.
    public init(storage: any KeyStorage, sealer: any KeySealer) {
        self.storage = storage
        self.sealer = sealer
    }

    /// Seals and stores a key.
    func put(_ stored: StoredKey, _ key: SecretKey) throws(DecryptionError) {
        let record = try stored.record(with: key)
        try storage.write(
            try sealer.seal(record.bytes), identifier: stored.identifier, generation: stored.generation)
    }

    /// Erases the stored keys of an identifier up to a generation.
    func erase(_ identifier: String, _ generation: Int) throws(DecryptionError) {
        try storage.erase(identifier: identifier, generation: generation)
    }

    /// Returns the stored keys of an identifier, each opened, or the reason why it does not open.
    func find(_ identifier: String) throws(DecryptionError) -> [Result<(stored: StoredKey, key: SecretKey), KeyFailure>]
    {
        var found: [Result<(stored: StoredKey, key: SecretKey), KeyFailure>] = []
        for sealed in try storage.sealed(identifier: identifier) { found.append(open(sealed, identifier)) }
        return found
    }

    private func open(
        _ sealed: [UInt8], _ identifier: String
    ) -> Result<(stored: StoredKey, key: SecretKey), KeyFailure> {
        let erased = ErasedBytes(capacity: sealed.count)
        guard let count = try? sealer.open(sealed, into: erased.buffer) else { return .failure(.unopenable) }
        erased.fill(count)
        guard let (stored, key) = StoredKey.read(erased.bytes) else { return .failure(.unopenable) }
        guard stored.identifier == identifier else { return .failure(.otherIdentifier) }
        return .success((stored, key))
    }
}

/// The record that is stored beside a key.
public struct StoredKey: Hashable, Sendable {
    /// The key's identifier.
    public let identifier: String
    /// The device that the key is bound to.
    public let device: String
    /// The number of times that the key was stored, from 1. The highest generation counts.
    public internal(set) var generation: Int
    /// The time for which the key may be kept unused.
    public let storage: Duration
    /// The time for which the key may be used, from its first use on.
    public let playback: Duration
    /// The arrival of the key, by the wall clock.
    public let receivedAt: Duration
    /// The first use of the key, by the same clock.
    public internal(set) var firstUse: Duration?
    /// The latest known time of this clock.
    public internal(set) var lastSeen: Duration

    /// Times of the wall clock are durations since 1970-01-01 00:00 UTC.
    public init(
        identifier: String, device: String, generation: Int = 1, storage: Duration, playback: Duration,
        receivedAt: Duration, firstUse: Duration? = nil, lastSeen: Duration
    ) {
        self.identifier = identifier
        self.device = device
        self.generation = generation
        self.storage = storage
        self.playback = playback
        self.receivedAt = receivedAt
        self.firstUse = firstUse
        self.lastSeen = lastSeen
    }

    /// The time at which the key expires, by the wall clock.
    public var expiry: Duration { firstUse.map { $0 + playback } ?? receivedAt + storage }

    /// The failure that the expiry of this key means.
    var expiryFailure: KeyFailure { firstUse == nil ? .storageExpired : .playbackExpired }
}

/// The bytes that are sealed: a key and its record.
///
/// Version (1), generation (4), storage, playback, received at, first use or 0, last seen (8 each, in nanoseconds),
/// flag of the first use (1), length of the device (2), of the identifier (4), device and identifier (UTF-8), key (16).
/// Numbers are big-endian.
extension StoredKey {
    private static let version: UInt8 = 1
    private static let fixedByteCount = 1 + 4 + 5 * 8 + 1 + 2 + 4
    private static let keyByteCount = 16

    /// Writes the record and the key.
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

    /// Reads a record and its key.
    ///
    /// - Returns: The record and the key; `nil` if the bytes are malformed.
    package static func read(_ bytes: UnsafeRawBufferPointer) -> (stored: StoredKey, key: SecretKey)? {
        guard bytes.count >= fixedByteCount + keyByteCount, bytes[0] == version else { return nil }
        func number<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int, _: Number.Type) -> Number {
            Number(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Number.self))
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

/// Memory that is erased when it is freed. Belongs to one thread.
final class ErasedBytes {
    let buffer: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init(capacity: Int) {
        buffer = .allocate(byteCount: max(capacity, 1), alignment: 16)
    }

    deinit {
        eraseBytes(buffer)
        buffer.deallocate()
    }

    /// The written bytes.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer[..<count]) }

    /// Sets the number of bytes that the caller wrote.
    func fill(_ count: Int) {
        self.count = min(max(count, 0), buffer.count)
    }

    /// Appends bytes; the buffer must have the capacity.
    func append(_ bytes: UnsafeRawBufferPointer) {
        UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyMemory(from: bytes)
        count += bytes.count
    }

    /// Appends a number, big-endian.
    func append<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number.bigEndian) { append($0) }
    }
}
