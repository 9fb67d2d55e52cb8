/// Finds the encrypted parts of a fragmented MP4 file: reads `moov` and each `moof`, and skips everything else.
///
/// The file is untrusted. The reader refuses anything unknown that could change the decryption: several keys, other
/// schemes, samples in `moov`, and protected fragments without information about their protection.
///
/// - Source: ISO/IEC 14496-12:2022, section 8.8; ISO/IEC 23001-7:2016, sections 7, 8 and 12.
struct FilmReader {
    private let source: any ByteSource
    private var tracks: [Track]?
    private var builder = ProtectedExtents.Builder()
    private var keyID: [UInt8]?
    private var sampleCount = 0

    /// A track of `moov`.
    private struct Track {
        let id: UInt32
        /// The protection of each of the track's sample entries; `nil` for a clear one.
        let entries: [Protection?]
        /// The default entry of fragments, and the default length of their samples, from `trex`.
        var usualEntry: UInt32 = 1
        var usualByteCount: UInt32 = 0
    }

    /// The protection of a sample entry, from `schm` and `tenc`.
    private struct Protection {
        let scheme: Int
        let hasPattern: Bool
        let ivByteCount: Int
        /// The IV of all samples, if they have no IVs of their own.
        let iv: Block?
    }

    /// The max length of `moov` or a `moof`, in bytes.
    private static let maxBoxByteCount: UInt64 = 64 << 20
    /// The max number of boxes of a file, of tracks, of entries of a track, and of samples.
    private static let maxBoxCount = 1 << 22
    private static let maxTrackCount = 64
    private static let maxEntryCount = 64
    private static let maxSampleCount = 1 << 24

    private init(_ source: any ByteSource) { self.source = source }

    /// Reads the extents of a file.
    ///
    /// - Throws: `DecryptionError.invalidHeader` or `.unsupported` with a box and its offset, `.truncatedCiphertext` if
    ///   the file ends inside a box or a sample, `.io`.
    static func extents(of source: any ByteSource) throws(DecryptionError) -> ProtectedExtents {
        var reader = FilmReader(source)
        try reader.readBoxes()
        guard let tracks = reader.tracks else { throw .invalidHeader(expected: "a film with a box moov") }
        guard tracks.contains(where: { $0.entries.contains { $0 != nil } }) else {
            throw .unsupported("a film without a protected track: expected one of Common Encryption")
        }
        return try reader.builder.finish()
    }

    private mutating func readBoxes() throws(DecryptionError) {
        var (position, count) = (UInt64(0), 0)
        while position < source.byteCount {
            count += 1
            guard count <= Self.maxBoxCount else { throw .unsupported("more than \(Self.maxBoxCount) boxes") }
            let rest = source.byteCount - position
            let bytes = try fetch(position, Int(min(rest, UInt64(FilmBox.Header.maxByteCount))))
            guard bytes.count >= 8 else {
                throw .truncatedCiphertext(
                    byteCount: source.byteCount, expected: "at least \(position + 8), the box at offset \(position)")
            }
            guard let header = FilmBox.Header(bytes) else {
                throw .invalidHeader(expected: "a box at offset \(position) that is as long as its header")
            }
            let byteCount = header.byteCount ?? rest
            guard byteCount <= rest else {
                throw .truncatedCiphertext(
                    byteCount: source.byteCount,
                    expected: "\(byteCount) from offset \(position) on, for the box \(header.kind)")
            }
            if ["moov", "moof"].contains(header.kind) {
                guard byteCount <= Self.maxBoxByteCount else {
                    throw .unsupported(
                        "\(byteCount) bytes of the box \(header.kind) at offset \(position): "
                            + "expected at most \(Self.maxBoxByteCount)")
                }
                let start = position + header.headerByteCount
                let content = try fetch(start, Int(byteCount - header.headerByteCount))
                let box = FilmBox(header.kind, at: position, content: content, at: start)
                if header.kind == "moov" { try readFilm(box) } else { try readFragment(box) }
            }
            position += byteCount
        }
    }

    private func fetch(_ offset: UInt64, _ count: Int) throws(DecryptionError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var failure: DecryptionError?
        bytes.withUnsafeMutableBytes { bytes in
            do throws(DecryptionError) { try source.fetch(at: offset, into: bytes) } catch { failure = error }
        }
        if let failure { throw failure }
        return bytes
    }
}

