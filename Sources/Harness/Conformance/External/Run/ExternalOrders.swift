internal import RandomAccess
internal import Vectors

/// Reads in every order: forward, backward, repeated, of several open objects in turn, and after one that failed.
struct ExternalOrders {
    let session: ExternalSession
    let hello: ExternalHello

    private static let byteCount: UInt64 = 333
    private static let count: UInt64 = 37

    /// Runs every order on every strategy that the subject has.
    func run(into tally: inout ExternalTally) {
        for (number, strategy) in Self.strategies.enumerated() {
            // In process these are run from several threads at once; the protocol has one request at a time.
            tally.addNotRun([ExternalFlag.threads.rawValue])
            run((0..<3).compactMap { object(strategy, number: number * 3 + $0) }, into: &tally)
        }
        if hello.readsPlaylists { run((50..<53).compactMap(playlist), into: &tally) }
    }

    /// Runs every order on objects of one strategy.
    private func run(_ objects: [ExternalObject], into tally: inout ExternalTally) {
        guard session.reasonToGiveUp == nil, objects.count == 3 else {
            tally.addUnsupported([ExternalFlag.readOrder.rawValue])
            return
        }
        for object in objects { open(object, into: &tally) }
        for order in Order.allCases { run(order, on: objects, into: &tally) }
        for object in objects { object.close() }
    }

    private enum Order: String, CaseIterable {
        case forward
        case backward
        case repeated
        case interleaved
        case afterFailure = "after a failed read"

        var flags: [ExternalFlag] {
            switch self {
            case .interleaved: [.readOrder, .severalObjects]
            case .afterFailure: [.readOrder, .afterFailure]
            default: [.readOrder]
            }
        }
    }

    private static let strategies: [Strategy] = {
        let iv = Block(bigEndianValue: 0x0f1e_2d3c_4b5a_6978_8796_a5b4_c3d2_e1f0)
        return [
            .cbcContinuous(iv: iv, padding: .pkcs7),
            .cbcChunked(chunkByteCount: 96, iv: iv, ivRule: .fixed, padding: .pkcs7),
            .cbcChunked(chunkByteCount: 96, iv: iv, ivRule: .sequence, padding: .pkcs7),
            .ctr(iv: iv),
        ]
    }()

    /// Objects with different keys, of different lengths where the subject has several.
    private func object(_ strategy: Strategy, number: Int) -> ExternalObject? {
        let lengths = hello.knownKeyByteCounts
        guard !lengths.isEmpty, hello.strategies.contains(strategy.name),
            let group = ExternalFixture.group(
                id: "order/\(strategy.label)", strategy: strategy, keyByteCount: lengths[number % lengths.count],
                number: number, plaintextByteCount: Self.byteCount)
        else { return nil }
        return try? ExternalObject(group, session: session, hello: hello)
    }

    private func playlist(_ number: Int) -> ExternalObject? {
        let group = ExternalFixture.playlist(
            id: "order/\(PlaylistObject.strategyName)", number: number, plaintextByteCount: Self.byteCount)
        return try? ExternalObject(group, session: session, hello: hello)
    }

    private func open(_ object: ExternalObject, into tally: inout ExternalTally) {
        let mismatch = ExternalGroupRun.mismatch(in: object.open(), expecting: object.group.opening)
        tally.add(
            ExternalVerdict(
                id: "\(object.group.id) open beside others", flags: [ExternalFlag.severalObjects.rawValue],
                mismatch: mismatch, size: [object.group.ciphertext.byteCount, 0, 0]))
    }

    private func run(_ order: Order, on objects: [ExternalObject], into tally: inout ExternalTally) {
        let starts = Array(stride(from: 0, to: Self.byteCount, by: Int(Self.count)))
        for (number, start) in starts.enumerated() {
            switch order {
            case .forward:
                read(start, of: objects[0], order, into: &tally)
            case .backward:
                read(starts[starts.count - 1 - number], of: objects[0], order, into: &tally)
            case .repeated:
                guard number % 4 == 1 else { continue }
                for _ in 0..<3 { read(start, of: objects[0], order, into: &tally) }
            case .interleaved:
                for object in objects { read(start, of: object, order, into: &tally) }
            case .afterFailure:
                guard number % 4 == 2 else { continue }
                read(Self.byteCount + 1, of: objects[0], order, into: &tally)
                read(start, of: objects[0], order, into: &tally)
            }
        }
    }

    private func read(_ offset: UInt64, of object: ExternalObject, _ order: Order, into tally: inout ExternalTally) {
        let read = RangeRead(offset: offset, count: Int(Self.count), of: Self.byteCount, flags: [])
        ExternalReadRun(
            object: object, read: read, id: "\(object.group.id(of: read)) \(order.rawValue)",
            flags: order.flags.map(\.rawValue)
        ).runPlain(session: session, into: &tally)
    }
}
