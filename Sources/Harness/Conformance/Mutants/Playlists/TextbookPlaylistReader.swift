internal import RandomAccess
internal import Vectors

/// Decrypts all segments of a playlist when it is opened, and serves reads from that.
///
/// Right without a fault, and slow; for the vectors' small objects.
final class TextbookPlaylistReader: RandomAccessDecryptor {
    private let plaintext: [UInt8]
    private let ends: [Int]
    private let fault: PlaylistFault?

    init(
        _ object: PlaylistObject, _ resources: [String: any ByteSource], _ backend: any CipherBackend,
        fault: PlaylistFault?
    ) throws(DecryptionError) {
        let playlist = try TextbookPlaylist(object.text, fault: fault)
        let keys = object.keys
        var plaintext: [UInt8] = []
        var ends: [Int] = []
        var chain: UInt128?
        // Keys are checked before resources. Source: PROTOCOL.md, "Transport".
        for piece in playlist.pieces {
            if let uri = piece.key, fault != .noKeyIsPlain { _ = try Self.key(keys[uri], fault) }
        }
        for (index, piece) in playlist.pieces.enumerated() {
            guard let resource = resources[piece.uri] else {
                if fault == .missingSkipped { continue }
                throw .io(operation: "open \(piece.uri)", code: 2, reason: "not there")
            }
            let length = Int(resource.byteCount)
            let range = piece.range ?? 0..<length
            guard range.upperBound <= length else {
                throw .truncatedCiphertext(byteCount: resource.byteCount, expected: "\(range.upperBound)")
            }
            var bytes = [UInt8](repeating: 0, count: range.count)
            try bytes.withUnsafeMutableBufferPointer { (room) throws(DecryptionError) in
                try resource.fetch(at: UInt64(range.lowerBound), into: UnsafeMutableRawBufferPointer(room))
            }
            if let uri = piece.key, keys[uri] != nil || fault != .noKeyIsPlain {
                let key = try Self.key(keys[uri], fault)
                if bytes.count % 16 != 0, fault == .partialBlockCut { bytes.removeLast(bytes.count % 16) }
                guard bytes.count % 16 == 0, !bytes.isEmpty else {
                    throw .truncatedCiphertext(byteCount: UInt64(bytes.count), expected: "blocks")
                }
                let next = bytes.suffix(16).reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
                let iv = fault == .chainGoesOn ? chain ?? piece.iv : piece.iv
                let context = try backend.makeContext(mode: .cbc, direction: .decrypt, key: key)
                try bytes.withUnsafeMutableBufferPointer { (bytes) throws(DecryptionError) in
                    try context.process(inPlace: UnsafeMutableRawBufferPointer(bytes), iv: Block(bigEndianValue: iv))
                }
                chain = next
                let isLast = index == playlist.pieces.count - 1
                if fault != .paddingBetween || isLast { try Self.unpad(&bytes, fault) }
            } else if fault == .paddingOfPlain {
                try? Self.unpad(&bytes, nil)
            }
            plaintext += bytes
            ends.append(plaintext.count)
        }
        self.plaintext = plaintext
        self.ends = ends
        self.fault = fault
    }

    var plaintextByteCount: UInt64 { UInt64(plaintext.count) }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
        guard offset <= plaintextByteCount else {
            throw .rangeOutOfBounds(offset: offset, plaintextByteCount: plaintextByteCount)
        }
        var end = plaintext.count
        if fault == .readEndsAtSegment { end = ends.first { $0 > Int(offset) } ?? end }
        let bytes = plaintext[Int(offset)..<max(Int(offset), end)].prefix(buffer.count)
        buffer.copyBytes(from: bytes)
        return bytes.count
    }

    private static func key(_ bytes: [UInt8]?, _ fault: PlaylistFault?) throws(DecryptionError) -> SecretKey {
        var bytes = bytes ?? []
        if fault == .keyFitted { bytes = Array((bytes + [UInt8](repeating: 0, count: 16)).prefix(16)) }
        guard bytes.count == 16 else { throw .invalidKey(byteCount: bytes.count) }
        return try SecretKey(bytes)
    }

    /// Source: RFC 5652, section 6.3.
    private static func unpad(_ bytes: inout [UInt8], _ fault: PlaylistFault?) throws(DecryptionError) {
        let count = Int(bytes.last ?? 0)
        guard 1...16 ~= count, bytes.count >= count, bytes.suffix(count).allSatisfy({ Int($0) == count }) else {
            if fault == .paddingTrusted { return }
            throw .invalidPadding
        }
        bytes.removeLast(count)
    }
}

extension TextbookPlaylistReader {
    /// How the textbook reader opens playlists, with a fault or without.
    static func opening(fault: PlaylistFault?, over backend: any CipherBackend) -> ConformanceSubject.OpenPlaylist {
        { (_, playlist, resources) throws(DecryptionError) in
            try TextbookPlaylistReader(playlist, resources, backend, fault: fault)
        }
    }
}