/// The content of `moov`.
extension FilmReader {
    private mutating func readFilm(_ film: FilmBox) throws(DecryptionError) {
        guard tracks == nil else { throw film.unsupported("a second box moov") }
        var (found, rest): ([Track], FilmBox) = ([], film)
        while let box = try rest.nextBox() {
            guard box.kind == "trak" else { continue }
            guard found.count < Self.maxTrackCount else {
                throw box.unsupported("more than \(Self.maxTrackCount) tracks")
            }
            let track = try readTrack(box)
            guard !found.contains(where: { $0.id == track.id }) else {
                throw box.unsupported("a second track \(track.id)")
            }
            found.append(track)
        }
        if var extends = try film.box("mvex") {
            while var box = try extends.nextBox() {
                guard box.kind == "trex" else { continue }
                try box.skip(4)
                let id = try box.number(UInt32.self)
                guard let index = found.firstIndex(where: { $0.id == id }) else { continue }
                found[index].usualEntry = try box.number()
                try box.skip(4)
                found[index].usualByteCount = try box.number()
            }
        }
        tracks = found
    }

    private mutating func readTrack(_ track: FilmBox) throws(DecryptionError) -> Track {
        var header = try track.required("tkhd")
        let (version, _) = try header.versionAndFlags()
        guard version <= 1 else { throw header.unsupported("version \(version)") }
        try header.skip(version == 0 ? 8 : 16)
        let id = try header.number(UInt32.self)
        let samples = try track.required("mdia").required("minf").required("stbl")
        var description = try samples.required("stsd")
        try description.skip(4)
        let count = try description.number(UInt32.self)
        guard count <= Self.maxEntryCount else {
            throw description.unsupported("\(count) sample entries: expected at most \(Self.maxEntryCount)")
        }
        var entries: [Protection?] = []
        while let entry = try description.nextBox() { entries.append(try readEntry(entry)) }
        guard entries.count == count else {
            throw description.mismatch("\(count) sample entries, which are \(entries.count)")
        }
        if entries.contains(where: { $0 != nil }) {
            try refuseKeyGroups(in: samples)
            for kind in ["stsz", "stz2"] as [FilmBox.Kind] {
                guard var sizes = try samples.box(kind) else { continue }
                try sizes.skip(8)
                guard try sizes.number(UInt32.self) == 0 else {
                    throw sizes.unsupported("samples outside of fragments: expected a fragmented file")
                }
            }
        }
        return Track(id: id, entries: entries)
    }

    /// Refuses keys that change between samples.
    private func refuseKeyGroups(in parent: FilmBox) throws(DecryptionError) {
        var rest = parent
        while var box = try rest.nextBox() {
            guard box.kind == "sgpd" || box.kind == "sbgp" else { continue }
            try box.skip(4)
            guard try box.number(UInt32.self) != FilmBox.Kind("seig").code else {
                throw box.unsupported("sample groups seig: expected one key and one protection for a track")
            }
        }
    }

    private mutating func readEntry(_ entry: FilmBox) throws(DecryptionError) -> Protection? {
        var rest = entry
        switch entry.kind {
        case "encv": try rest.skip(78)
        case "enca":
            try rest.skip(8)
            let version = try rest.number(UInt16.self)
            guard version == 0 else { throw entry.unsupported("version \(version) of a sound's sample entry") }
            try rest.skip(18)
        default:
            guard !entry.kind.description.hasPrefix("enc") else {
                throw entry.unsupported("a sample entry of this kind")
            }
            return nil
        }
        let protection = try rest.required("sinf")
        var schemeType = try protection.required("schm")
        try schemeType.skip(4)
        let code = FilmBox.Kind(code: try schemeType.number())
        guard let scheme = CommonEncryption.Scheme(rawValue: "\(code)") else {
            throw schemeType.unsupported("the scheme \(code): expected cenc, cens, cbc1 or cbcs")
        }
        return try readProtection(try protection.required("schi").required("tenc"), scheme)
    }

