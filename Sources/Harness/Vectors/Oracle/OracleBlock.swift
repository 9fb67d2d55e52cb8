/// One AES block as four columns: 32-bit words whose most significant byte is the column's first row.
struct OracleBlock: Equatable {
    var a: UInt32
    var b: UInt32
    var c: UInt32
    var d: UInt32

    @inline(__always)
    init(a: UInt32, b: UInt32, c: UInt32, d: UInt32) {
        (self.a, self.b, self.c, self.d) = (a, b, c, d)
    }

    @inline(__always)
    init(loadingFrom bytes: UnsafeRawPointer) {
        self.a = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt32.self))
        self.b = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
        self.c = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
        self.d = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
    }

    init(_ bytes: [UInt8]) {
        precondition(bytes.count == 16, "\(bytes.count) bytes in a block")
        func word(_ index: Int) -> UInt32 {
            bytes[4 * index..<4 * index + 4].reduce(0) { $0 << 8 | UInt32($1) }
        }
        self.init(a: word(0), b: word(1), c: word(2), d: word(3))
    }

    var bytes: [UInt8] {
        [a, b, c, d].flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) } }
    }

    @inline(__always)
    func store(to bytes: UnsafeMutableRawPointer) {
        bytes.storeBytes(of: a.bigEndian, toByteOffset: 0, as: UInt32.self)
        bytes.storeBytes(of: b.bigEndian, toByteOffset: 4, as: UInt32.self)
        bytes.storeBytes(of: c.bigEndian, toByteOffset: 8, as: UInt32.self)
        bytes.storeBytes(of: d.bigEndian, toByteOffset: 12, as: UInt32.self)
    }

    @inline(__always)
    static func ^ (left: OracleBlock, right: OracleBlock) -> OracleBlock {
        OracleBlock(a: left.a ^ right.a, b: left.b ^ right.b, c: left.c ^ right.c, d: left.d ^ right.d)
    }

    /// The block as a 128-bit big-endian number, plus `count`, modulo 2¹²⁸: schoolbook addition, word by word.
    func adding(_ count: UInt64) -> OracleBlock {
        var sum = self
        var carry = UInt64(sum.d) + (count & 0xffff_ffff)
        sum.d = UInt32(truncatingIfNeeded: carry)
        carry = carry >> 32 + UInt64(sum.c) + count >> 32
        sum.c = UInt32(truncatingIfNeeded: carry)
        carry = carry >> 32 + UInt64(sum.b)
        sum.b = UInt32(truncatingIfNeeded: carry)
        sum.a = sum.a &+ UInt32(truncatingIfNeeded: carry >> 32)
        return sum
    }
}
