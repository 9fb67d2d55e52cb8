public import RandomAccess

/// Where sealed keys lie: a folder, a database.
public protocol KeyStorage: Sendable {
    /// Stores a sealed key beside older ones of the identifier; when this returns, it is there to stay.
    ///
    /// - Throws: `DecryptionError`.
    func write(_ sealed: [UInt8], identifier: String, generation: Int) throws(DecryptionError)

    /// Overwrites and removes what is stored for an identifier, up to a generation; what is not there is no error.
    ///
    /// - Throws: `DecryptionError`.
    func erase(identifier: String, generation: Int) throws(DecryptionError)

    /// All that is stored for an identifier, in any order.
    ///
    /// - Throws: `DecryptionError`.
    func sealed(identifier: String) throws(DecryptionError) -> [[UInt8]]
}

/// A storage and the sealer of what lies in it.
///
/// Sealing does not keep an old copy of a storage from being put back in its place, with keys that had not been used:
/// that takes a counter outside of it, which only a device has.
public struct SealedKeyStore: Sendable {
    private let storage: any KeyStorage
    private let sealer: any KeySealer

    /// Creates a store.
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

    /// Erases what was stored before.
    func erase(_ identifier: String, _ generation: Int) throws(DecryptionError) {
        try storage.erase(identifier: identifier, generation: generation)
    }

    /// What is stored for an identifier; each opens or has a reason why not.
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

/// What is stored beside a key.
public struct StoredKey: Hashable, Sendable {
    /// The key's identifier.
    public let identifier: String
    /// The device that the key is bound to.
    public let device: String
    /// How often the key was stored, from 1; the highest one counts.
    public internal(set) var generation: Int
    /// How long the key may be kept unused.
    public let storage: Duration
    /// How long it may be used from its first use on.
    public let playback: Duration
    /// When the key came, by the clock on the wall.
    public let receivedAt: Duration
    /// When it was used first, by the same clock.
    public internal(set) var firstUse: Duration?
    /// The latest that this clock was seen to show.
    public internal(set) var lastSeen: Duration

    /// Creates what is stored beside a key.
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

    /// When the key expires, by the clock on the wall.
    public var expiry: Duration { firstUse.map { $0 + playback } ?? receivedAt + storage }

    /// Why it has expired, when it has.
    var expiryFailure: KeyFailure { firstUse == nil ? .storageExpired : .playbackExpired }
}

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

/// Memory that is erased when it goes. Belongs to one thread.
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

    /// What was written.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer[..<count]) }

    /// Says how much the caller wrote.
    func fill(_ count: Int) {
        self.count = min(max(count, 0), buffer.count)
    }

    /// Adds bytes, for which there must be capacity.
    func append(_ bytes: UnsafeRawBufferPointer) {
        UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyMemory(from: bytes)
        count += bytes.count
    }

    /// Adds a number, big-endian.
    func append<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number.bigEndian) { append($0) }
    }
}
