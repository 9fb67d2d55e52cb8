import RandomAccess
import Support

/// The vectors of `film`, made with an oracle that shares nothing with the readers.
///
/// - Source: ISO/IEC 23001-7:2016, sections 7 to 10; PROTOCOL.md, "open".
package enum FilmSet {
    /// All groups.
    package static var all: [VectorGroup] { plans.flatMap { [inList($0), inBoxes($0)] } + failures }

    /// A film before it has a place in a file.
    struct Plan {
        let name: String
        let flags: [VectorFlag]
        /// The film; its samples lie one behind the other.
        var film: OracleFilm

        init(
            _ name: String, _ scheme: String, _ flags: [VectorFlag], ivByteCount: Int, crypt: Int = 0, skip: Int = 0,
            _ samples: [(byteCount: UInt64, subsamples: [OracleFilm.Subsample])]
        ) {
            let form = ivByteCount == 0 ? "constant IV" : "IV of \(ivByteCount) bytes"
            self.name = "\(scheme)/\(name), \(form)"
            self.flags = ivByteCount == 16 ? flags : flags + [.filmIV]
            film = OracleFilm(scheme)
            (film.crypt, film.skip) = (crypt, skip)
            if ivByteCount == 0 { film.constantIV = Self.iv(9, 16) }
            for (index, sample) in samples.enumerated() {
                film.samples.append(
                    OracleFilm.Sample(
                        offset: 0, byteCount: sample.byteCount, iv: Self.iv(index, ivByteCount),
                        subsamples: sample.subsamples))
            }
        }

        private static func iv(_ number: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: 37 * number + 11 * $0 + 5) }
        }
    }

    private static let keyBytes = (0..<16).map { UInt8($0 * 7 + 1) }
    private static let key = VectorSet.made("a key") { () throws(DecryptionError) in try SecretKey(keyBytes) }

    /// Samples that are protected as a whole: with whole blocks, with a part of one behind them, and less than a block.
    private static func whole(_ scheme: String, ivByteCount: Int) -> Plan {
        Plan(
            "whole", scheme, [.filmRest], ivByteCount: ivByteCount,
            [64, 75, 5, 32].map { (byteCount: $0, subsamples: []) })
    }

    /// Samples with clear bytes in between. In all schemes but `cbc1`, a block may end where clear bytes begin.
    private static func parts(_ scheme: String, ivByteCount: Int) -> Plan {
        let (first, second): (UInt64, UInt64) = scheme == "cbc1" ? (48, 32) : (45, 35)
        return Plan(
            "subsamples", scheme, [.filmSubsamples], ivByteCount: ivByteCount,
            sized([(7, first), (20, second), (5, 0), (3, 27)], [(0, 16), (9, 16), (2, 16)], [(30, 0)]))
    }

    /// Samples of which a pattern leaves out blocks.
    private static func pattern(_ scheme: String, ivByteCount: Int, _ crypt: Int, _ skip: Int) -> Plan {
        Plan(
            "pattern \(crypt):\(skip)", scheme, [.filmPattern], ivByteCount: ivByteCount, crypt: crypt, skip: skip,
            sized([(10, 345), (4, 179)], [(1, 199), (6, 47), (2, 48)], []))
    }

    /// Samples whose counter wraps behind their first two blocks.
    private static func wrapping(_ scheme: String) -> Plan {
        var plan = Plan(
            "counter wraps", scheme, [.filmIV], ivByteCount: 16, [80, 48].map { (byteCount: $0, subsamples: []) })
        for index in plan.film.samples.indices {
            plan.film.samples[index].iv.replaceSubrange(8..., with: [UInt8](repeating: 0xff, count: 7) + [0xfe])
        }
        return plan
    }

    /// Returns samples with their lengths; one without subsamples has eleven blocks.
    private static func sized(
        _ samples: [OracleFilm.Subsample]...
    ) -> [(byteCount: UInt64, subsamples: [OracleFilm.Subsample])] {
        samples.map { parts in (parts.isEmpty ? 176 : parts.reduce(0) { $0 + $1.clear + $1.protected }, parts) }
    }

    private static var plans: [Plan] {
        var plans: [Plan] = []
        for (scheme, byteCounts) in [("cenc", [8, 16]), ("cens", [8, 16]), ("cbc1", [16]), ("cbcs", [0, 16])] {
            for byteCount in byteCounts {
                plans += [whole(scheme, ivByteCount: byteCount), parts(scheme, ivByteCount: byteCount)]
            }
            if scheme.hasPrefix("cen") { plans.append(wrapping(scheme)) }
            guard scheme == "cens" || scheme == "cbcs" else { continue }
            plans.append(pattern(scheme, ivByteCount: byteCounts[0], 1, 9))
            plans.append(pattern(scheme, ivByteCount: byteCounts[1], 3, 2))
        }
        return plans
    }

    /// Returns a film of samples, with bytes before them, between them and behind them that belong to none.
    private static func listed(_ plan: Plan) -> (film: OracleFilm, bytes: [UInt8]) {
        var (film, position) = (plan.film, UInt64(5))
        for index in film.samples.indices {
            film.samples[index].offset = position
            position += film.samples[index].byteCount + (index % 2 == 0 ? 0 : 3)
        }
        return (film, VectorSet.streamBytes(seed: position, count: Int(position) + 4))
    }

    private static func inList(_ plan: Plan) -> VectorGroup {
        let (film, bytes) = listed(plan)
        return group("list/\(plan.name)", plan, film, bytes, samples: film.text, offsets: [0...UInt64(bytes.count)])
    }

    private static func inBoxes(_ plan: Plan) -> VectorGroup {
        let written = FilmWriter(plan.film)
        let (start, half) = (written.film.samples[0].offset, UInt64(written.bytes.count) / 2)
        return group(
            "boxes/\(plan.name)", plan, written.film, written.bytes, samples: nil,
            // Ranges are read to the end from the middle, too.
            offsets: [0...1] + (half < start - 3 ? [half...half] : [])
                + [start - 3...UInt64(written.bytes.count)])
    }

    /// Returns the group of a film that opens. Every offset is read with some lengths and up to the end.
    private static func group(
        _ id: String, _ plan: Plan, _ film: OracleFilm, _ bytes: [UInt8], samples: String?,
        offsets: [ClosedRange<UInt64>]
    ) -> VectorGroup {
        let length = UInt64(bytes.count)
        return VectorGroup(
            id: "film/" + id, flags: plan.flags, film: FilmObject(samples: samples), key: key, ciphertext: bytes,
            plaintext: film.plaintext(of: bytes, key: keyBytes),
            patterns: [
                .product(offsets: offsets, counts: [1, 40], toEnd: [0], flags: plan.flags),
                .product(offsets: [length + 1...length + 2], counts: [0, 16], flags: plan.flags),
            ])
    }

    /// Films that do not open, each fault in two of them.
    private static var failures: [VectorGroup] {
        var groups: [VectorGroup] = []
        for scheme in ["cenc", "cbcs"] {
            func add(
                _ name: String, _ error: ErrorName, _ samples: String?, _ bytes: [UInt8], key: SecretKey = key
            ) {
                groups.append(
                    VectorGroup(
                        id: "film/bad/\(scheme)/\(name)", flags: [.badFilm], film: FilmObject(samples: samples),
                        key: key, ciphertext: bytes, error: error))
            }
            let long = VectorSet.made("a key") { () throws(DecryptionError) in try SecretKey(keyBytes + keyBytes) }
            let (film, bytes) = listed(parts(scheme, ivByteCount: 16))
            func list(_ name: String, _ error: ErrorName, _ change: (inout OracleFilm) -> Void) {
                var changed = film
                change(&changed)
                add("list/\(name)", error, changed.text, bytes)
            }
            add("list/cut", .truncatedCiphertext, film.text, Array(bytes.dropLast(5)))
            add("list/no list", .invalidRequest, "hello", bytes)
            add("list/long key", .invalidKey, film.text, bytes, key: long)
            list("overlap", .invalidHeader) { $0.samples[1].offset -= 16 }
            list("subsamples", .invalidHeader) { $0.samples[0].subsamples.removeLast() }
            list("pattern 0:9", .unsupported) { $0.skip = 9 }
            list("scheme", .invalidRequest) { $0.scheme = "cbc2" }
            list("no IV", .invalidRequest) { $0.samples[1].iv = [] }
            let plan = parts(scheme, ivByteCount: 16)
            let written = FilmWriter(plan.film)
            add("boxes/cut", .truncatedCiphertext, nil, Array(written.bytes.dropLast()))
            add("boxes/no moov", .invalidHeader, nil, Array(written.bytes[written.startByteCount...]))
            add("boxes/long key", .invalidKey, nil, written.bytes, key: long)
            add("boxes/fewer IVs", .invalidHeader, nil, FilmWriter(plan.film, missingIVCount: 1).bytes)
            add("boxes/scheme", .unsupported, nil, FilmWriter(plan.film, schemeType: "piff").bytes)
        }
        return groups
    }
}

