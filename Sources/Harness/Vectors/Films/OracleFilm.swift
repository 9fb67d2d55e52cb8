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

    /// Reads a list of samples; `nil` for any other value, and for numbers of 2^53 and more.
    package init?(list: JSONValue) {
        func number(_ value: JSONValue) -> UInt64? { value.integer.flatMap { $0 < 1 << 53 ? $0 : nil } }
        func bytes(_ value: JSONValue) -> [UInt8]? { value.string.flatMap { Hexadecimal.decode($0) } }
        guard let scheme = list["scheme"]?.string, let rows = list["samples"]?.array,
            let crypt = number(list["cryptBlocks"] ?? 0), let skip = number(list["skipBlocks"] ?? 0),
            let constantIV = bytes(list["constantIV"] ?? "")
        else { return nil }
        (self.scheme, self.crypt, self.skip, self.constantIV) = (scheme, Int(crypt), Int(skip), constantIV)
        for row in rows {
            guard let row = row.array, (3...4).contains(row.count), let offset = number(row[0]),
                let byteCount = number(row[1]), let iv = bytes(row[2]), let pairs = row.count == 4 ? row[3].array : []
            else { return nil }
            let subsamples = pairs.compactMap { pair -> Subsample? in
                guard let pair = pair.array, pair.count == 2, let clear = number(pair[0]),
                    let protected = number(pair[1])
                else { return nil }
                return (clear, protected)
            }
            guard subsamples.count == pairs.count else { return nil }
            samples.append(Sample(offset: offset, byteCount: byteCount, iv: iv, subsamples: subsamples))
        }
    }

    /// The list of its samples, without members that may be absent. Samples without subsamples have three fields,
    /// unless other samples have some. Source: docs/files.md, "Films".
    package var list: JSONValue {
        let hasSubsamples = samples.contains { !$0.subsamples.isEmpty }
        let rows = samples.map { sample -> JSONValue in
            let pairs = sample.subsamples.map { JSONValue.array([.integer($0.clear), .integer($0.protected)]) }
            return .array(
                [.integer(sample.offset), .integer(sample.byteCount), .string(Hexadecimal.encode(sample.iv))]
                    + (hasSubsamples ? [.array(pairs)] : []))
        }
        var members: [String: JSONValue] = ["scheme": .string(scheme), "samples": .array(rows)]
        if crypt > 0 || skip > 0 {
            (members["cryptBlocks"], members["skipBlocks"]) = (JSONValue(count: crypt), JSONValue(count: skip))
        }
        if !constantIV.isEmpty { members["constantIV"] = .string(Hexadecimal.encode(constantIV)) }
        return .object(members)
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
