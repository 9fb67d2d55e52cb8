import BackendRegistry
import ByteSources
import RandomAccess
import Synchronization
import Testing

/// Pieces in memory, each a source of its own unless it says otherwise; counts the sources that are open.
private final class MemoryPieces: PieceList {
    struct Piece {
        var bytes: [UInt8]
        var strategy: Strategy?
        var key: [UInt8] = []
        var window: Range<UInt64>?
        var byteCount: UInt64?
        var isMissing = false
    }

    private final class Source: ByteSource {
        let base: MemorySource
        let list: MemoryPieces

        init(_ base: MemorySource, _ list: MemoryPieces) {
            (self.base, self.list) = (base, list)
            list.open.withLock { $0 = ($0.now + 1, max($0.maximum, $0.now + 1)) }
        }

        deinit { list.open.withLock { $0.now -= 1 } }

        var byteCount: UInt64 { base.byteCount }

        func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
            list.fetches.withLock { $0 += 1 }
            return try base.read(at: offset, into: buffers)
        }
    }

    let pieces: [Piece]
    let open = Mutex((now: 0, maximum: 0))
    let fetches = Mutex(0)
    let lateKeys = Mutex(false)

    init(_ pieces: [Piece]) { self.pieces = pieces }

    var count: Int { pieces.count }
    var sourceCount: Int { pieces.count }
    var maxOpenCount: Int { open.withLock { $0.maximum } }

    func openSource(_ source: Int) throws(DecryptionError) -> any ByteSource {
        guard !pieces[source].isMissing else { throw .io(operation: "open", code: 2, reason: "not there") }
        return Source(MemorySource(pieces[source].bytes), self)
    }

    func source(of piece: Int) -> Int { piece }

    func place(of piece: Int, in source: any ByteSource) throws(DecryptionError) -> PiecePlace {
        let (piece, all) = (pieces[piece], 0..<source.byteCount)
        return PiecePlace(all, piece.strategy, window: piece.window, byteCount: piece.byteCount)
    }

    func keys(of piece: Int) throws(DecryptionError) -> KeySet? {
        guard pieces[piece].strategy != nil else { return nil }
        guard !lateKeys.withLock({ $0 }) else { throw .invalidKeyMaterial(byteCount: 0, expected: "one later") }
        return .one(try SecretKey(pieces[piece].key))
    }

    func name(of piece: Int) -> String { "piece \(piece)" }
}

@Suite("objects of several pieces")
struct CompositeObjectTests {
    private static let key = (0..<32).map { UInt8($0) }

    private static func strategy(_ name: String, _ parameters: [String: Strategy.Parameter] = [:]) throws -> Strategy {
        try Strategy(name, parameters)
    }

    /// Encrypts bytes as a piece; without a strategy they stay as they are.
    private static func piece(_ plaintext: [UInt8], _ strategy: Strategy?) throws -> MemoryPieces.Piece {
        guard let strategy else { return MemoryPieces.Piece(bytes: plaintext) }
        let key = strategy.name == "cobblestone-128" ? Array(key.prefix(16)) : key
        let encryptor = try ObjectEncryptor(
            strategy: strategy, backend: BackendRegistry.backend(named: "openssl"), key: SecretKey(key))
        var ciphertext: [UInt8] = []
        try plaintext.withUnsafeBytes { bytes in try encryptor.append(bytes) { ciphertext += $0 } }
        try encryptor.finish { ciphertext += $0 }
        return MemoryPieces.Piece(bytes: ciphertext, strategy: strategy, key: key)
    }

    private static func object(
        _ pieces: [MemoryPieces.Piece], leavesOutBroken: Bool = false
    ) throws -> CompositeObject {
        CompositeObject(
            MemoryPieces(pieces), backend: try BackendRegistry.backend(named: "openssl"),
            leavesOutBroken: leavesOutBroken)
    }