/// Writes a film as a fragmented MP4 file with one track, two samples a fragment.
///
/// - Source: ISO/IEC 14496-12:2022, section 8.8; ISO/IEC 23001-7:2016, sections 7 and 8.
struct FilmWriter {
    /// The film, with the places of its samples.
    private(set) var film: OracleFilm
    private(set) var bytes: [UInt8]
    /// The length of what is before the first fragment.
    let startByteCount: Int

    /// `missingIVCount` is what the boxes `senc` count too few, `schemeType` another scheme than the film's.
    init(_ film: OracleFilm, missingIVCount: Int = 0, schemeType: String? = nil) {
        self.film = film
        bytes = Self.start(film, schemeType: schemeType ?? film.scheme)
        startByteCount = bytes.count
        for first in stride(from: 0, to: film.samples.count, by: 2) {
            let samples = film.samples[first..<min(first + 2, film.samples.count)]
            func fragment(dataOffset: Int) -> [UInt8] {
                let rows = samples.flatMap { Self.number(Int($0.byteCount)) }
                let hasParts = samples.contains { !$0.subsamples.isEmpty }
                let protection = samples.flatMap { sample in
                    sample.iv + (hasParts ? Self.number(sample.subsamples.count, 2) : [])
                        + sample.subsamples.flatMap { Self.number(Int($0.clear), 2) + Self.number(Int($0.protected)) }
                }
                return Self.box(
                    "moof", Self.full("mfhd", Self.number(first / 2 + 1)),
                    Self.box(
                        "traf", Self.full("tfhd", flags: 0x20000, Self.number(1)),
                        Self.full("trun", flags: 0x201, Self.number(samples.count), Self.number(dataOffset), rows),
                        Self.full(
                            "senc", flags: hasParts ? 2 : 0, Self.number(samples.count - missingIVCount), protection)))
            }
            bytes += fragment(dataOffset: fragment(dataOffset: 0).count + 8)
            let start = bytes.count + 8
            var end = UInt64(start)
            for index in samples.indices {
                self.film.samples[index].offset = end
                end += film.samples[index].byteCount
            }
            bytes += Self.box("mdat", VectorSet.streamBytes(seed: end, count: Int(end) - start))
        }
    }

