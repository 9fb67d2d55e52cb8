import ArgumentParser
import ByteSources
import Glibc
import Measurement
import RandomAccess
import SubjectProtocol
import Support
import SystemPackage

/// How ciphertext is laid out.
struct StrategyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("\(StrategyParameters.textNames.joined(separator: ", ")) (not to encrypt)."),
        completion: .strategies)
    var strategy = Self.usualStrategy

    @Option(
        help: .taking("size", "Plaintext bytes of a chunk of cbc-chunked, such as 16MB."),
        completion: .sizes)
    var chunkSize: String?

    @Option(
        help: .taking(
            "rule", "How chunks get their IVs: fixed or sequence (IV + chunk number). (default: \(Self.usual(.ivRule)))"
        ),
        completion: .list(IVRule.allCases.map(\.rawValue)))
    var ivRule: String?

    @Option(
        help: "What CBC's last block is filled up with: pkcs7 or none. (default: \(Self.usual(.padding)))",
        completion: .list(Padding.allCases.map(\.rawValue)))
    var padding: String?

    @Option(help: .taking("hex", "What a Cobblestone object is bound to, in hexadecimal."))
    var context: String?

    @Option(help: .taking("hex", "What a Tink object is bound to, in hexadecimal."))
    var associatedData: String?

    @Option(
        help: ArgumentHelp(
            """
            Ciphertext bytes of a Tink segment: 4KiB or 1MiB in Tink's templates; plaintext bytes of an HLS segment \
            that is measured. (default: \(Self.usual(.segmentByteCount)), or \
            \(Self.usual(.segmentByteCount, PlaylistRequest.strategyName)))
            """,
            valueName: "size"), completion: .sizes)
    var segmentSize: String?

    @Option(
        help: .taking(
            "bits", "Bits of the key that Tink derives: 128 or 256. (default: \(Self.usual(.derivedKeyByteCount)))"))
    var derivedKeySize: String?

    private static let usualStrategy = "cbc-continuous"

    init() {}

    private static func usual(_ parameter: StrategyParameters.Parameter, _ strategy: String = "") -> String {
        StrategyParameters.usualText(of: parameter, in: strategy) ?? ""
    }

    /// What is given, by parameter.
    private var texts: [StrategyParameters.Parameter: String] {
        let options: [(StrategyParameters.Parameter, String?)] = [
            (.chunkByteCount, chunkSize), (.ivRule, ivRule), (.padding, padding), (.context, context),
            (.associatedData, associatedData), (.segmentByteCount, segmentSize), (.derivedKeyByteCount, derivedKeySize),
        ]
        return Dictionary(uniqueKeysWithValues: options.compactMap { parameter, text in text.map { (parameter, $0) } })
    }

    /// Whether one of the options is there.
    var isGiven: Bool { strategy != Self.usualStrategy || !texts.isEmpty }

    /// Whether the strategy is `hls-aes128`, which is no ``Strategy``: its parameters stand in the playlist.
    var isPlaylist: Bool { strategy == PlaylistRequest.strategyName }

    /// The strategy with the IV that is given, or else found or drawn.
    ///
    /// - Parameters:
    ///   - options: The IV, if it is given; expected only where the strategy has one.
    ///   - key: The key, if it is given.
    ///   - other: Finds or draws an IV where none is given and there has to be one; `nil` if there is none.
    /// - Returns: The strategy.
    /// - Throws: `CommandFailure`, which names all that is missing, the key included.
    func strategy(_ options: IVOptions, _ key: KeyOptions, or other: () throws -> Block?) throws -> Strategy {
        var parameters = try parametersOfObject()
        if hasIV {
            parameters.iv = try (options.block() ?? other())?.bytes
        } else if let iv = options.iv {
            throw refusal("--iv", iv)
        }
        try require(parameters, [], isKeyGiven: key.isGiven)
        return try made(parameters)
    }

    /// An IV has to stand beside the ciphertext.
    var hasIV: Bool { StrategyParameters.parameters(of: strategy)?.contains(.iv) == true }

    /// The strategy with an IV that has no use where there is none.
    func strategy(iv: Block) throws -> Strategy {
        var parameters = try parametersOfObject()
        try require(parameters, [.iv], isKeyGiven: true)
        parameters.iv = iv.bytes
        return try made(parameters)
    }

    /// The parameters of an object that is made here and measured; a playlist, too.
    func measuredParameters() throws -> StrategyParameters {
        var parameters = try parameters(StrategyParameters.textParameters(of: strategy), StrategyParameters.textNames)
        try require(parameters, [.iv], isKeyGiven: true)
        parameters.iv = Block(bigEndianValue: 0).bytes
        if !isPlaylist { _ = try made(parameters) }
        return parameters
    }

    private func parametersOfObject() throws -> StrategyParameters {
        try parameters(StrategyParameters.parameters(of: strategy), Strategy.names)
    }

    private func parameters(
        _ known: [StrategyParameters.Parameter]?, _ names: [String]
    ) throws -> StrategyParameters {
        guard let known else {
            throw CommandFailure(
                .usage, "unknown strategy \"\(strategy)\": expected one of \(names.joined(separator: ", "))")
        }
        try refuse(allBut: known)
        var parameters = StrategyParameters(name: strategy)
        for parameter in known {
            let text = texts[parameter] ?? StrategyParameters.usualText(of: parameter, in: strategy)
            guard let text, !parameters.read(text, for: parameter) else { continue }
            let expected = StrategyParameters.textExpectation(of: parameter, in: strategy)
            throw CommandFailure(.usage, "--\(parameter.textName) \"\(text)\": expected \(expected)")
        }
        return parameters
    }

    /// Checks that nothing is missing.
    private func require(
        _ parameters: StrategyParameters, _ present: Set<StrategyParameters.Parameter>, isKeyGiven: Bool
    ) throws {
        let known = StrategyParameters.textParameters(of: strategy) ?? []
        var missing = (known.filter { $0 != .iv } + known.filter { $0 == .iv })
            .filter { !parameters.has($0) && !present.contains($0) }
            .map { ("--" + $0.textName, StrategyParameters.textExpectation(of: $0, in: strategy)) }
        if !isKeyGiven { missing.append(("--key-file", "the key's file")) }
        guard !missing.isEmpty else { return }
        throw CommandFailure(
            .usage,
            "the strategy \(strategy) without \(missing.map(\.0).joined(separator: ", ")): expected "
                + missing.map(\.1).joined(separator: ", "))
    }

    private func made(_ parameters: StrategyParameters) throws -> Strategy {
        let texts = texts
        let length = [StrategyParameters.Parameter.chunkByteCount, .segmentByteCount].lazy.compactMap { parameter in
            texts[parameter].map { "--\(parameter.textName) \($0)" }
        }.first
        return try attempt(length) { try parameters.strategy() }
    }

    /// Refuses all parameters, for a strategy that has none.
    func refuseParameters() throws { try refuse(allBut: []) }

    /// Refuses what is given and is none of some parameters.
    private func refuse(allBut parameters: [StrategyParameters.Parameter]) throws {
        let texts = texts
        for parameter in StrategyParameters.Parameter.allCases where !parameters.contains(parameter) {
            guard let text = texts[parameter] else { continue }
            let isSegment = parameter == .chunkByteCount && parameters.contains(.segmentByteCount)
            throw refusal("--" + parameter.textName, text, isSegment ? ", which has --segment-size" : "")
        }
    }

    private func refusal(_ option: String, _ value: String, _ hint: String = "") -> CommandFailure {
        CommandFailure(.usage, "\(option) \(value): expected none with the strategy \(strategy)\(hint)")
    }
}

