package import ByteSources
package import RandomAccess
package import Results
package import SubjectProtocol
package import Support
package import SystemPackage
import Vectors

/// An object for the measurement of cells: the way in which a subject opens it, and its expected plaintext.
package struct MeasuredObject: Sendable {
    /// The strategy of the ciphertext.
    package let strategy: Strategy
    /// The key. Subjects get it through a pipe, never in a command line.
    let key: SecretKey
    /// The plaintext's length in bytes.
    package let plaintextByteCount: UInt64
    /// The member `source` of an `open` request.
    let source: JSONValue
    let expected: any ExpectedPlaintext
    /// The playlist that a subject opens instead of the ciphertext as a whole; `nil` for strategies other than
    /// `hls-aes128`.
    var playlist: MeasuredPlaylist?
    /// The identity and version of a user's own object; `nil` for a generated one.
    package private(set) var input: String?

    /// The key's length in bytes.
    package var keyByteCount: Int { key.byteCount }

    /// The `open` request for this object, with the source of a cell.
    ///
    /// Only this program's subjects understand `remote`, `mapped` and `reads` in a source. Others ignore them.
    func openRequest(id: UInt64, cell: Cell) -> JSONValue {
        var members = membersWithoutSource(id: id)
        var source = playlist?.source(source) ?? source
        if let remoteObject = RemoteObject(source) { source = remoteObject.adopting(cell.connection).json }
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
    ///   - id: The number for the object in later requests.
    ///   - served: The result of ``servedSource()``, or `nil` for a file.
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

    /// True if the ciphertext is a file, which any subject may open by its path.
    package var isFile: Bool { source["path"] != nil }

    /// The ciphertext, for subjects that get it from the harness.
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
    /// The IV of generated objects: always the same bytes, of the format's IV length. The bytes of a block are
    /// distinct.
    package var measuredIV: [UInt8] {
        let block = Block(bigEndianValue: 0x0f1e_2d3c_4b5a_6978_8796_a5b4_c3d2_e1f0).bytes
        return (0..<(ivInput?.byteCounts?.first ?? Block.byteCount)).map { block[$0 % Block.byteCount] }
    }
}

extension Strategy {
    /// Parses the parameters of a format whose objects are generated. The IV is always the same unless the text has
    /// one.
    ///
    /// - Throws: The errors of `init(_:written:iv:)`.
    package init(measured format: Format, written text: Substring = "") throws(DecryptionError) {
        let isIVGiven = text.hasPrefix(":iv=") || text.contains(",iv=")
        try self.init(format, written: text, iv: isIVGiven ? nil : format.measuredIV)
    }

    /// Parses the text of a cell's strategy.
    ///
    /// - Throws: The errors of `init(text:iv:)`.
    package init(measured text: String) throws(DecryptionError) {
        let name = String(text.prefix { $0 != ":" })
        try self.init(measured: Format.measured(name), written: text.dropFirst(name.count))
    }
}

extension Cell {
    /// Sets the text of a strategy and the members that follow from it.
    package mutating func adopt(_ strategy: Strategy) {
        self.strategy = strategy.text
        (chunkByteCount, cipher) = (strategy.chunkByteCount, strategy.cipher.nameBesideAES)
        if strategy.format.derivedKeyInput != nil { keyByteCount = strategy.keyByteCounts[0] }
    }

    /// The reads of one iteration.
    ///
    /// - Throws: `DecryptionError.invalidParameter` for a cell that no plan can have.
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
    /// An object whose ciphertext is computed when it is read. It can have any length, and needs no storage.
    ///
    /// - Throws: `DecryptionError` if the strategy cannot have an object of this length.
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

    /// A user's own file. The oracle computes its expected plaintext.
    ///
    /// - Throws: `DecryptionError` if the file cannot be read, or its end does not match the strategy.
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

    /// A user's own object on a server. The oracle computes its expected plaintext.
    ///
    /// - Parameters:
    ///   - ciphertext: The object, open.
    ///   - remoteObject: The description with which subjects open it.
    ///   - strategy: The strategy of the ciphertext.
    ///   - key: The key.
    /// - Returns: The object.
    /// - Throws: `DecryptionError` if it cannot be read, or its end does not match the strategy.
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

    /// The identity of the object: its version, and the SHA-256 of the start of its plaintext, which changes with the
    /// key, the IV and the strategy.
    private func name(ofVersion version: String) throws(DecryptionError) -> String {
        let beginning = [Workload.Read(offset: 0, count: min(4096, plaintextByteCount))]
        return "\(version); plaintext begins with SHA-256 \(try expected.digest(of: .listed(beginning)))"
    }
}

/// The plaintext that the oracle computes from a ciphertext.
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