    /// Reads the default values of a track. Source: ISO/IEC 23001-7:2016, section 8.2.
    private mutating func readProtection(
        _ box: FilmBox, _ scheme: CommonEncryption.Scheme
    ) throws(DecryptionError) -> Protection? {
        var box = box
        let (version, flags) = try box.versionAndFlags()
        guard version <= 1, flags == 0 else { throw box.unsupported("version \(version) with flags \(flags)") }
        try box.skip(1)
        let pattern = try box.number(UInt8.self)
        guard version == 1 || pattern == 0 else { throw box.unsupported("a pattern in version 0") }
        let isProtected = try box.number(UInt8.self)
        let ivByteCount = Int(try box.number(UInt8.self))
        let id = try box.array(16)
        switch isProtected {
        case 0: return nil
        case 1: break
        default: throw box.unsupported("the protection \(isProtected): expected 0 or 1")
        }
        guard keyID == nil || keyID == id else {
            throw box.unsupported("several keys: expected one for all tracks")
        }
        keyID = id
        let made: CommonEncryption
        do throws(DecryptionError) {
            made = try CommonEncryption(
                scheme, cryptBlockCount: Int(pattern >> 4), skipBlockCount: Int(pattern & 15))
        } catch .unsupported(let what) {
            throw box.unsupported(what)
        }
        var iv: Block?
        if ivByteCount == 0 {
            let bytes = try box.array(Int(try box.number(UInt8.self)))
            iv = try Self.iv(bytes, made, box)
            guard scheme == .cbcs else { throw box.unsupported("one IV for all samples with \(scheme.rawValue)") }
        } else {
            _ = try Self.iv([UInt8](repeating: 0, count: ivByteCount), made, box)
        }
        guard box.leftByteCount == 0 else { throw box.mismatch("\(box.leftByteCount) bytes less") }
        return Protection(
            scheme: try builder.add(made), hasPattern: made.hasPattern, ivByteCount: ivByteCount, iv: iv)
    }

    private static func iv(
        _ bytes: [UInt8], _ scheme: CommonEncryption, _ box: FilmBox
    ) throws(DecryptionError) -> Block {
        guard let iv = scheme.iv(bytes) else {
            throw box.unsupported("an IV of \(bytes.count) bytes with \(scheme.scheme.rawValue)")
        }
        return iv
    }
}

/// The content of fragments.
extension FilmReader {
    private mutating func readFragment(_ fragment: FilmBox) throws(DecryptionError) {
        guard let tracks else { throw fragment.mismatch("a box moov before it") }
        var (rest, isFirst) = (fragment, true)
        while let box = try rest.nextBox() {
            guard box.kind == "traf" else { continue }
            try readTrackFragment(box, of: tracks, in: fragment, isFirst: isFirst)
            isFirst = false
        }
    }

    /// Source: ISO/IEC 14496-12:2022, section 8.8.7.
    private mutating func readTrackFragment(
        _ fragment: FilmBox, of tracks: [Track], in parent: FilmBox, isFirst: Bool
    ) throws(DecryptionError) {
        var header = try fragment.required("tfhd")
        let (_, flags) = try header.versionAndFlags()
        let id = try header.number(UInt32.self)
        guard let track = tracks.first(where: { $0.id == id }) else {
            throw header.mismatch("a track of moov, not \(id)")
        }
        let base = flags & 0x1 != 0 ? try header.number(UInt64.self) : parent.offset
        let entry = flags & 0x2 != 0 ? try header.number(UInt32.self) : track.usualEntry
        if flags & 0x8 != 0 { try header.skip(4) }
        let usualByteCount = flags & 0x10 != 0 ? try header.number(UInt32.self) : track.usualByteCount
        guard entry >= 1, entry <= track.entries.count else {
            throw header.mismatch("one of \(track.entries.count) sample entries, not \(entry)")
        }
        guard let protection = track.entries[Int(entry) - 1] else { return }
        try refuseKeyGroups(in: fragment)
        guard flags & 0x20001 != 0 || isFirst else {
            throw header.unsupported("samples behind those of another track: expected an offset from their moof")
        }
        var samples = try SampleProtection(fragment, protection)
        var (rest, position) = (fragment, base)
        while let box = try rest.nextBox() {
            guard box.kind == "trun" else { continue }
            position = try readRun(box, from: base, after: position, usualByteCount, protection, &samples)
        }
        try samples.finish()
    }