/// The option `--iv`.
struct IVOptions: ParsableArguments {
    @Option(
        help: .taking(
            "hex",
            "The IV, or the initial counter block of ctr: 32 hexadecimal digits. (default: NAME.iv beside the file NAME)"
        ))
    var iv: String?

    init() {}

    /// The IV that is given, if there is one.
    func block() throws -> Block? {
        guard let iv else { return nil }
        guard let bytes = Hexadecimal.decode(iv, allowsUpperCase: true) else {
            throw CommandFailure(.usage, "--iv \"\(iv)\" is not hexadecimal: expected 32 digits")
        }
        guard bytes.count == Block.byteCount else {
            throw CommandFailure(
                .usage, "--iv: \(DecryptionError.invalidIV(byteCount: bytes.count))\(Self.filling(bytes.count))")
        }
        return try attempt("--iv") { try Block(bytes) }
    }

    /// Says what shorter IVs are filled up with.
    private static func filling(_ byteCount: Int) -> String {
        switch byteCount {
        case 12: " (behind a nonce of 12, the counter: 00000000 in plain CTR, 00000002 for the data of GCM)"
        case 8: " (behind a nonce of 8, the counter: 0000000000000000)"
        case 1..<16: " (openssl enc fills up with zeros at the end)"
        default: ""
        }
    }

    /// The IV in the file beside an encrypted file; `nil` if there is no such file.
    static func block(beside file: String) throws -> Block? {
        let path = IVFile.path(of: FilePath(file))
        guard access(path.string, F_OK) == 0 else { return nil }
        return try attemptInput {
            try IVFile.iv(in: FileSource(path: path), named: path.string) { () throws(DecryptionError) in
                try FileSource(path: FilePath(file))
            }
        }
    }

    /// The IV in the file beside an encrypted file on a server.
    ///
    /// - Throws: `CommandFailure`, also if there is no such file.
    static func block(beside object: RemoteObject) throws -> Block {
        var file = object
        file.url = IVFile.url(of: object.url)
        let source: any ByteSource
        do {
            source = try Network.open(file)
        } catch let failure as CommandFailure {
            throw CommandFailure(failure.code, "no --iv, and \(failure.message)")
        }
        let name = URLText.redacted(file.url)
        return try attempt {
            try IVFile.iv(in: source, named: name) { () throws(DecryptionError) in
                guard let client = Network.client() else { throw .unsupported("HTTP") }
                return try client.open(object).source
            }
        }
    }
}
