/// Finds the encrypted parts of a fragmented MP4 file: reads `moov` and each `moof`, and skips everything else.
///
/// The file is untrusted. The reader refuses anything unknown that could change the decryption: other schemes, samples
/// in `moov`, and protected fragments without information about their protection.
///
/// - Source: ISO/IEC 14496-12:2022, section 8.8; ISO/IEC 23001-7:2016, sections 7, 8 and 12.
struct FilmReader {
    private let source: any ByteSource
    private var tracks: [Track]?
    /// True if `moov` is in another file.
    private var isSegment = false
    private var builder = ProtectedExtents.Builder()
    private var sampleCount = 0

    /// A track of `moov`.
    fileprivate struct Track {
        let id: UInt32
        /// The track's sample entries; `nil` for a clear one.
        let entries: [Entry?]
        /// The protection of each sample group `seig`; `nil` for a clear one.
        let groups: [Protection?]
        /// The default entry of fragments, and the default length of their samples, from `trex`.
        var usualEntry: UInt32 = 1
        var usualByteCount: UInt32 = 0
    }

    /// A sample entry that has a scheme.
    fileprivate struct Entry {
        let scheme: CommonEncryption.Scheme
        /// The protection of samples without a group; `nil` if they are clear.
        let usual: Protection?
    }

    /// The protection of samples, from `tenc` or a sample group `seig`.
    struct Protection {
        let scheme: CommonEncryption
        let keyID: Block
        let ivByteCount: Int
        /// The IV of all samples, if they have no IVs of their own.
        let iv: Block?
    }

    /// The max length of `moov` or a `moof`, in bytes.
    private static let maxBoxByteCount: UInt64 = 64 << 20
    /// The max number of boxes of a file, of tracks, of entries and groups of a track, and of samples.
    private static let maxBoxCount = 1 << 22
    private static let maxTrackCount = 64
    private static let maxEntryCount = 64
    private static let maxGroupCount = KeySet.maxCount
    private static let maxSampleCount = 1 << 24

    private init(_ source: any ByteSource) { self.source = source }

    /// Reads the extents of a film, or of its segments behind a file with `moov`.
    ///
    /// - Throws: `DecryptionError.invalidHeader` or `.unsupported` with a box and its offset, `.truncatedCiphertext` if
    ///   the file ends inside a box or a sample, `.io`.
    static func extents(
        of source: any ByteSource, after start: FilmStart?
    ) throws(DecryptionError) -> ProtectedExtents {
        var reader = FilmReader(source)
        (reader.tracks, reader.isSegment) = (start?.tracks, start != nil)
        let tracks = try reader.readBoxes()
        guard tracks.contains(where: { $0.entries.contains { $0 != nil } }) else {
            throw .unsupported("a film without a protected track: expected one of Common Encryption")
        }
        return try reader.builder.finish()
    }

    /// Reads `moov` only.
    fileprivate static func tracks(of source: any ByteSource) throws(DecryptionError) -> [Track] {
        var reader = FilmReader(source)
        return try reader.readBoxes(readsFragments: false)
    }

