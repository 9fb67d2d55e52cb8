import ArgumentParser
import JSON
import Measurement
import RandomAccess
import SubjectProtocol

/// How ciphertext is laid out.
struct StrategyOptions: ParsableArguments {
    @Option(help: "cbc-continuous, cbc-chunked or ctr.", completion: .strategies)
    var strategy = "cbc-continuous"

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

    /// The strategy with a given IV.
    func strategy(iv: Block) throws -> Strategy {
        guard Strategy.names.contains(strategy) else {
            throw CommandFailure(
                .usage, "unknown strategy \"\(strategy)\": expected one of \(Strategy.names.joined(separator: ", "))")
        }
        if strategy != "cbc-chunked" {
            try refuse(chunkSize.map { "\($0)" }, "--chunk-size")
            try refuse(ivRule, "--iv-rule")
        }
        if strategy == "ctr" {
            try refuse(padding, "--padding")
            return .ctr(iv: iv)
        }
        let padding: Padding = try choice(padding, "--padding", fallback: .pkcs7)
        guard strategy == "cbc-chunked" else { return .cbcContinuous(iv: iv, padding: padding) }
        guard let chunkSize else {
            throw CommandFailure(.usage, "cbc-chunked without --chunk-size: expected a size such as 16MB")
        }
        let made = Strategy.cbcChunked(
            chunkByteCount: chunkSize.byteCount, iv: iv, ivRule: try choice(ivRule, "--iv-rule", fallback: .sequence),
            padding: padding)
        try attempt("--chunk-size \(chunkSize)") { try made.validate() }
        return made
    }

    /// Refuses all parameters, for a strategy that has none.
    func refuseParameters() throws {
        try refuse(chunkSize.map { "\($0)" }, "--chunk-size")
        try refuse(ivRule, "--iv-rule")
        try refuse(padding, "--padding")
    }

    private func refuse(_ value: String?, _ name: String) throws {
        if let value { throw CommandFailure(.usage, "\(name) \(value): expected none with the strategy \(strategy)") }
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

    /// Reads the IV.
    func block() throws -> Block {
        guard let iv else { throw CommandFailure(.usage, "no IV: expected --iv with 32 hexadecimal digits") }
        guard let bytes = Hexadecimal.decode(iv, allowsUpperCase: true) else {
            throw CommandFailure(.usage, "--iv \"\(iv)\" is not hexadecimal: expected 32 digits")
        }
        return try attempt("--iv") { try Block(bytes) }
    }
}