    /// Returns `ftyp` and `moov`.
    private static func start(_ film: OracleFilm, schemeType: String) -> [UInt8] {
        let pattern = film.crypt << 4 | film.skip
        let iv = film.constantIV.isEmpty ? [] : number(film.constantIV.count, 1) + film.constantIV
        let protection = box(
            "sinf", box("frma", Array("mp4a".utf8)),
            full("schm", Array(schemeType.utf8), number(0x10000)),
            box(
                "schi",
                full(
                    "tenc", flags: pattern > 0 ? 1 << 24 : 0, [0, UInt8(pattern), 1],
                    number(film.samples[0].iv.count, 1), (0..<16).map { 0xA0 + $0 }, iv)))
        // A sound with one channel and 16 bits at 8 kHz.
        let entry = box(
            "enca", zeros(6), number(1, 2), zeros(8), number(1, 2), number(16, 2), zeros(4), number(8000 << 16),
            protection)
        let table = box(
            "stbl", full("stsd", number(1), entry), full("stts", zeros(4)), full("stsc", zeros(4)),
            full("stsz", zeros(8)), full("stco", zeros(4)))
        let media = box(
            "mdia", full("mdhd", zeros(8), number(8000), zeros(4), number(0x55C4_0000)),
            full("hdlr", zeros(4), Array("soun".utf8), zeros(13)),
            box(
                "minf", full("smhd", zeros(4)),
                box("dinf", full("dref", number(1), full("url ", flags: 1))), table))
        let matrix = [1 << 16, 0, 0, 0, 1 << 16, 0, 0, 0, 1 << 30].flatMap { number($0) }
        return box("ftyp", Array("iso6".utf8), zeros(4), Array("iso6".utf8))
            + box(
                "moov",
                full(
                    "mvhd", zeros(8), number(8000), zeros(4), number(1 << 16), number(0x100, 2), zeros(10), matrix,
                    zeros(24), number(2)),
                box(
                    "trak",
                    full("tkhd", flags: 3, zeros(8), number(1), zeros(20), number(0x100_0000), matrix, zeros(8)),
                    media),
                box("mvex", full("trex", number(1), number(1), zeros(12))))
    }

    private static func box(_ kind: String, _ parts: [UInt8]...) -> [UInt8] { joined(kind, parts) }

    /// Returns a box with a version, the highest byte of `flags`, and flags.
    private static func full(_ kind: String, flags: Int = 0, _ parts: [UInt8]...) -> [UInt8] {
        joined(kind, [number(flags)] + parts)
    }

    private static func joined(_ kind: String, _ parts: [[UInt8]]) -> [UInt8] {
        let content = Array(parts.joined())
        return number(content.count + 8) + Array(kind.utf8) + content
    }

    private static func number(_ value: Int, _ byteCount: Int = 4) -> [UInt8] {
        (0..<byteCount).map { UInt8(truncatingIfNeeded: value >> (8 * (byteCount - 1 - $0))) }
    }

    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
}