    /// Returns the tracks.
    private mutating func readBoxes(readsFragments: Bool = true) throws(DecryptionError) -> [Track] {
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
            if header.kind == "moov" || header.kind == "moof" && readsFragments {
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
        guard let tracks else { throw .invalidHeader(expected: "a film with a box moov") }
        return tracks
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
        guard tracks == nil else {
            throw film.unsupported("a second box moov" + (isSegment ? " behind that of another file" : ""))
        }
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

    private func readTrack(_ track: FilmBox) throws(DecryptionError) -> Track {
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
        var entries: [Entry?] = []
        while let entry = try description.nextBox() { entries.append(try readEntry(entry)) }
        guard entries.count == count else {
            throw description.mismatch("\(count) sample entries, which are \(entries.count)")
        }
        let schemes = Set(entries.compactMap { $0?.scheme })
        var groups: [Protection?] = []
        if !schemes.isEmpty {
            groups = try readGroups(of: samples, schemes)
            for kind in ["stsz", "stz2"] as [FilmBox.Kind] {
                guard var sizes = try samples.box(kind) else { continue }
                try sizes.skip(8)
                guard try sizes.number(UInt32.self) == 0 else {
                    throw sizes.unsupported("samples outside of fragments: expected a fragmented file")
                }
            }
        }
        return Track(id: id, entries: entries, groups: groups)
    }

    /// Returns the box of a kind that is about sample groups `seig`, behind its grouping type; `nil` if there is none.
    private static func groupBox(
        _ kind: FilmBox.Kind, in parent: FilmBox, maxVersion: UInt8
    ) throws(DecryptionError) -> (box: FilmBox, version: UInt8)? {
        var (rest, found): (FilmBox, (FilmBox, UInt8)?) = (parent, nil)
        while var box = try rest.nextBox() {
            guard box.kind == kind || box.kind == "csgp" else { continue }
            let (version, _) = try box.versionAndFlags()
            guard try box.number(UInt32.self) == FilmBox.Kind("seig").code else { continue }
            guard box.kind == kind else { throw box.unsupported("compact sample groups seig: expected boxes sbgp") }
            guard found == nil else { throw box.unsupported("a second box for sample groups seig") }
            guard version <= maxVersion else { throw box.unsupported("version \(version) of sample groups seig") }
            found = (box, version)
        }
        return found
    }

    /// Reads the sample groups of a track or a fragment.
    ///
    /// - Source: ISO/IEC 14496-12:2022, section 8.9.3; ISO/IEC 23001-7:2016, section 6.
    private func readGroups(
        of parent: FilmBox, _ schemes: Set<CommonEncryption.Scheme>
    ) throws(DecryptionError) -> [Protection?] {
        guard case (var box, let version)? = try Self.groupBox("sgpd", in: parent, maxVersion: 1) else { return [] }
        guard let scheme = schemes.first, schemes.count == 1 else {
            throw box.unsupported("sample groups seig of several schemes")
        }
        guard version == 1 else { throw box.unsupported("version 0 of sample groups seig") }
        let usualByteCount = try box.number(UInt32.self)
        let count = try box.number(UInt32.self)
        guard count <= Self.maxGroupCount else {
            throw box.unsupported("\(count) sample groups: expected at most \(Self.maxGroupCount)")
        }
        var groups: [Protection?] = []
        for _ in 0..<count {
            let byteCount = usualByteCount == 0 ? try box.number(UInt32.self) : usualByteCount
            groups.append(try readProtection(try box.part(Int(byteCount)), scheme))
        }
        return groups
    }

    private func readEntry(_ entry: FilmBox) throws(DecryptionError) -> Entry? {
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
        var box = try protection.required("schi").required("tenc")
        let (version, flags) = try box.versionAndFlags()
        guard version <= 1, flags == 0 else { throw box.unsupported("version \(version) with flags \(flags)") }
        return Entry(scheme: scheme, usual: try readProtection(box, scheme, allowsPattern: version == 1))
    }

    /// Reads the protection of a track's samples, or of those of a group; `nil` if they are clear.
    ///
    /// - Source: ISO/IEC 23001-7:2016, sections 6 and 8.2.
    private func readProtection(
        _ box: FilmBox, _ scheme: CommonEncryption.Scheme, allowsPattern: Bool = true
    ) throws(DecryptionError) -> Protection? {
        var box = box
        try box.skip(1)
        let pattern = try box.number(UInt8.self)
        guard allowsPattern || pattern == 0 else { throw box.unsupported("a pattern in version 0") }
        let isProtected = try box.number(UInt8.self)
        let ivByteCount = Int(try box.number(UInt8.self))
        let id = try Block(try box.array(Block.byteCount))
        switch isProtected {
        case 0: return nil
        case 1: break
        default: throw box.unsupported("the protection \(isProtected): expected 0 or 1")
        }
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
        return Protection(scheme: made, keyID: id, ivByteCount: ivByteCount, iv: iv)
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
        guard let entry = track.entries[Int(entry) - 1] else { return }
        let groupBox = try Self.groupBox("sbgp", in: fragment, maxVersion: 1)
        let ofFragment = try readGroups(of: fragment, [entry.scheme])
        // Samples that the boxes call clear, and that have a box senc all the same, are checked like the others.
        let hasBox = try fragment.box("senc") != nil
        guard entry.usual != nil || groupBox != nil || hasBox else { return }
        guard flags & 0x1 == 0 || !isSegment else {
            throw header.unsupported("an offset in the whole film: expected one from a moof, in a segment")
        }
        guard flags & 0x20001 != 0 || isFirst else {
            throw header.unsupported("samples behind those of another track: expected an offset from their moof")
        }
        let groups = try SampleGroups(
            groupBox, usual: entry.usual, ofTrack: track.groups, ofFragment: ofFragment)
        var samples = try SampleProtection(fragment, groups)
        var (rest, position) = (fragment, base)
        while let box = try rest.nextBox() {
            guard box.kind == "trun" else { continue }
            position = try readRun(box, from: base, after: position, usualByteCount, &samples)
        }
        try samples.finish()
    }

    /// Reads the samples of a run.
    ///
    /// - Returns: The end of the last sample.
    /// - Source: ISO/IEC 14496-12:2022, section 8.8.8.
    private mutating func readRun(
        _ run: FilmBox, from base: UInt64, after end: UInt64, _ usualByteCount: UInt32,
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
            if let (protection, iv) = try samples.next() {
                let scheme = try builder.add(protection.scheme, keyID: protection.keyID)
                try builder.begin(at: position, byteCount: byteCount, iv: iv, scheme: scheme)
                try samples.finishSample(of: &builder)
            }
            position += byteCount
        }
        return position
    }
}

extension CommonEncryption {
    /// Returns bytes as an IV or first counter block; `nil` for a length that the scheme does not allow.
    package func iv(_ bytes: [UInt8]) -> Block? {
        guard bytes.count == Block.byteCount || bytes.count == 8 && cipher == .aesCTR else { return nil }
        return try? Block(bytes + [UInt8](repeating: 0, count: Block.byteCount - bytes.count))
    }
}

/// The box `moov` of a film whose fragments are in other files.
package struct FilmStart: Sendable {
    fileprivate let tracks: [FilmReader.Track]

    /// Reads the tracks of a file, and none of its fragments.
    ///
    /// - Throws: See `ProtectedExtents.init(film:after:)`.
    package init(_ source: any ByteSource) throws(DecryptionError) {
        tracks = try FilmReader.tracks(of: source)
    }
}

extension ProtectedExtents {
    /// The encrypted extents of a fragmented MP4 file, from its boxes.
    ///
    /// - Parameters:
    ///   - source: The file.
    ///   - start: The box `moov`, if it is in another file.
    /// - Throws: `DecryptionError.invalidHeader` or `.unsupported` with a box and its offset, `.truncatedCiphertext` if
    ///   the file ends inside a box or a sample, `.io`.
    package init(film source: any ByteSource, after start: FilmStart? = nil) throws(DecryptionError) {
        self = try FilmReader.extents(of: source, after: start)
    }
}
