import ArgumentParser
import ByteSources
import Glibc
import Measurement
import RandomAccess
import Results
import SubjectProtocol
import Support
import SystemPackage

/// The option `--strategy`: the layout of the ciphertext.
struct StrategyOptions: ParsableArguments {
    @Option(
        name: .customLong("strategy"),
        help: ArgumentHelp(
            """
            A format, from chunkwise format list or by the path of a description, with parameters, such as \
            cbc-chunked:chunk=16MB,iv-rule=fixed. For a file that is a list of pieces: hls-aes128 or pieces; for a \
            film with Common Encryption: film.
            """, valueName: "name[:parameter=value,...]"), completion: .strategies)
    var text = Format.usualName

    init() {}

    /// True unless the strategy is the usual one.
    var isGiven: Bool { text != Format.usualName }

    /// The word before the parameters: a name, or a path.
    var strategy: String { String(text.prefix { $0 != ":" }) }

    private var parameters: Substring { text.dropFirst(strategy.count) }

    /// The kind of list in the file; `nil` if the file is the object.
    var list: ListStrategy? { ListStrategy(rawValue: strategy) }

    /// True if the file is a playlist.
    var isPlaylist: Bool { list == .playlist }

    /// Returns whether the user has to give an IV: it is neither in the text nor at the start of the file.
    func needsIV() throws -> Bool {
        let format = try format()
        return try format.hasIV && values(of: format).values[Format.Input.ivName] == nil
    }

    /// The possible key lengths in bytes; `nil` for any.
    var keyByteCounts: [Int]? {
        // Pieces have formats of their own.
        get throws {
            switch list {
            case .pieces: nil
            case .film: ProtectedExtents.keyByteCounts
            case .playlist, nil: try format(isMeasured: true).keyByteCounts
            }
        }
    }

    /// The strategy with the given IV, or else with one that is found or drawn.
    ///
    /// - Parameters:
    ///   - options: The IV, if the user gives one. Refused if the strategy has no IV.
    ///   - key: The key, if the user gives one.
    ///   - other: Finds or draws an IV if the strategy needs one and the user gives none; returns `nil` if it has none.
    /// - Returns: The strategy.
    /// - Throws: `CommandFailure`, which names everything that is missing, including the key.
    func strategy(
        _ options: IVOptions, _ key: KeyOptions, or other: (Format.Input) throws -> [UInt8]?
    ) throws -> Strategy {
        let format = try format()
        var (values, outer) = try values(of: format)
        if let input = format.ivInput {
            if let iv = options.iv, values[input.name] != nil {
                throw CommandFailure(.usage, "--iv \(iv) beside --strategy \(text): expected one IV")
            }
            if values[input.name] == nil {
                values[input.name] = try options.value(of: input) ?? other(input).map { .bytes(ByteString($0)) }
            }
        } else if let iv = options.iv {
            throw CommandFailure(.usage, "--iv \(iv): expected none with the strategy \(strategy)")
        }
        return try made(format, values, outer, isKeyGiven: key.isGiven)
    }

    /// The strategy with the given IV, or else with a sample IV.
    func strategy(_ options: IVOptions) throws -> Strategy {
        let iv = try format().ivInput.flatMap { input in try options.value(of: input) }
        return try strategy(isMeasured: false) { _ in iv }
    }

    /// The strategy of a generated object that is measured. For a playlist, the strategy of one of its segments.
    func measuredStrategy() throws -> Strategy {
        let strategy = try strategy(isMeasured: true) { .bytes(ByteString($0.measuredIV)) }
        try require(strategy.outer.isEmpty, "--strategy \(text): expected nothing around an object that is made here")
        return strategy
    }

    private func strategy(isMeasured: Bool, _ iv: (Format) -> Value?) throws -> Strategy {
        let format = try format(isMeasured: isMeasured)
        var (values, outer) = try values(of: format)
        if let input = format.ivInput, values[input.name] == nil { values[input.name] = iv(format) ?? input.sample }
        return try made(format, values, outer, isKeyGiven: true)
    }

    /// The path of the description, if the strategy is that of the user's own.
    var descriptionPath: String? { FormatFiles.isPath(strategy) ? FormatFiles.parts(strategy).path : nil }

    /// Finds the format, or reads its description. With `isMeasured`, playlists are among the known formats.
    private func format(isMeasured: Bool = false) throws -> Format {
        if isMeasured, isPlaylist { return try attempt { try Format.measured(strategy) } }
        return try FormatFiles.format(strategy)
    }