    private static func plaintext(_ count: Int, seed: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: ($0 &+ 1) &* (seed &* 7919 &+ 31) &>> 3) }
    }

    /// Pieces of all kinds, empty ones among them, with what they are together.
    private static func mixed() throws -> (pieces: [MemoryPieces.Piece], plaintext: [UInt8]) {
        let iv = Strategy.Parameter.bytes((0..<16).map { UInt8(0xF0 &+ $0) })
        let strategies: [Strategy?] = [
            try strategy("ctr", ["iv": iv]), nil, try strategy("cbc-continuous", ["iv": iv]),
            try strategy("cbc-chunked", ["iv": iv, "chunkByteCount": .integer(32)]),
            try strategy("tink-aes-gcm-hkdf", ["segmentByteCount": .integer(128)]),
            try strategy("cobblestone-128"), nil, try strategy("ctr", ["iv": iv]),
            try strategy("cbc-continuous", ["iv": iv, "padding": .text("none")]),
        ]
        let lengths = [33, 17, 31, 70, 150, 40, 0, 0, 32]
        var (pieces, all): ([MemoryPieces.Piece], [UInt8]) = ([], [])
        for (index, (strategy, length)) in zip(strategies, lengths).enumerated() {
            let plaintext = plaintext(length, seed: index)
            pieces.append(try piece(plaintext, strategy))
            all += plaintext
        }
        // The middle of a longer plaintext, as a chain's part is.
        let whole = plaintext(100, seed: 99)
        var middle = try piece(whole, strategy("cbc-continuous", ["iv": iv]))
        middle.window = 41..<77
        pieces.append(middle)
        return (pieces, all + whole[41..<77])
    }

    @Test("every range of pieces of different formats is what the plaintexts are, one behind the other")
    func everyRange() throws {
        let (pieces, plaintext) = try Self.mixed()
        let object = try Self.object(pieces)
        try object.requireAll()
        #expect(object.plaintextByteCount == UInt64(plaintext.count) && object.problems.isEmpty)
        for window in [Int.max, 16, 1] {
            let cursor = try object.makeCursor(windowByteCount: window)
            for start in 0...plaintext.count {
                for count in [0, 1, 2, 16, 33, 150, 500] {
                    let expected = plaintext[start..<min(plaintext.count, start + count)]
                    let bytes = try cursor.read(at: UInt64(start), count: count)
                    guard bytes.elementsEqual(expected) else {
                        Issue.record("\(count) bytes from \(start) on, window \(window)")
                        return
                    }
                }
            }
        }
        let end = UInt64(plaintext.count)
        #expect(throws: DecryptionError.rangeOutOfBounds(offset: end + 1, plaintextByteCount: end)) {
            try object.makeCursor().read(at: end + 1, count: 0)
        }
        #expect(throws: DecryptionError.self) { try object.makeCursor(windowByteCount: 0) }
    }

    @Test("no pieces, and pieces that are all empty, are an empty plaintext")
    func empty() throws {
        for pieces in [[], [try Self.piece([], nil)], [try Self.piece([], nil), try Self.piece([], nil)]] {
            let object = try Self.object(pieces)
            #expect(object.plaintextByteCount == 0)
            #expect(try object.makeCursor().read(at: 0, count: 5).isEmpty)
            #expect(object.pieceIndex(at: 0) == pieces.count)
        }
    }

    @Test("of a thousand pieces in any order, few sources are open, and each is right when it is opened again")
    func manyPieces() throws {
        let (mixed, _) = try Self.mixed()
        let one = try mixed.map { piece in
            let object = try Self.object([piece])
            return try object.makeCursor().read(at: 0, count: 1000)
        }
        let list = MemoryPieces(Array(repeating: mixed, count: 100).flatMap { $0 })
        let plaintext = Array(repeating: one.flatMap { $0 }, count: 100).flatMap { $0 }
        let object = CompositeObject(list, backend: try BackendRegistry.backend(named: "openssl"))
        let cursor = try object.makeCursor()
        for number in 0..<2000 {
            let start = number &* 7919 % (plaintext.count - 50)
            #expect(try cursor.read(at: UInt64(start), count: 50) == Array(plaintext[start..<start + 50]))
        }
        // One more while a source is opened, and four of the cursor.
        #expect(list.maxOpenCount <= CompositeObject.maxOpenSources + 5)
        #expect(list.maxOpenCount >= CompositeObject.maxOpenSources)
    }

    @Test("a piece whose place tells its length is not looked at before it is read, and its key may come late")
    func late() throws {
        let iv = Strategy.Parameter.bytes([UInt8](repeating: 3, count: 16))
        let plaintext = Self.plaintext(100, seed: 5)
        let list = MemoryPieces([
            try Self.piece(Array(plaintext[..<60]), Self.strategy("ctr", ["iv": iv])),
            try Self.piece(Array(plaintext[60...]), nil),
        ])
        list.lateKeys.withLock { $0 = true }
        let object = CompositeObject(list, backend: try BackendRegistry.backend(named: "openssl"))
        #expect(list.fetches.withLock { $0 } == 0)
        #expect(object.problems.map(\.range) == [0..<60] && object.problems[0].error.protocolName == "invalidKey")
        #expect(object.plaintextByteCount == 100)
        let cursor = try object.makeCursor()
        #expect(try cursor.read(at: 60, count: 40) == Array(plaintext[60...]))
        let error = #expect(throws: DecryptionError.self) { try cursor.read(at: 59, count: 2) }
        #expect(error?.partError?.part == "piece 0" && error?.protocolName == "invalidKey")
        list.lateKeys.withLock { $0 = false }
        #expect(try cursor.read(at: 0, count: 100) == plaintext)
    }

    @Test("a piece is looked at once to know its length, and what is read of it later is what the read needs")
    func fetches() throws {
        let iv = Strategy.Parameter.bytes([UInt8](repeating: 3, count: 16))
        let plaintext = Self.plaintext(1000, seed: 5)
        let list = MemoryPieces([try Self.piece(plaintext, Self.strategy("cbc-continuous", ["iv": iv]))])
        let object = CompositeObject(list, backend: try BackendRegistry.backend(named: "openssl"))
        #expect(list.fetches.withLock { $0 } == 1)
        #expect(try object.makeCursor().read(at: 500, count: 10) == Array(plaintext[500..<510]))
        #expect(list.fetches.withLock { $0 } == 2)
    }

    private struct Broken: CustomTestStringConvertible {
        let testDescription: String
        let name: String
        let change: @Sendable (inout MemoryPieces.Piece) -> Void
    }

    private static let broken = [
        Broken(testDescription: "missing", name: "io") { $0.isMissing = true },
        Broken(testDescription: "another key", name: "authenticationFailed") {
            $0.key = [UInt8](repeating: 9, count: 32)
        },
        Broken(testDescription: "a key of another length", name: "invalidKey") {
            $0.key = [UInt8](repeating: 9, count: 8)
        },
        Broken(testDescription: "its last chunk cut off", name: "authenticationFailed") {
            $0.bytes = Array($0.bytes.prefix(128))
        },
        Broken(testDescription: "cut inside its header", name: "truncatedCiphertext") {
            $0.bytes = Array($0.bytes.prefix(10))
        },
        Broken(testDescription: "a changed byte at its end", name: "authenticationFailed") {
            $0.bytes[$0.bytes.count - 1] ^= 1
        },
        Broken(testDescription: "another length than it must have", name: "truncatedCiphertext") { $0.byteCount = 149 },
    ]

    @Test("the others can be read, and a read that touches the broken one fails with its name", arguments: broken)
    private func neighbours(_ broken: Broken) throws {
        let plaintexts = [40, 150, 30].enumerated().map { Self.plaintext($1, seed: $0) }
        var pieces = try plaintexts.map { plaintext in
            try Self.piece(plaintext, Self.strategy("tink-aes-gcm-hkdf", ["segmentByteCount": .integer(128)]))
        }
        broken.change(&pieces[1])
        let object = try Self.object(pieces)
        let range = object.plaintextRange(ofPiece: 1)
        #expect(range.lowerBound == 40 && range.count > 0)
        #expect(object.problems.map(\.range) == [range])
        #expect(object.problems.map(\.error.protocolName) == [broken.name])
        #expect(throws: object.problems[0].error) { try object.requireAll() }
        let cursor = try object.makeCursor()
        for _ in 0..<2 {
            #expect(try cursor.read(at: 0, count: 40) == plaintexts[0])
            #expect(try cursor.read(at: range.upperBound, count: 99) == plaintexts[2])
            for (start, count) in [(0, 41), (40, 1), (range.upperBound - 1, 2), (0, 500)] as [(UInt64, Int)] {
                let error = #expect(throws: DecryptionError.self) { try cursor.read(at: start, count: count) }
                #expect(error?.partError?.part == "piece 1" && error?.protocolName == broken.name)
            }
        }
        let rest = try Self.object(pieces, leavesOutBroken: true)
        #expect(rest.problems.map(\.range) == [40..<40])
        #expect(try rest.makeCursor().read(at: 0, count: 500) == plaintexts[0] + plaintexts[2])
    }

    @Test("of several problems, the one that comes first in the protocol's order of checks is thrown")
    func order() throws {
        var pieces = try (0..<3).map { index in
            try Self.piece(Self.plaintext(40, seed: index), Self.strategy("tink-aes-gcm-hkdf"))
        }
        pieces[0].bytes[60] ^= 1
        pieces[1].isMissing = true
        #expect(throws: DecryptionError.self) { try Self.object(pieces).requireAll() }
        #expect { try Self.object(pieces).requireAll() } throws: { ($0 as? DecryptionError)?.protocolName == "io" }
        pieces[2].key = [1]
        #expect { try Self.object(pieces).requireAll() } throws: {
            ($0 as? DecryptionError)?.protocolName == "invalidKey"
        }
    }

    @Test("a permission that ends while a read goes on leaves no byte of it, and says which piece")
    func permission() throws {
        let plaintexts = (0..<3).map { Self.plaintext(1000, seed: $0) }
        let pieces = try plaintexts.map { try Self.piece($0, Self.strategy("tink-aes-gcm-hkdf")) }
        let object = try Self.object(pieces)
        let asked = Mutex<[Int]>([])
        for limit in 0..<9 {
            asked.withLock { $0 = [] }
            let cursor = try object.makeCursor { (piece) throws(DecryptionError) in
                let count = asked.withLock { asked in
                    asked.append(piece)
                    return asked.count
                }
                if count > limit { throw .unsupported("reading on") }
            }
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 3000, alignment: 16)
            defer { buffer.deallocate() }
            buffer.initializeMemory(as: UInt8.self, repeating: 0)
            let error = #expect(throws: DecryptionError.self) { try cursor.read(at: 0, into: buffer) }
            #expect(buffer.allSatisfy { $0 == 0 }, "after \(limit)")
            #expect(error?.partError?.part == "piece \(asked.withLock { $0.last ?? -1 })")
        }
        // Before and after each piece, and each once more at the end.
        #expect(asked.withLock { $0 } == [0, 0, 1, 1, 2, 2, 0, 1, 2])
        let cursor = try object.makeCursor { (_) throws(DecryptionError) in }
        #expect(try cursor.read(at: 0, count: 3000) == plaintexts.flatMap { $0 })
    }
}
