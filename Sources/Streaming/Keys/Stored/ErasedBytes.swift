import RandomAccess

/// Memory that is erased when it goes. Belongs to one thread.
final class ErasedBytes {
    let room: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init(capacity: Int) {
        room = .allocate(byteCount: max(capacity, 1), alignment: 16)
    }

    deinit {
        eraseBytes(room)
        room.deallocate()
    }

    /// What was written.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: room[..<count]) }

    /// Says how much was written by somebody else.
    func fill(_ count: Int) {
        self.count = min(max(count, 0), room.count)
    }

    /// Adds bytes, for which there must be room.
    func append(_ bytes: UnsafeRawBufferPointer) {
        UnsafeMutableRawBufferPointer(rebasing: room[count...]).copyMemory(from: bytes)
        count += bytes.count
    }

    /// Adds a number, big-endian.
    func append<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number.bigEndian) { append($0) }
    }
}
