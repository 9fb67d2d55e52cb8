package import ByteSources
package import RandomAccess
package import Results
package import SubjectProtocol
package import Support
package import SystemPackage
import Vectors

/// An object that cells are measured on: how a subject opens it, and what its plaintext must be.
package struct MeasuredObject: Sendable {
    /// How the ciphertext is laid out.
    package let strategy: Strategy
    /// The plaintext's length in bytes.
    package let plaintextByteCount: UInt64

    let key: SecretKey
    let source: JSONValue
    let expected: any ExpectedPlaintext
    /// What is opened instead of the ciphertext as a whole; `nil` for any strategy but `hls-aes128`.
    var playlist: MeasuredPlaylist?
    /// Which version of which object of the user's it is; `nil` for one that is made.
    package private(set) var input: String?

    /// Describes an object.
    ///
    /// - Parameters:
    ///   - strategy: How the ciphertext is laid out.
    ///   - key: The key; it reaches subjects through a pipe, never by a command line.
    ///   - plaintextByteCount: The plaintext's length.
    ///   - source: The member `source` of an `open` request.
    ///   - expected: The plaintext.
    package init(
        strategy: Strategy, key: SecretKey, plaintextByteCount: UInt64, source: JSONValue,
        expected: any ExpectedPlaintext
    ) {
        self.strategy = strategy
        self.key = key
        self.plaintextByteCount = plaintextByteCount
        self.source = source
        self.expected = expected
    }

    /// The key's length in bytes.
    package var keyByteCount: Int { key.byteCount }

    /// The `open` request for this object, as a cell has it.
    ///
    /// Only this program's subjects know what `remote`, `mapped` and `reads` in a source mean; others ignore them.
    func openRequest(id: UInt64, cell: Cell) -> JSONValue {
        var members = membersWithoutSource(id: id)
        var source = playlist?.source(source) ?? source
        if let remoteObject = RemoteObject(source) { source = remoteObject.adopting(cell.source).json }
        members["source"] = source
        if case .object(var description) = source, cell.source == ObjectKind.mmap.rawValue {
            description["mapped"] = true
            members["source"] = .object(description)
        }
        if case .object(var description) = source, ObjectKind(of: cell)?.isDirect == true {
            description["reads"] = .string(cell.source)
            (source, members["source"]) = (.object(description), .object(description))
        }
        if case .object(var description) = source, let latency = cell.remoteLatencyNanoseconds {
            description["remote"] = [
                "latencyNanoseconds": .integer(latency), "bytesPerSecond": JSONValue(cell.remoteBytesPerSecond),
                "client": JSONValue(cell.remoteClient),
            ]
            members["source"] = .object(description)
        }
        return .object(members)
    }

    private func membersWithoutSource(id: UInt64) -> [String: JSONValue] {
        var members = strategy.protocolMembers
        members["key"] = .string(key.withUnsafeBytes { Hexadecimal.encode($0) })
        if let playlist { members = playlist.members(key: key) }
        members["op"] = "open"
        members["id"] = .integer(id)
        return members
    }

    /// The `open` request for this object in any subject: a file by its path, or a source that the harness serves.
    ///
    /// - Parameters:
    ///   - id: The number that the subject is to know it by.
    ///   - served: What ``servedSource()`` returned, or `nil` for a file.
    /// - Returns: The request.
    package func openRequest(id: UInt64, served: (any ByteSource)?) -> JSONValue {
        var members = membersWithoutSource(id: id)
        let description = playlist?.source(source) ?? source
        members["source"] =
            served.map { served in
                let byteCount = JSONValue.integer(served.byteCount)
                return playlist.map { ["byteCounts": [$0.resource: byteCount]] } ?? ["byteCount": byteCount]
            } ?? description
        return .object(members)
    }

    /// Whether the ciphertext is a file, which any subject may open by its path.
    package var isFile: Bool { source["path"] != nil }

    /// The ciphertext, for subjects that are served.
    ///
    /// - Throws: `DecryptionError` if it cannot be opened.
    package func servedSource() throws(DecryptionError) -> any ByteSource {
        if let path = source["path"]?.string { return try FileSource(path: FilePath(path)) }
        return try GeneratedObject(
            strategy: strategy, key: key, plaintextByteCount: plaintextByteCount,
            seed: source["generated"]?["seed"]?.integer ?? 1
        ).source
    }
}

extension Format {
    /// The IV of objects that are made to be measured: always the same, different bytes, of the length that it has.
    package var measuredIV: [UInt8] {
        let block = Block(bigEndianValue: 0x0f1e_2d3c_4b5a_6978_8796_a5b4_c3d2_e1f0).bytes
        return (0..<(ivInput?.byteCounts?.first ?? Block.byteCount)).map { block[$0 % Block.byteCount] }
    }
}

extension Strategy {
    /// Reads the parameters of a format whose objects are made to be measured: their IV is always the same.
    ///
    /// - Throws: As `init(_:written:iv:)`.
    package init(measured format: Format, written text: Substring = "") throws(DecryptionError) {
        let isIVGiven = text.hasPrefix(":iv=") || text.contains(",iv=")
        try self.init(format, written: text, iv: isIVGiven ? nil : format.measuredIV)
    }

