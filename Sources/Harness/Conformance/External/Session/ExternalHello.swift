internal import RandomAccess
internal import Support
internal import Vectors

/// What a subject says about itself. Source: PROTOCOL.md, "Requests".
struct ExternalHello: Hashable, Sendable {
    /// How much the subject fetches at least.
    enum Granularity: String, Sendable {
        case block
        case chunk
    }

    var name: String
    var version: String
    var strategies: [String]
    var keyByteCounts: [UInt64]
    var isServed: Bool
    var readsPaths: Bool
    var granularity: Granularity
    var measures: Bool

    /// Source: FIPS 197, section 5.
    private static let aesKeyByteCounts: [UInt64] = [16, 24, 32]

    /// The AES key lengths that it lists.
    var knownKeyByteCounts: [Int] { keyByteCounts.filter(Self.aesKeyByteCounts.contains).map { Int($0) } }

    /// What there are vectors for.
    static let knownStrategies = Strategy.names + [PlaylistObject.strategyName]

    /// Whether it can do playlists.
    var readsPlaylists: Bool { strategies.contains(PlaylistObject.strategyName) }

    /// Why an answer is no proper one.
    struct Complaint: Error {
        var text: String
    }

    init(_ answer: JSONValue) throws(Complaint) {
        guard answer["protocol"]?.integer == 1 else { throw Complaint(text: "hello: expected \"protocol\": 1") }
        guard let name = answer["name"]?.string, !name.isEmpty, let version = answer["version"]?.string else {
            throw Complaint(text: "hello: expected a \"name\" and a \"version\", both texts")
        }
        for (member, text) in [("name", name), ("version", version)] {
            let isPlain = text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f }
            guard isPlain, text.utf8.count <= 200 else {
                throw Complaint(
                    text: "hello: \"\(member)\" of \(text.utf8.count) bytes: expected a line of at most 200")
            }
        }
        guard let strategies = answer["strategies"]?.array?.compactMap(\.string),
            strategies.contains(where: Self.knownStrategies.contains)
        else {
            throw Complaint(
                text: "hello: expected \"strategies\" with one at least of "
                    + Self.knownStrategies.joined(separator: ", "))
        }
        guard let keyByteCounts = answer["keyByteCounts"]?.array?.compactMap(\.integer),
            keyByteCounts.contains(where: { Self.aesKeyByteCounts.contains($0) })
        else { throw Complaint(text: "hello: expected \"keyByteCounts\" with one at least of 16, 24, 32") }
        guard let sources = answer["sources"]?.array?.compactMap(\.string),
            sources.contains("served") || sources.contains("path")
        else { throw Complaint(text: "hello: expected \"sources\" with \"path\", \"served\" or both") }
        guard let granularity = answer["granularity"]?.string.flatMap(Granularity.init) else {
            throw Complaint(text: "hello: expected a \"granularity\" of block or chunk")
        }
        guard let measures = answer["measures"]?.bool else {
            throw Complaint(text: "hello: expected \"measures\", true or false")
        }
        self.name = name
        self.version = version
        self.strategies = strategies
        self.keyByteCounts = keyByteCounts
        self.isServed = sources.contains("served")
        self.readsPaths = sources.contains("path")
        self.granularity = granularity
        self.measures = measures
    }

    /// Whether it says that it can do what a group asks for.
    func supports(_ group: VectorGroup) -> Bool {
        guard group.playlist == nil else { return readsPlaylists }
        return supports(group.strategy, keyByteCount: group.key.byteCount)
    }

    /// Whether it says that it can do this.
    func supports(_ strategy: Strategy, keyByteCount: Int) -> Bool {
        strategies.contains(strategy.name)
            && keyByteCounts.contains(UInt64(strategy.chunkFormat?.cipherKeyByteCount ?? keyByteCount))
    }
}
