#if Network
import ByteSources
import HLS
import RandomAccess

extension ServedPlaylists {
    /// Opens a segment.
    func segment(
        _ index: Int, of media: MediaPlaylist, _ loaded: LoadedPlaylist
    ) throws(DecryptionError) -> ServedContent {
        let segment = media.segments[index]
        if let problem = segment.problem { throw loaded.error(problem) }
        var content = try content(
            SegmentPart(segment), "segment \(index + 1) (line \(segment.line), \(URIReference(segment.uri).redacted))",
            loaded)
        if let start = loaded.segmentOffsets.dropFirst(index).first {
            let headByteCount = sectionByteCount(before: index, media, loaded)
            content.position = position(start + headByteCount, loaded)
        }
        return content
    }

    /// Opens an initialization section.
    func section(
        _ index: Int, of media: MediaPlaylist, _ loaded: LoadedPlaylist
    ) throws(DecryptionError) -> ServedContent {
        let section = media.initializationSections[index]
        if let problem = section.problem { throw loaded.error(problem) }
        var content = try content(of: section, loaded)
        let user = media.segments.firstIndex { $0.initializationSection == index }
        if let user, let start = loaded.segmentOffsets.dropFirst(user).first {
            content.position = position(start, loaded)
        }
        return content
    }

    /// Returns a key as content.
    func key(_ uri: String, _ loaded: LoadedPlaylist) throws(DecryptionError) -> ServedContent {
        let key: SecretKey
        let version = loaded.ring.version(for: uri) ?? ""
        do throws(DecryptionError) {
            key = try loaded.ring.key(for: uri)
        } catch {
            throw .inPart(loaded.name, error)
        }
        var content = ServedContent(
            contentType: "application/octet-stream", byteCount: UInt64(key.byteCount),
            entityTag: EntityTag(of: ["key", loaded.name, uri, version], key: key), modified: nil
        ) { () throws(DecryptionError) in
            KeyReader(key)
        }
        content.isRecorded = false
        return content
    }

    /// Returns the start of each segment, with its initialization section, in the concatenation of all, and the end of
    /// the last one. The result is empty if the sum exceeds an object's max length.
    func segmentOffsets(of media: MediaPlaylist, _ loaded: LoadedPlaylist) -> [UInt64] {
        Self.offsets(
            ofParts: media.segments.indices.lazy.map { index in
                let count = (try? segment(index, of: media, loaded))?.byteCount ?? 0
                return count + sectionByteCount(before: index, media, loaded)
            })
    }

    /// Adds up the lengths of consecutive parts.
    ///
    /// - Parameter lengths: The parts' lengths. Each is at most twice a file's max length, so that the next sum does
    ///   not overflow.
    /// - Returns: The start of each part and the end of the last one; empty if that is beyond ``SourceLength/max``.
    static func offsets(ofParts lengths: some Sequence<UInt64>) -> [UInt64] {
        var offsets: [UInt64] = [0]
        var end: UInt64 = 0
        for length in lengths {
            end += length
            guard end <= SourceLength.max else { return [] }
            offsets.append(end)
        }
        return offsets
    }

    private func position(_ start: UInt64, _ loaded: LoadedPlaylist) -> ServedContent.Position {
        ServedContent.Position(object: loaded.name, offset: start, objectByteCount: loaded.segmentOffsets.last ?? 0)
    }

    /// Returns the length of the initialization section in front of a segment; 0 if it is the same as before.
    private func sectionByteCount(before index: Int, _ media: MediaPlaylist, _ loaded: LoadedPlaylist) -> UInt64 {
        let number = media.segments[index].initializationSection
        let before = index > 0 ? media.segments[index - 1].initializationSection : nil
        guard let number, number != before else { return 0 }
        let section = media.initializationSections[number]
        if let before, section.isSameResource(as: media.initializationSections[before]) { return 0 }
        return (try? content(of: section, loaded))?.byteCount ?? 0
    }

    private func content(
        of section: InitializationSection, _ loaded: LoadedPlaylist
    ) throws(DecryptionError) -> ServedContent {
        try content(
            SegmentPart(section),
            "initialization section (line \(section.line), \(URIReference(section.uri).redacted))",
            loaded)
    }

    /// Opens a file, or a part of a file, that a playlist names.
    private func content(
        _ part: SegmentPart, _ name: String, _ loaded: LoadedPlaylist
    ) throws(DecryptionError) -> ServedContent {
        do throws(DecryptionError) {
            return try open(part, loaded)
        } catch {
            throw .inPart(loaded.name, .inPart(name, error))
        }
    }

    private func open(_ part: SegmentPart, _ loaded: LoadedPlaylist) throws(DecryptionError) -> ServedContent {
        guard let names = names(of: part.uri, in: loaded) else {
            throw .unsupported("fetching \(URIReference(part.uri).redacted): expected a file of this folder")
        }
        guard let file = try folder.open(names) else { throw .missing(URIReference(part.uri).redacted) }
        let isPinned = file.canBePinned()
        let modified = isPinned ? file.opened.modifiedSeconds : nil
        var parts = ["hls", part.byteRange.map { "\($0)" } ?? ""]
        if part.reading != .ciphertext { parts.append(part.reading.rawValue) }
        let type = ContentType.ofFile(named: names.last ?? "")
        var key: SecretKey?
        if !options.keepsEncryption, case .aes128(let keyURI, let iv, _) = part.encryption {
            // The ring asks for the version first as well: a tag may be older than the key of its bytes, never younger.
            parts += [keyURI, loaded.ring.version(for: keyURI) ?? "", "\(iv.bigEndianValue)"]
            key = try loaded.ring.key(for: keyURI)
        }
        let place = key == nil ? PiecePlace(try part.ownRange(in: file)) : try part.place(in: file)
        let piece: OpenPiece
        do throws(DecryptionError) {
            piece = try OpenPiece(place, of: PinnedSource(file), backend: options.backend, keys: key.map(KeySet.one))
        } catch {
            throw part.explain(error)
        }
        let byteCount = piece.byteCount
        var content = ServedContent(
            contentType: type, byteCount: byteCount, entityTag: file.entityTag(parts, key: key, isPinned: isPinned),
            modified: modified
        ) { () throws(DecryptionError) in
            try piece.makeCursor()
        }
        let range = place.window ?? place.range
        content.mayWait = { file.mayWait(for: $0, of: byteCount, in: range) }
        return content
    }
}

/// A reader of a key's bytes. The key stays in memory that will be erased.
final class KeyReader: RandomAccessDecryptor {
    private let key: SecretKey

    init(_ key: SecretKey) {
        self.key = key
    }

    var plaintextByteCount: UInt64 { UInt64(key.byteCount) }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
        guard offset <= plaintextByteCount else {
            throw .rangeOutOfBounds(offset: offset, plaintextByteCount: plaintextByteCount)
        }
        return key.withUnsafeBytes { bytes in
            let part = UnsafeRawBufferPointer(rebasing: bytes[Int(offset)...].prefix(buffer.count))
            buffer.copyMemory(from: part)
            return part.count
        }
    }

    func checkVersion() {}
}
#endif
