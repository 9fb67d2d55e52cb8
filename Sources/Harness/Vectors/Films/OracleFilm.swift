package import Support

/// The samples of a film, and the oracle's reading of them: byte by byte and block by block.
///
/// - Source: ISO/IEC 23001-7:2016, sections 9 and 10.
package struct OracleFilm: Sendable {
    /// Clear bytes, and the protected ones behind them.
    package typealias Subsample = (clear: UInt64, protected: UInt64)

    /// A sample.
    package struct Sample: Sendable {
        package var offset: UInt64
        package let byteCount: UInt64
        /// The IV; empty for the constant one.
        package var iv: [UInt8]
        /// The subsamples; empty if all of the sample is protected.
        package var subsamples: [Subsample]

        /// The subsamples, of which a sample without any is one.
        package var parts: [Subsample] { subsamples.isEmpty ? [(UInt64(0), byteCount)] : subsamples }

        package init(offset: UInt64, byteCount: UInt64, iv: [UInt8], subsamples: [Subsample] = []) {
            (self.offset, self.byteCount, self.iv, self.subsamples) = (offset, byteCount, iv, subsamples)
        }
    }

    /// The scheme's four letters.
    package var scheme: String
    /// The encrypted blocks of a group, and the clear blocks behind them; 0 and 0 without a pattern.
    package var crypt = 0, skip = 0
    /// The IV of samples without one; empty for none.
    package var constantIV: [UInt8] = []
    package var samples: [Sample] = []

    package init(_ scheme: String) { self.scheme = scheme }

    /// Reads a list as ``list`` has it; `nil` for any other value.
    package init?(list: JSONValue) {
        guard let scheme = list["scheme"]?.string, let rows = list["samples"]?.array else { return nil }
        self.scheme = scheme
        crypt = list["cryptBlocks"]?.integer.flatMap { Int(exactly: $0) } ?? 0
        skip = list["skipBlocks"]?.integer.flatMap { Int(exactly: $0) } ?? 0
        constantIV = list["constantIV"]?.string.flatMap { Hexadecimal.decode($0) } ?? []
        for row in rows.compactMap(\.array) where row.count == 4 {
            guard let offset = row[0].integer, let byteCount = row[1].integer,
                let iv = row[2].string.flatMap({ Hexadecimal.decode($0) }), let pairs = row[3].array
            else { return nil }
            let numbers = pairs.map { $0.array?.compactMap(\.integer) ?? [] }
            guard numbers.allSatisfy({ $0.count == 2 }) else { return nil }
            samples.append(
                Sample(offset: offset, byteCount: byteCount, iv: iv, subsamples: numbers.map { ($0[0], $0[1]) }))
        }
    }

    /// The list of its samples. Source: docs/files.md, "Films".
    package var list: JSONValue {
        [
            "scheme": .string(scheme), "cryptBlocks": JSONValue(count: crypt), "skipBlocks": JSONValue(count: skip),
            "constantIV": .string(Hexadecimal.encode(constantIV)),
            "samples": .array(
                samples.map { sample in
                    .array([
                        .integer(sample.offset), .integer(sample.byteCount), .string(Hexadecimal.encode(sample.iv)),
                        .array(sample.subsamples.map { .array([.integer($0.clear), .integer($0.protected)]) }),
                    ])
                }),
        ]
    }

    /// The list in one line of JSON.
    package var text: String { String(decoding: list.line.dropLast(), as: UTF8.self) }

    /// Returns the plaintext of a film.
    func plaintext(of film: [UInt8], key: [UInt8]) -> [UInt8] {
        var film = film
        let aes = OracleAES(key)
        for sample in samples { decrypt(sample, in: &film, aes) }
        return film
    }

    /// Decrypts a sample where it lies.
    private func decrypt(_ sample: Sample, in film: inout [UInt8], _ aes: OracleAES) {
        // The bytes of the sample that are encrypted, in order, as stretches that a chain runs through.
        var (position, chains): (Int, [[Int]]) = (Int(sample.offset), [[]])
        for (clear, protected) in sample.parts {
            position += Int(clear)
            var offsets: [Int] = []
            if scheme == "cenc" {
                offsets = Array(0..<Int(protected))
            } else if crypt == 0 || skip == 0 {
                offsets = Array(0..<Int(protected) / 16 * 16)
            } else {
                var start = 0
                while start + crypt * 16 <= Int(protected) {
                    offsets += start..<start + crypt * 16
                    start += (crypt + skip) * 16
                }
            }
            if scheme == "cbcs" { chains.append([]) }
            chains[chains.count - 1] += offsets.map { $0 + position }
            position += Int(protected)
        }
        let iv = sample.iv.isEmpty ? constantIV : sample.iv
        let first = OracleBlock(iv + [UInt8](repeating: 0, count: 16 - iv.count))
        for chain in chains {
            var before = first
            for start in stride(from: 0, to: chain.count, by: 16) {
                let places = chain[start..<min(start + 16, chain.count)]
                var bytes = places.map { film[$0] }
                if scheme.hasPrefix("cen") {
                    // The last 8 bytes are a counter, which wraps without a carry.
                    let counter = first.bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) } &+ UInt64(start / 16)
                    let low = (0..<8).map { UInt8(truncatingIfNeeded: counter >> (56 - 8 * $0)) }
                    let key = aes.encrypt(OracleBlock(first.bytes.prefix(8) + low)).bytes
                    for (index, place) in places.enumerated() { film[place] = bytes[index] ^ key[index] }
                } else {
                    let block = OracleBlock(bytes)
                    bytes = (aes.decrypt(block) ^ before).bytes
                    before = block
                    for (index, place) in places.enumerated() { film[place] = bytes[index] }
                }
            }
        }
    }
}
