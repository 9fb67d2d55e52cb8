import RandomAccess
import Support
package import Vectors

extension Mutant {
    /// Faults of readers of films, which read nothing else: a right reader gets another list of samples. Films without
    /// a list are read without a fault.
    static let films: [Mutant] = FilmFault.allCases.map { fault in
        let (flag, summary) = fault.facts
        return Mutant(fault.rawValue, summary, flag: flag, source: flag.source, remembers: false) { backend in
            let right = InProcessSubject.films(over: backend)
            return InProcessSubject(
                name: fault.rawValue, supports: { _, _ in false },
                openFilm: { (setup, film, source, key) throws(DecryptionError) in
                    guard let right else { throw .unsupported("films") }
                    var list = film.samples.flatMap { JSONValue.parse(Array($0.utf8)) }.flatMap { OracleFilm(list: $0) }
                    // Only this fault needs the film's length.
                    let byteCount = list != nil && fault == .cutLeftOut ? try source().byteCount : 0
                    list?.change(by: fault, byteCount: byteCount)
                    return try right(setup, FilmObject(samples: list?.text ?? film.samples), source, key)
                },
                open: { (_, _, strategy, _) throws(DecryptionError) in
                    throw .unsupported("\(strategy.name): expected a film")
                })
        }
    }
}

/// A fault injected into a reader of films, to prove that the vectors of `film` notice it. ``facts`` describes each.
package enum FilmFault: String, CaseIterable, Sendable {
    case subsamplesIgnored = "film-subsamples-ignored"
    case subsamplesRestart = "film-subsamples-restart"
    case chainGoesOn = "film-chain-goes-on"
    case patternIgnored = "film-pattern-ignored"
    case rightAlignedIV = "film-iv-right-aligned"
    case constantIVIgnored = "film-constant-iv-ignored"
    case longCounter = "film-counter-128-bit"
    case restLeft = "film-rest-left"
    case overlapLeftOut = "film-overlap-left-out"
    case cutLeftOut = "film-cut-left-out"

    /// The class of bugs that the fault belongs to, whose vectors must notice it, and a description of the fault in one
    /// sentence.
    package var facts: (flag: VectorFlag, summary: String) {
        switch self {
        case .subsamplesIgnored: (.filmSubsamples, "Samples are decrypted as a whole, clear bytes and all.")
        case .subsamplesRestart: (.filmSubsamples, "The keystream or the chain starts anew in each subsample.")
        case .chainGoesOn: (.filmSubsamples, "The chain of cbcs goes on from subsample to subsample, as in cbc1.")
        case .patternIgnored: (.filmPattern, "The pattern is ignored.")
        case .rightAlignedIV: (.filmIV, "An IV of 8 bytes stands behind zeros, not before them.")
        case .constantIVIgnored: (.filmIV, "The constant IV is taken for zeros.")
        case .longCounter: (.filmIV, "The counter carries into the first 8 bytes of its block.")
        case .restLeft: (.filmRest, "Protected bytes that are not whole blocks are left as they are.")
        case .overlapLeftOut: (.badFilm, "A sample that overlaps the one before is left out.")
        case .cutLeftOut: (.badFilm, "A sample that ends behind the file is left out.")
        }
    }
}

extension OracleFilm {
    /// Changes the list to what a reader with a fault makes of it.
    fileprivate mutating func change(by fault: FilmFault, byteCount: UInt64) {
        switch fault {
        case .subsamplesIgnored:
            for index in samples.indices { samples[index].subsamples = [] }
        case .subsamplesRestart:
            samples = samples.flatMap { sample in
                var position = sample.offset
                return sample.subsamples.isEmpty
                    ? [sample]
                    : sample.subsamples.map { part in
                        let (start, count) = (position, part.clear + part.protected)
                        position &+= count
                        return Sample(offset: start, byteCount: count, iv: sample.iv, subsamples: [part])
                    }
            }
        case .chainGoesOn:
            guard scheme == "cbcs", crypt == 0 || skip == 0 else { break }
            (scheme, crypt, skip) = ("cbc1", 0, 0)
            for index in samples.indices {
                if samples[index].iv.isEmpty { samples[index].iv = constantIV }
                // Subsamples of cbc1 are whole blocks; what is left of one is clear.
                var rest: UInt64 = 0
                samples[index].subsamples = samples[index].subsamples.map { part in
                    defer { rest = part.protected % 16 }
                    return (part.clear + rest, part.protected - part.protected % 16)
                }
                if rest > 0 { samples[index].subsamples.append((rest, 0)) }
            }
            constantIV = []
        case .patternIgnored: (crypt, skip) = (0, 0)
        case .rightAlignedIV:
            for index in samples.indices where samples[index].iv.count == 8 {
                samples[index].iv.insert(contentsOf: [UInt8](repeating: 0, count: 8), at: 0)
            }
        case .constantIVIgnored: constantIV = constantIV.map { _ in 0 }
        case .longCounter:
            samples = samples.flatMap { sample in
                let low = sample.iv.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) }
                // The bytes up to the block behind the highest counter.
                guard scheme.hasPrefix("cen"), sample.iv.count == 16, sample.subsamples.isEmpty, low > .max - 1000,
                    (UInt64.max - low + 1) * 16 < sample.byteCount
                else { return [sample] }
                let count = (UInt64.max - low + 1) * 16
                let high = sample.iv.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } &+ 1
                let carried = (0..<8).map { UInt8(truncatingIfNeeded: high >> (56 - 8 * $0)) }
                return [
                    Sample(offset: sample.offset, byteCount: count, iv: sample.iv),
                    Sample(
                        offset: sample.offset + count, byteCount: sample.byteCount - count,
                        iv: carried + [UInt8](repeating: 0, count: 8)),
                ]
            }
        case .restLeft:
            for index in samples.indices {
                samples[index].subsamples = samples[index].parts.map {
                    $0.protected % 16 == 0 ? $0 : ($0.clear + $0.protected, 0)
                }
            }
        case .overlapLeftOut:
            var end: UInt64 = 0
            samples.removeAll { sample in
                defer { end = max(end, sample.offset &+ sample.byteCount) }
                return sample.offset < end
            }
        case .cutLeftOut: samples.removeAll { $0.offset &+ $0.byteCount > byteCount }
        }
    }
}