    /// Reads the samples of a run.
    ///
    /// - Returns: The end of the last sample.
    /// - Source: ISO/IEC 14496-12:2022, section 8.8.8.
    private mutating func readRun(
        _ run: FilmBox, from base: UInt64, after end: UInt64, _ usualByteCount: UInt32, _ protection: Protection,
        _ samples: inout SampleProtection
    ) throws(DecryptionError) -> UInt64 {
        var run = run
        let (version, flags) = try run.versionAndFlags()
        guard version <= 1, flags & ~0xF05 == 0 else { throw run.unsupported("version \(version) with flags \(flags)") }
        let count = try run.number(UInt32.self)
        var position = end
        if flags & 0x1 != 0 {
            let moved = Int64(clamping: base).addingReportingOverflow(Int64(try run.number(Int32.self)))
            guard !moved.overflow, moved.partialValue >= 0 else { throw run.mismatch("an offset within the file") }
            position = UInt64(moved.partialValue)
        }
        if flags & 0x4 != 0 { try run.skip(4) }
        let hasByteCount = flags & 0x200 != 0
        let (before, behind) = (flags & 0x100 != 0 ? 4 : 0, 4 * (flags & 0xC00).nonzeroBitCount)
        let rowByteCount = UInt64(before + (hasByteCount ? 4 : 0) + behind)
        guard UInt64(run.leftByteCount) == UInt64(count) * rowByteCount else {
            throw run.mismatch(
                "\(count) samples of \(rowByteCount) bytes each, which have \(run.leftByteCount) together")
        }
        guard Int(count) <= Self.maxSampleCount - sampleCount else {
            throw run.unsupported("more than \(Self.maxSampleCount) samples in one film")
        }
        sampleCount += Int(count)
        for number in 0..<Int(count) {
            try run.skip(before)
            let byteCount = UInt64(hasByteCount ? try run.number(UInt32.self) : usualByteCount)
            try run.skip(behind)
            guard position <= source.byteCount, byteCount <= source.byteCount - position else {
                throw .truncatedCiphertext(
                    byteCount: source.byteCount,
                    expected: "\(byteCount) from offset \(position) on, for sample \(number + 1) of the \(run.name)")
            }
            try builder.begin(at: position, byteCount: byteCount, iv: try samples.nextIV(), scheme: protection.scheme)
            try samples.finishSample(of: &builder)
            position += byteCount
        }
        return position
    }

    /// The IVs and subsamples of a fragment, from `senc`. Source: ISO/IEC 23001-7:2016, section 7.2.
    private struct SampleProtection {
        private let protection: Protection
        private var box: FilmBox?
        private var leftCount = 0
        private var hasSubsamples = false

        init(_ fragment: FilmBox, _ protection: Protection) throws(DecryptionError) {
            self.protection = protection
            guard var box = try fragment.box("senc") else {
                // If samples are protected as a whole with one IV, no box is needed.
                guard protection.iv != nil, !protection.hasPattern, try fragment.box("saiz") == nil else {
                    throw fragment.unsupported("protected samples without a box senc")
                }
                return
            }
            let (version, flags) = try box.versionAndFlags()
            guard version == 0, flags & ~0x2 == 0 else {
                throw box.unsupported("version \(version) with flags \(flags)")
            }
            hasSubsamples = flags & 0x2 != 0
            leftCount = Int(try box.number(UInt32.self))
            self.box = box
        }

        mutating func nextIV() throws(DecryptionError) -> Block {
            if let box {
                guard leftCount > 0 else { throw box.mismatch("as many samples as the boxes trun beside it") }
                leftCount -= 1
            }
            if let iv = protection.iv { return iv }
            // The box exists; otherwise the fragment was refused.
            let bytes = try box?.array(protection.ivByteCount) ?? []
            return try Block(bytes + [UInt8](repeating: 0, count: Block.byteCount - bytes.count))
        }

        /// Adds the subsamples of the current sample, and ends it.
        mutating func finishSample(of builder: inout ProtectedExtents.Builder) throws(DecryptionError) {
            guard hasSubsamples, var box else { return try builder.finishSample() }
            let count = try box.number(UInt16.self)
            guard count > 0 else { throw box.unsupported("a sample of no subsamples") }
            for _ in 0..<count {
                let (clear, protected) = (try box.number(UInt16.self), try box.number(UInt32.self))
                do throws(DecryptionError) {
                    try builder.add(clearByteCount: UInt64(clear), protectedByteCount: UInt64(protected))
                } catch .invalidHeader(let expected) {
                    throw box.mismatch(expected)
                }
            }
            self.box = box
            do throws(DecryptionError) {
                try builder.finishSample()
            } catch .invalidHeader(let expected) {
                throw box.mismatch(expected)
            }
        }

        func finish() throws(DecryptionError) {
            guard let box else { return }
            guard leftCount == 0, box.leftByteCount == 0 else {
                throw box.mismatch("as many samples as the boxes trun beside it, and nothing behind them")
            }
        }
    }
}

extension CommonEncryption {
    /// Returns bytes as an IV or first counter block; `nil` for a length that the scheme does not allow.
    package func iv(_ bytes: [UInt8]) -> Block? {
        guard bytes.count == Block.byteCount || bytes.count == 8 && cipher == .aesCTR else { return nil }
        return try? Block(bytes + [UInt8](repeating: 0, count: Block.byteCount - bytes.count))
    }
}

extension ProtectedExtents {
    /// The encrypted extents of a fragmented MP4 file, from its boxes.
    ///
    /// - Throws: `DecryptionError.invalidHeader` or `.unsupported` with a box and its offset, `.truncatedCiphertext` if
    ///   the file ends inside a box or a sample, `.io`.
    package init(film source: any ByteSource) throws(DecryptionError) {
        self = try FilmReader.extents(of: source)
    }
}
