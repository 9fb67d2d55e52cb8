/// The reads of one iteration; those of a sequential workload take no room, however many they are.
package enum ReadList: RandomAccessCollection, Sendable {
    /// The whole plaintext, `byteCount` bytes a read.
    case windows(byteCount: UInt64, plaintextByteCount: UInt64)
    /// These.
    case listed([Workload.Read])

    /// The place of the first read.
    package var startIndex: Int { 0 }

    /// The number of reads.
    package var endIndex: Int {
        switch self {
        case .windows(let byteCount, let plaintextByteCount):
            Int(plaintextByteCount / byteCount) + (plaintextByteCount % byteCount == 0 ? 0 : 1)
        case .listed(let reads): reads.count
        }
    }

    /// A read by its place.
    package subscript(position: Int) -> Workload.Read {
        switch self {
        case .windows(let byteCount, let plaintextByteCount):
            let offset = UInt64(position) * byteCount
            return Workload.Read(offset: offset, count: Swift.min(byteCount, plaintextByteCount - offset))
        case .listed(let reads):
            return reads[position]
        }
    }

    /// The longest read, in bytes.
    package var largestByteCount: UInt64 {
        switch self {
        case .windows(let byteCount, let plaintextByteCount): Swift.min(byteCount, plaintextByteCount)
        case .listed(let reads): reads.map(\.count).max() ?? 0
        }
    }

    /// The bytes that all reads deliver together.
    package var totalByteCount: UInt64 {
        switch self {
        case .windows(_, let plaintextByteCount): plaintextByteCount
        case .listed(let reads): reads.reduce(0) { $0 &+ $1.count }
        }
    }
}