    /// The given parameters. An IV at the start of the file is zeros until the file is opened.
    private func values(of format: Format) throws -> (values: [String: Value], outer: OuterBytes) {
        var (values, outer) = try usage { () throws(DecryptionError) in try format.values(writtenAs: parameters) }
        if outer.hasIVInFront { values[Format.Input.ivName] = .block(Block(bigEndianValue: 0)) }
        return (values, outer)
    }

    /// Makes the strategy, unless something is missing.
    private func made(
        _ format: Format, _ values: [String: Value], _ outer: OuterBytes, isKeyGiven: Bool
    ) throws -> Strategy {
        let missing = format.inputs.filter { $0.defaultValue == nil && values[$0.name] == nil }
        let iv = missing.first { $0.name == Format.Input.ivName }
        var names = missing.filter { $0 != iv }.map { ($0.optionName, $0.expectedFormat) }
        if let iv { names.append(("--iv", "\(IVFile.expectation(iv.byteCounts)) or a file NAME.iv")) }
        if !isKeyGiven { names.append(("--key-file", "the key's file")) }
        try require(
            names.isEmpty,
            "the strategy \(strategy) without \(names.map(\.0).joined(separator: ", ")): expected "
                + names.map(\.1).joined(separator: ", "))
        let strategy = Strategy(format, values).surrounded(by: outer)
        try usage { () throws(DecryptionError) in try strategy.validate() }
        return strategy
    }

    private func usage<Result>(_ body: () throws(DecryptionError) -> Result) throws -> Result {
        do throws(DecryptionError) {
            return try body()
        } catch {
            throw CommandFailure(.usage, "--strategy \(text): \(error)")
        }
    }

    /// Refuses parameters, for a strategy that has none.
    func refuseParameters() throws {
        try require(text == strategy, "--strategy \(text): expected no parameters with \(strategy), of this command")
    }
}

/// The option `--iv`.
struct IVOptions: ParsableArguments {
    @Option(
        help: .taking(
            "hex",
            """
            The IV in hexadecimal, of the strategy's length; for ctr, the initial counter block. (default: NAME.iv \
            beside the file NAME)
            """))
    var iv: String?

    init() {}

    /// The given IV as a value for the input of a format; `nil` if none is given.
    func value(of input: Format.Input) throws -> Value? {
        guard let iv else { return nil }
        if let value = input.value(writtenAs: iv) { return value }
        guard let bytes = Hexadecimal.decode(iv, allowsUpperCase: true) else {
            let digits = input.byteCounts.map { "\($0.map { $0 * 2 }.listed("or")) digits" }
            throw CommandFailure(
                .usage, "--iv \"\(iv)\" is not hexadecimal: expected \(digits ?? "an even number of digits")")
        }
        guard let counts = input.byteCounts, !counts.contains(bytes.count) else {
            throw CommandFailure(.usage, "--iv \"\(iv)\": expected \(input.expectation)")
        }
        throw CommandFailure(
            .usage,
            "--iv: the IV has \(bytes.count) bytes: expected \(counts.listed("or"))"
                + (counts == [Block.byteCount] ? Self.filling(bytes.count) : ""))
    }

    /// A hint on how to pad a shorter IV.
    private static func filling(_ byteCount: Int) -> String {
        switch byteCount {
        case 12: " (behind a nonce of 12, the counter: 00000000 in plain CTR, 00000002 for the data of GCM)"
        case 8: " (behind a nonce of 8, the counter: 0000000000000000)"
        case 1..<16: " (openssl enc fills up with zeros at the end)"
        default: ""
        }
    }

    /// The IV in the file beside an encrypted file; `nil` if there is no such file.
    static func bytes(beside file: String, of input: Format.Input) throws -> [UInt8]? {
        let path = IVFile.path(of: FilePath(file))
        guard access(path.string, F_OK) == 0 else {
            // A file that cannot be opened is reported later, after options that are missing.
            if let source = try? FileSource(path: FilePath(file)) {
                try attemptInput { try GivenCiphertext.requireNoSalt(source) }
            }
            return nil
        }
        return try attemptInput {
            try IVFile.iv(in: FileSource(path: path), named: path.string, byteCounts: input.byteCounts) {
                () throws(DecryptionError) in
                try FileSource(path: FilePath(file))
            }
        }
    }

    /// The IV in the file beside an encrypted file on a server.
    ///
    /// - Throws: `CommandFailure`, also if there is no such file.
    static func bytes(beside object: RemoteObject, of input: Format.Input) throws -> [UInt8] {
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
            try IVFile.iv(in: source, named: name, byteCounts: input.byteCounts) { () throws(DecryptionError) in
                guard let client = Network.client() else { throw .unsupported("HTTP") }
                return try client.open(object).source
            }
        }
    }
}
