/// Unpacks what zlib packed: some vector files pack their ciphertexts.
///
/// - Source: RFC 1950 (the frame), RFC 1951 (the contents).
struct Inflate {
    private let input: [UInt8]
    private var position = 0
    private var bitBuffer: UInt32 = 0
    private var bitCount: UInt32 = 0
    private var output: [UInt8] = []

    /// Far more than a vector's.
    private static let largestByteCount = 1 << 26

    /// The contents of a zlib stream, or `nil` if it is none, is cut, or does not add up.
    static func zlib(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count >= 6, bytes[0] & 15 == 8, (Int(bytes[0]) << 8 | Int(bytes[1])) % 31 == 0, bytes[1] & 32 == 0
        else { return nil }
        var inflate = Inflate(input: bytes)
        inflate.position = 2
        guard inflate.run() else { return nil }
        // Whole bytes again: those that were taken in advance are given back.
        inflate.position -= Int(inflate.bitCount / 8)
        guard inflate.position + 4 == bytes.count else { return nil }
        let sum = bytes.suffix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return sum == adler32(inflate.output) ? inflate.output : nil
    }

    private init(input: [UInt8]) {
        self.input = input
    }

    /// Section 3.2.3.
    private mutating func run() -> Bool {
        while true {
            guard let isLast = bits(1), let kind = bits(2) else { return false }
            let isGood =
                switch kind {
                case 0: copyStored()
                case 1: block(Self.fixedLengths, Self.fixedDistances)
                case 2: dynamicBlock()
                default: false
                }
            guard isGood, output.count <= Self.largestByteCount else { return false }
            if isLast == 1 { return true }
        }
    }

    private mutating func bits(_ count: UInt32) -> UInt32? {
        while bitCount < count {
            guard position < input.count else { return nil }
            bitBuffer |= UInt32(input[position]) << bitCount
            position += 1
            bitCount += 8
        }
        defer {
            bitBuffer >>= count
            bitCount -= count
        }
        return bitBuffer & (1 << count - 1)
    }

    /// Section 3.2.4.
    private mutating func copyStored() -> Bool {
        bitBuffer >>= bitCount % 8
        bitCount -= bitCount % 8
        guard let count = bits(16), let complement = bits(16), count ^ complement == 0xffff else { return false }
        position -= Int(bitCount / 8)
        (bitBuffer, bitCount) = (0, 0)
        guard position + Int(count) <= input.count else { return false }
        output += input[position..<position + Int(count)]
        position += Int(count)
        return true
    }

    /// A code of Huffman's: how many words there are of each length, and what they stand for. Section 3.2.2.
    private struct Code {
        var counts = [Int](repeating: 0, count: 16)
        var symbols: [Int] = []

        init(_ lengths: [Int]) {
            for length in lengths { counts[length] += 1 }
            counts[0] = 0
            symbols = lengths.indices.filter { lengths[$0] > 0 }.sorted { (lengths[$0], $0) < (lengths[$1], $1) }
        }
    }

    private mutating func symbol(_ code: Code) -> Int? {
        var (word, first, index) = (0, 0, 0)
        for length in 1...15 {
            guard let bit = bits(1) else { return nil }
            word |= Int(bit)
            let count = code.counts[length]
            if word - first < count { return code.symbols[index + word - first] }
            index += count
            first = (first + count) << 1
            word <<= 1
        }
        return nil
    }

    private static let fixedLengths = Code(
        (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 })
    private static let fixedDistances = Code([Int](repeating: 5, count: 30))

    /// Section 3.2.7.
    private mutating func dynamicBlock() -> Bool {
        guard let literals = bits(5), let distances = bits(5), let lengths = bits(4) else { return false }
        let (literalCount, distanceCount) = (Int(literals) + 257, Int(distances) + 1)
        let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
        var codeLengths = [Int](repeating: 0, count: 19)
        for place in order.prefix(Int(lengths) + 4) {
            guard let length = bits(3) else { return false }
            codeLengths[place] = Int(length)
        }
        let code = Code(codeLengths)
        var all: [Int] = []
        while all.count < literalCount + distanceCount {
            guard let symbol = symbol(code) else { return false }
            switch symbol {
            case 0..<16: all.append(symbol)
            case 16:
                guard let last = all.last, let more = bits(2) else { return false }
                all += [Int](repeating: last, count: 3 + Int(more))
            case 17:
                guard let more = bits(3) else { return false }
                all += [Int](repeating: 0, count: 3 + Int(more))
            default:
                guard let more = bits(7) else { return false }
                all += [Int](repeating: 0, count: 11 + Int(more))
            }
        }
        guard all.count == literalCount + distanceCount else { return false }
        return block(Code(Array(all[..<literalCount])), Code(Array(all[literalCount...])))
    }

    /// Section 3.2.5.
    private mutating func block(_ lengths: Code, _ distances: Code) -> Bool {
        while let symbol = symbol(lengths), output.count <= Self.largestByteCount {
            if symbol < 256 {
                output.append(UInt8(symbol))
                continue
            }
            if symbol == 256 { return true }
            guard symbol < 286, let length = length(symbol - 257), let word = self.symbol(distances), word < 30,
                let distance = distance(word), distance <= output.count
            else { return false }
            for _ in 0..<length { output.append(output[output.count - distance]) }
        }
        return false
    }

    private mutating func length(_ symbol: Int) -> Int? {
        if symbol < 8 { return 3 + symbol }
        if symbol == 28 { return 258 }
        let extra = (symbol - 4) / 4
        return bits(UInt32(extra)).map { 3 + (4 + symbol % 4) << extra + Int($0) }
    }

    private mutating func distance(_ symbol: Int) -> Int? {
        if symbol < 4 { return 1 + symbol }
        let extra = (symbol - 2) / 2
        return bits(UInt32(extra)).map { 1 + (2 + symbol % 2) << extra + Int($0) }
    }

    /// RFC 1950, section 8.2.
    private static func adler32(_ bytes: [UInt8]) -> UInt32 {
        var (a, b): (UInt32, UInt32) = (1, 0)
        for byte in bytes {
            a = (a + UInt32(byte)) % 65521
            b = (b + a) % 65521
        }
        return b << 16 | a
    }
}
