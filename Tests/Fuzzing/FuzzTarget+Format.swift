import ByteSources
import RandomAccess
import SwiftAESBackend

extension FuzzTarget {
    /// Descriptions, and what follows from them: lengths, an object that is written and read back, and objects of other
    /// bytes: those behind a zero in the input, too.
    static let format = FuzzTarget(
        "format", "Sources/Core/RandomAccess", seeds: ["data/formats/*.yml"]
    ) { bytes in
        // Such a key takes as long as its description says.
        let pieces = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
        let text = Array(pieces[0])
        guard !String(decoding: text, as: UTF8.self).contains("pbkdf2"), let formats = try? Format.read(text) else {
            return
        }
        for format in formats.prefix(4) { tryFormat(format, object: pieces.count > 1 ? Array(pieces[1]) : []) }
    }

    /// Documents that list pieces, each of which has a place in a file or none.
    static let pieces = FuzzTarget("pieces", "Sources/Core/RandomAccess/Pieces") { bytes in
        let document = try? PieceDocument(bytes) { (text, iv) throws(DecryptionError) in
            try Strategy(text, iv.map { ["iv": .bytes($0)] } ?? [:])
        }
        let source = MemorySource([1, 2, 3])
        for piece in document?.pieces ?? [] {
            guard let place = try? piece.place(in: source) else { continue }
            expect(place.range.upperBound <= source.byteCount, "a place behind the end of its file")
            let key = try? SecretKey([UInt8](repeating: 7, count: 16))
            let opened = try? OpenPiece(
                place, of: source, backend: SwiftBitsliced(), keys: key.map(KeySet.one))
            _ = opened?.byteCount
        }
    }

    /// Films, whose boxes say what is encrypted: what is read in parts is what is read at once.
    static let film = FuzzTarget(
        "film", "Sources/Core/RandomAccess/Films", seeds: ["data/interop/cenc/*.mp4"]
    ) { bytes in
        tryFilm(bytes, after: nil)
        // What follows moov as segments, too.
        let name = Array("moof".utf8)
        guard let start = try? FilmStart(MemorySource(bytes)),
            let place = bytes.indices.dropFirst(4).first(where: { bytes[$0...].starts(with: name) })
        else { return }
        tryFilm(Array(bytes[(place - 4)...]), after: start)
    }

    private static func tryFilm(_ bytes: [UInt8], after start: FilmStart?) {
        let source = MemorySource(bytes)
        guard let extents = try? ProtectedExtents(film: source, after: start),
            let key = try? SecretKey([UInt8](repeating: 7, count: 16))
        else { return }
        let keys = Dictionary(extents.keyIDs.compactMap { id in id.map { ($0, key) } }) { first, _ in first }
        let place = PiecePlace(0..<source.byteCount, extents)
        guard let film = try? OpenPiece(place, of: source, backend: SwiftBitsliced(), keys: .byID(keys)),
            let cursor = try? film.makeCursor(), let whole = try? cursor.read(at: 0, count: bytes.count)
        else { return }
        expect(whole.count == bytes.count, "a film has another length")
        for start in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 50)) {
            let part = try? cursor.read(at: UInt64(start), count: 37)
            expect(part == Array(whole[start..<min(bytes.count, start + 37)]), "in parts, it is another film")
        }
    }

    private static func tryFormat(_ format: Format, object: [UInt8]) {
        let strategy = Strategy(sampling: format)
        _ = try? strategy.facts()
        guard (try? strategy.validate()) != nil, let key = try? SecretKey([UInt8](repeating: 7, count: 32)) else {
            return
        }
        _ = read(object, strategy, key)
        // Such a check may refuse what a writer makes, which does not know the length before.
        let isSizeChecked = format.checks.contains { $0.requirement.expression.names.contains("size") }
        let lengths: [UInt64] = [0, 1, 15, 16, 17, 299, 300, 1 << 20, 1 << 40, 1 << 62, .max]
        for length in lengths {
            guard let stored = strategy.geometry?.ciphertextByteCount(ofPlaintext: length), stored < 1 << 63 else {
                continue
            }
            _ = try? strategy.geometry?.chunkCount(ofCiphertext: stored)
            _ = try? Probe(strategy: strategy, ciphertextByteCount: stored)
        }
        for length in lengths.prefix(7).map(Int.init) {
            let plaintext = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            _ = read([UInt8](repeating: 0, count: length), strategy, key)
            _ = read(plaintext, strategy, key)
            guard strategy.chunkByteCount ?? 0 <= 1 << 20, let written = write(plaintext, strategy, key) else {
                continue
            }
            let found = read(written, strategy, key)
            expect(found == plaintext || isSizeChecked && found == nil, "what is written is not read back")
        }
    }

    private static func write(_ plaintext: [UInt8], _ strategy: Strategy, _ key: SecretKey) -> [UInt8]? {
        guard
            let encryptor = try? ObjectEncryptor(
                strategy: strategy, backend: SwiftBitsliced(), key: key, windowByteCount: 48)
        else { return nil }
        var written: [UInt8] = []
        do {
            try plaintext.withUnsafeBytes { try encryptor.append($0) { written += $0 } }
            try encryptor.finish { written += $0 }
            return written
        } catch {
            return nil
        }
    }

    private static func read(_ bytes: [UInt8], _ strategy: Strategy, _ key: SecretKey) -> [UInt8]? {
        guard
            let object = try? EncryptedObject(
                source: MemorySource(bytes), strategy: strategy, backend: SwiftBitsliced(), key: key),
            let cursor = try? object.makeCursor(windowByteCount: 32)
        else { return nil }
        for offset: UInt64 in [1, 17, object.plaintextByteCount / 2] { _ = try? cursor.read(at: offset, count: 20) }
        return try? cursor.read(at: 0, count: Int(clamping: object.plaintextByteCount))
    }
}
