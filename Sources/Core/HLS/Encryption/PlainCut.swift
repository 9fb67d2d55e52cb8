/// A plain file cut into what becomes its initialization section and segments.
struct PlainCut {
    /// A part of the file.
    struct Piece {
        /// The segment's place from 0; -1 for the initialization section.
        let segment: Int
        /// The bytes of the plain file.
        let range: Range<UInt64>
        /// The number of its key; `nil` where it is not encrypted.
        let key: Int?
    }

    /// The pieces, in order. There is one segment at least.
    let pieces: [Piece]

    init(_ options: HLSOptions, byteCount: UInt64) {
        func key(ofSegment index: Int) -> Int? {
            options.clearSegments.contains(index) ? nil : options.segmentsPerKey.map { index / $0 } ?? 0
        }
        var pieces: [Piece] = []
        var position = min(options.initializationByteCount, byteCount)
        if position > 0 { pieces.append(Piece(segment: -1, range: 0..<position, key: key(ofSegment: 0))) }
        var index = 0
        repeat {
            let byteCountHere = options.segmentByteCounts[index % options.segmentByteCounts.count]
            let end = position + min(byteCountHere, byteCount - position)
            pieces.append(Piece(segment: index, range: position..<end, key: key(ofSegment: index)))
            position = end
            index += 1
        } while position < byteCount
        self.pieces = pieces
    }
}
