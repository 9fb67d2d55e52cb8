import ArgumentParser
import Measurement
import RandomAccess
import SubjectProtocol
import Support

/// How ciphertext is laid out.
struct StrategyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "cbc-continuous, cbc-chunked, ctr, cobblestone-128, cobblestone-256, tink-aes-gcm-hkdf or hls-aes128 "
                + "(not to encrypt)."),
        completion: .strategies)
    var strategy = Self.usualStrategy

    @Option(
        help: ArgumentHelp("Plaintext bytes of a chunk of cbc-chunked, such as 16MB.", valueName: "size"),
        completion: .sizes,
        transform: ByteSize.argument)
    var chunkSize: ByteSize?

    @Option(
        help: ArgumentHelp("How chunks get their IVs: fixed or sequence (IV + chunk number).", valueName: "rule"),
        completion: .list(IVRule.allCases.map(\.rawValue)))
    var ivRule: String?

    @Option(
        help: "What CBC's last block is filled up with: pkcs7 or none. (default: pkcs7)",
        completion: .list(Padding.allCases.map(\.rawValue)))
    var padding: String?

    @Option(help: ArgumentHelp("What a Cobblestone object is bound to, in hexadecimal.", valueName: "hex"))
    var context: String?

    @Option(help: ArgumentHelp("What a Tink object is bound to, in hexadecimal.", valueName: "hex"))
    var associatedData: String?

    @Option(
        help: ArgumentHelp(
            """
            Ciphertext bytes of a Tink segment: 4KiB or 1MiB in Tink's templates; plaintext bytes of an HLS segment \
            that is measured. (default: 4KiB, or 1MiB)
            """,
            valueName: "size"),
        transform: ByteSize.argument)
    var segmentSize: ByteSize?

    @Option(help: ArgumentHelp("Bits of the key that Tink derives: 128 or 256. (default: 256)", valueName: "bits"))
    var derivedKeySize: Int?

    private static let usualStrategy = "cbc-continuous"

    init() {}

    /// Whether one of the options is there.
    var isGiven: Bool {
        strategy != Self.usualStrategy || chunkSize != nil || ivRule != nil || padding != nil || context != nil
            || associatedData != nil || segmentSize != nil || derivedKeySize != nil
    }

    /// The strategy with the IV that is given, which has to be given where there is one, and only there.
    func strategy(_ options: IVOptions) throws -> Strategy {
        let made = try strategy(iv: options.block())
        guard made.chunkFormat == nil || options.iv == nil else { throw refusal("--iv", options.iv ?? "") }
        return made
    }

    /// The strategy with the IV that goes with it, which is only asked for where there is one.
    func strategy(iv: @autoclosure () throws -> Block) throws -> Strategy {
        guard let known = StrategyParameters.parameters(of: strategy) else {
            throw CommandFailure(
                .usage, "unknown strategy \"\(strategy)\": expected one of \(Strategy.names.joined(separator: ", "))")
        }
        try refuse(allBut: known)
        var parameters = StrategyParameters(name: strategy)
        if known.contains(.iv) { parameters.iv = try iv().bytes }
        parameters.padding = try choice(padding, "--padding", fallback: .pkcs7)
        parameters.ivRule = try choice(ivRule, "--iv-rule", fallback: .sequence)
        parameters.chunkByteCount = chunkSize?.byteCount
        parameters.context = try bytes(context, "--context")
        parameters.associatedData = try bytes(associatedData, "--associated-data")
        parameters.segmentByteCount = segmentSize?.byteCount ?? 4096
        let bits = derivedKeySize ?? 256
        guard bits == 128 || bits == 256 else {
            throw CommandFailure(.usage, "--derived-key-size \(bits): expected 128 or 256")
        }
        parameters.derivedKeyByteCount = bits / 8
        guard !known.contains(.chunkByteCount) || chunkSize != nil else {
            throw CommandFailure(.usage, "\(strategy) without --chunk-size: expected a size such as 16MB")
        }
        guard let chunkSize else { return try attempt { try parameters.strategy() } }
        return try attempt("--chunk-size \(chunkSize)") { try parameters.strategy() }
    }

    /// Whether the strategy is `hls-aes128`, which is no ``Strategy``: its parameters stand in the playlist.
    var isPlaylist: Bool { strategy == PlaylistRequest.strategyName }

    /// The plaintext bytes of a segment of `hls-aes128`; what belongs to another strategy is refused.
    func playlistSegmentByteCount() throws -> UInt64 {
        try refuse(allBut: [.segmentByteCount])
        let size = segmentSize ?? ByteSize(1 << 20)
        guard (1 << 10...1 << 32).contains(size.byteCount) else {
            throw CommandFailure(.usage, "--segment-size \(size): expected 1KiB to 4GiB")
        }
        return size.byteCount
    }

    private func bytes(_ text: String?, _ name: String) throws -> [UInt8] {
        guard let text else { return [] }
        guard let bytes = Hexadecimal.decode(text, allowsUpperCase: true) else {
            throw CommandFailure(.usage, "\(name) \"\(text)\" is not hexadecimal: expected an even number of digits")
        }
        return bytes
    }

    /// Refuses all parameters, for a strategy that has none.
    func refuseParameters() throws { try refuse(allBut: []) }

    /// Refuses what is given and is none of some parameters.
    private func refuse(allBut parameters: [StrategyParameters.Parameter]) throws {
        let options: [(StrategyParameters.Parameter, String, String?)] = [
            (.chunkByteCount, "--chunk-size", chunkSize?.description), (.ivRule, "--iv-rule", ivRule),
            (.padding, "--padding", padding), (.context, "--context", context),
            (.associatedData, "--associated-data", associatedData),
            (.segmentByteCount, "--segment-size", segmentSize?.description),
            (.derivedKeyByteCount, "--derived-key-size", derivedKeySize?.description),
        ]
        for case (let parameter, let option, let value?) in options where !parameters.contains(parameter) {
            throw refusal(option, value)
        }
    }

    private func refusal(_ option: String, _ value: String) -> CommandFailure {
        CommandFailure(.usage, "\(option) \(value): expected none with the strategy \(strategy)")
    }

    private func choice<Value: RawRepresentable & CaseIterable>(
        _ text: String?, _ name: String, fallback: Value
    ) throws -> Value where Value.RawValue == String {
        guard let text else { return fallback }
        guard let value = Value(rawValue: text) else {
            let known = Value.allCases.map(\.rawValue).joined(separator: " or ")
            throw CommandFailure(.usage, "\(name) \"\(text)\": expected \(known)")
        }
        return value
    }
}

/// The option `--iv`.
struct IVOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The IV, or the initial counter block of ctr: 32 hexadecimal digits.", valueName: "hex"))
    var iv: String?

    init() {}

    /// Reads the IV.
    func block() throws -> Block {
        guard let iv else { throw CommandFailure(.usage, "no IV: expected --iv with 32 hexadecimal digits") }
        guard let bytes = Hexadecimal.decode(iv, allowsUpperCase: true) else {
            throw CommandFailure(.usage, "--iv \"\(iv)\" is not hexadecimal: expected 32 digits")
        }
        return try attempt("--iv") { try Block(bytes) }
    }
}
