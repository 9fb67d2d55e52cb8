import RandomAccess
import Vectors

/// Reads in every order: forward, backward, repeated, of several open objects in turn, and after a failed read.
struct ExternalOrders {
    let subject: ExternalSubject
    let fixtures: [Strategy]

    private var hello: ExternalHello { subject.hello }

    private static let byteCount: UInt64 = 333
    private static let count: UInt64 = 37

    /// Runs every order on every strategy that the subject supports.
    func run(into tally: inout Tally) {
        let listed = Self.strategies.filter { fixtures.map(\.name).contains($0.name) }
        for (number, strategy) in (listed.isEmpty ? fixtures : Self.strategies).enumerated() {
            // In process, these reads run on several threads at once. The protocol has one request at a time.
            tally.note(.notRun, flags: [ExternalFlag.threads.rawValue])
            run((0..<3).compactMap { object(strategy, number: number * 3 + $0) }, into: &tally)
        }
        if hello.readsPlaylists { run((50..<53).compactMap(playlist), into: &tally) }
    }

    /// Runs every order on objects of one strategy.
    private func run(_ objects: [ExternalObject], into tally: inout Tally) {
        guard subject.session.reasonToGiveUp == nil, objects.count == 3 else {
            tally.note(.unsupported, flags: [ExternalFlag.readOrder.rawValue])
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

    private static let strategies = VectorSet.plain(
        chunkByteCount: 96, iv: Block(bigEndianValue: 0x0f1e_2d3c_4b5a_6978_8796_a5b4_c3d2_e1f0)
    ).filter { $0.padding != Padding.none }

    /// Returns an object with its own key; the key lengths differ if the subject supports several.
    private func object(_ strategy: Strategy, number: Int) -> ExternalObject? {
        guard fixtures.map(\.name).contains(strategy.name),
            let keyByteCount = ExternalFixture.keyByteCount(strategy, hello, number: number),
            let group = ExternalFixture.group(
                id: "order/\(strategy.label)", strategy: strategy, keyByteCount: keyByteCount, number: number,
                plaintextByteCount: Self.byteCount)
        else { return nil }
        return try? ExternalObject(group, session: subject.session, hello: hello)
    }

    private func playlist(_ number: Int) -> ExternalObject? {
        let group = ExternalFixture.playlist(
            id: "order/\(PlaylistObject.strategyName)", number: number, plaintextByteCount: Self.byteCount)
        return try? ExternalObject(group, session: subject.session, hello: hello)
    }

    private func open(_ object: ExternalObject, into tally: inout Tally) {
        tally.add(
            .adapter(
                "\(object.group.id) open beside others", .severalObjects,
                size: [object.group.ciphertext.byteCount, 0, 0],
                object.open().mismatch(expecting: object.group.opening)))
    }

    private func run(_ order: Order, on objects: [ExternalObject], into tally: inout Tally) {
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

    private func read(_ offset: UInt64, of object: ExternalObject, _ order: Order, into tally: inout Tally) {
        let read = RangeRead(offset: offset, count: Int(Self.count), of: Self.byteCount, flags: [])
        GroupRun(group: object.group, subject: subject).judge(
            read, of: object, id: "\(object.group.id(of: read)) \(order.rawValue)", flags: order.flags, into: &tally)
    }
}

/// Small objects for checks of other things than ranges.
enum ExternalFixture {
    /// Returns a generated object as a group without reads. Where a header has alternatives, all groups have the same.
    static func group(
        id: String, strategy: Strategy, keyByteCount: Int, number: Int, plaintextByteCount: UInt64
    ) -> VectorGroup? {
        let bytes = (0..<keyByteCount).map { UInt8(truncatingIfNeeded: 29 * number + 11 * $0 + 3) }
        let seed = 7000 + strategy.format.alternativeCount * UInt64(number)
        guard let key = try? SecretKey(material: bytes),
            let object = try? GeneratedObject(
                strategy: strategy, key: key, plaintextByteCount: plaintextByteCount, seed: seed)
        else { return nil }
        return VectorGroup(
            id: id, source: "generated, seed \(seed)", flags: [], strategy: strategy, key: key,
            ciphertext: object.source, plaintext: object.plaintext)
    }

    /// Returns a playlist as a group without reads. Each segment is a third of the plaintext.
    static func playlist(id: String, number: Int, plaintextByteCount: UInt64) -> VectorGroup {
        let byteCount = Int(plaintextByteCount)
        return PlaylistSet.plain(
            id: id, number: number,
            segmentByteCounts: [byteCount / 3, byteCount / 3, byteCount - byteCount / 3 * 2])
    }

    /// Returns the length of the key for an object of a strategy, among those that the subject lists; `nil` if there is
    /// none. Objects of different numbers may have keys of different lengths.
    static func keyByteCount(_ strategy: Strategy, _ hello: ExternalHello, number: Int = 0) -> Int? {
        let possible = (strategy.format.keyByteCounts ?? hello.knownKeyByteCounts).filter { byteCount in
            sample(strategy, keyByteCount: byteCount).map { hello.supports($0) } ?? false
        }
        return possible.isEmpty ? nil : possible[number % possible.count]
    }

    private static func sample(_ strategy: Strategy, keyByteCount: Int) -> VectorGroup? {
        group(id: "", strategy: strategy, keyByteCount: keyByteCount, number: 0, plaintextByteCount: 100)
    }

    /// Returns the strategies for checks of other things than ranges, one of each name: the textbook ones among the
    /// formats under test that the subject lists. If it lists none of them, the first format under test that it reads
    /// takes their place, with the first values of its parameters that the subject reads, or the textbook formats if it
    /// reads none. Without formats under test, all are.
    ///
    /// - Parameters:
    ///   - hello: What the subject says of itself.
    ///   - formats: The formats under test.
    ///   - opens: Returns false for an object that the subject answers with `unsupported`. A subject that reads
    ///     descriptions may know only some of them, or lack the cipher that a parameter or a header chooses.
    /// - Returns: The strategies.
    static func strategies(
        of hello: ExternalHello, among formats: [Format], opens: (VectorGroup) -> Bool = { _ in true }
    ) -> [Strategy] {
        let iv = Block(bigEndianValue: 0x0011_2233_4455_6677_8899_aabb_ccdd_eeff)
        let known = VectorSet.plain(chunkByteCount: 64, iv: iv).filter { strategy in
            (formats.isEmpty || formats.contains(strategy.format))
                && strategy.format.inputs.allSatisfy { $0.defaultValue == nil || $0.defaultValue == strategy[$0.name] }
        }
        // Strategies with padding come first, since their ends are checked, too.
        let padded = known.filter { $0.padding != nil } + known.filter { $0.padding == nil }
        let listed = padded.filter { hello.strategies.contains($0.name) }
        guard listed.isEmpty else { return listed }
        let others = padded + formats.lazy.flatMap(DescribedVectors.variants)
        let other = others.first { strategy in
            keyByteCount(strategy, hello).flatMap { sample(strategy, keyByteCount: $0) }
                .map { hello.promises($0) || opens($0) } ?? false
        }
        return other.map { [$0] } ?? (formats.isEmpty ? [] : strategies(of: hello, among: [], opens: opens))
    }
}