    /// Reads the text of a cell's strategy.
    ///
    /// - Throws: As `init(text:iv:)`.
    package init(measured text: String) throws(DecryptionError) {
        let name = String(text.prefix { $0 != ":" })
        try self.init(measured: Format.measured(name), written: text.dropFirst(name.count))
    }
}

extension Cell {
    /// Takes over the text of a strategy and the figures that follow from it.
    package mutating func adopt(_ strategy: Strategy) {
        self.strategy = strategy.text
        (chunkByteCount, cipher) = (strategy.chunkByteCount, strategy.cipher.nameBesideAES)
        if strategy.format.derivedKeyInput != nil { keyByteCount = strategy.keyByteCounts[0] }
    }

    /// The reads of one iteration.
    ///
    /// - Throws: `DecryptionError.invalidParameter` for a cell that no plan makes.
    package func workload(seed: UInt64, traces: [String: PlayerTrace]) throws(DecryptionError) -> Workload {
        switch CellWorkload(workload) {
        case .sequential: return .sequential(windowByteCount: windowByteCount)
        case .random(let rangeByteCount):
            let count = UInt64(readCount ?? CellWorkload.defaultReadCount)
            return .random(rangeByteCount: rangeByteCount, seed: seed, readCount: count)
        case .trace(let name):
            let reads = traces[name]?.reads(objectByteCount: objectByteCount, windowByteCount: windowByteCount)
            guard let reads else {
                throw .invalidParameter(name: "workload", value: workload, expected: "a trace within the object")
            }
            return .trace(reads)
        case nil:
            throw .invalidParameter(name: "workload", value: workload, expected: CellWorkload.expectation)
        }
    }
}

extension MeasuredObject {
    /// An object that is computed where it is read: any length, at no cost.
    ///
    /// - Throws: `DecryptionError` if no object can have this length.
    static func generated(
        strategy: Strategy, key: SecretKey, plaintextByteCount: UInt64
    ) throws(DecryptionError) -> MeasuredObject {
        let seed: UInt64 = 1
        let object = try GeneratedObject(
            strategy: strategy, key: key, plaintextByteCount: plaintextByteCount, seed: seed)
        return MeasuredObject(
            strategy: strategy, key: key, plaintextByteCount: plaintextByteCount,
            source: ["generated": ["plaintextByteCount": .integer(plaintextByteCount), "seed": .integer(seed)]],
            expected: OraclePlaintext(
                oracle: object.oracle, ciphertext: object.source, plaintextByteCount: plaintextByteCount))
    }

    /// A file of the user's. What its plaintext must be, the oracle works out.
    ///
    /// - Throws: `DecryptionError` if the file cannot be read, or does not end as the strategy says.
    package static func file(
        _ path: FilePath, strategy: Strategy, key: SecretKey
    ) throws(DecryptionError) -> MeasuredObject {
        let source = try FileSource(path: path)
        let oracle = Oracle(strategy: strategy, key: key)
        let plaintextByteCount = try oracle.plaintextByteCount(of: source)
        var object = MeasuredObject(
            strategy: strategy, key: key, plaintextByteCount: plaintextByteCount,
            source: ["path": .string(path.string)],
            expected: OraclePlaintext(oracle: oracle, ciphertext: source, plaintextByteCount: plaintextByteCount))
        object.input = try object.name(ofVersion: source.openedVersion)
        return object
    }

    /// An object of the user's on a server. What its plaintext must be, the oracle works out.
    ///
    /// - Parameters:
    ///   - ciphertext: The object, open.
    ///   - remoteObject: How subjects open it.
    ///   - strategy: How the ciphertext is laid out.
    ///   - key: The key.
    /// - Returns: The object.
    /// - Throws: `DecryptionError` if it cannot be read, or does not end as the strategy says.
    package static func served(
        _ ciphertext: any ByteSource, at remoteObject: RemoteObject, strategy: Strategy, key: SecretKey
    ) throws(DecryptionError) -> MeasuredObject {
        let oracle = Oracle(strategy: strategy, key: key)
        let plaintextByteCount = try oracle.plaintextByteCount(of: ciphertext)
        var object = MeasuredObject(
            strategy: strategy, key: key, plaintextByteCount: plaintextByteCount, source: remoteObject.json,
            expected: OraclePlaintext(oracle: oracle, ciphertext: ciphertext, plaintextByteCount: plaintextByteCount))
        object.input = try object.name(ofVersion: ciphertext.openedVersion)
        return object
    }

    /// The facts that tell the object from others: its version, and SHA-256 of how its plaintext begins, which another key, IV
    /// or strategy changes.
    private func name(ofVersion version: String) throws(DecryptionError) -> String {
        let beginning = [Workload.Read(offset: 0, count: min(4096, plaintextByteCount))]
        return "\(version); plaintext begins with SHA-256 \(try expected.digest(of: .listed(beginning)))"
    }
}

/// What the oracle says that a ciphertext decrypts to.
struct OraclePlaintext: ExpectedPlaintext {
    let oracle: Oracle
    let ciphertext: any ByteSource
    let plaintextByteCount: UInt64

    func fill(_ buffer: UnsafeMutableRawBufferPointer, from offset: UInt64) throws(DecryptionError) {
        try oracle.decrypt(
            ciphertext: ciphertext, plaintextByteCount: plaintextByteCount,
            range: offset..<offset + UInt64(buffer.count), into: buffer)
    }
}
