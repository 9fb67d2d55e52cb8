import Glibc
internal import RandomAccess
internal import Vectors

/// What a read is to deliver, computed once and then compared with each reader's bytes.
struct ExpectedBytes {
    /// Ranges up to this length are compared byte by byte, larger ones by their digest.
    static let largestHeldByteCount = 1 << 20

    private enum Content {
        case held([UInt8])
        case digest(PlaintextDigest)
    }

    /// The number of bytes.
    let byteCount: Int
    private let content: Content

    /// Computes what `count` bytes from `offset` on are.
    init(of plaintext: GroupPlaintext, offset: UInt64, count: Int) throws(DecryptionError) {
        self.byteCount = count
        let range = offset..<offset + UInt64(count)
        if count > Self.largestHeldByteCount {
            self.content = .digest(try plaintext.digest(of: range))
            return
        }
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        defer { bytes.deallocate() }
        try plaintext.copy(range, into: bytes)
        self.content = .held(Array(bytes))
    }

    /// Takes bytes that a vector lists.
    init(_ bytes: [UInt8]) {
        self.byteCount = bytes.count
        self.content = .held(bytes)
    }

    /// What is wrong with delivered bytes, of which there are `byteCount`, or `nil`.
    func mismatch(in delivered: UnsafeRawBufferPointer) -> String? {
        switch content {
        case .held(let bytes):
            let isEqual = bytes.withUnsafeBytes { expected in
                guard let left = expected.baseAddress, let right = delivered.baseAddress else { return true }
                return memcmp(left, right, expected.count) == 0
            }
            guard !isEqual, let place = bytes.indices.first(where: { bytes[$0] != delivered[$0] }) else { return nil }
            let end = min(place + 8, bytes.count)
            return
                "byte \(place) is wrong: \(Self.hex(delivered[place..<end])), expected \(Self.hex(bytes[place..<end]))"
        case .digest(let digest):
            return PlaintextDigest(delivered) == digest ? nil : "the digest of \(byteCount) bytes is another one"
        }
    }

    private static func hex(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
