import ArgumentParser
import BackendRegistry
import RandomAccess
import Support

/// The option `--backend` of commands that handle a user's data.
struct BackendOptions: ParsableArguments {
    @Option(
        name: .customLong("backend"),
        help:
            """
            The crypto library; see chunkwise backends. swift-reference is for comparisons only, and prints a warning. \
            (default: libgcrypt, or the first that has the strategy's cipher)
            """, completion: .backends)
    var name: String?

    private static let usualName = "libgcrypt"

    init() {}

    /// The backend for AES in CBC.
    func backend() throws -> any CipherBackend { try Validated.backend(name ?? Self.usualName) }

    /// The backend that the user names, or else one that has the cipher of a strategy.
    ///
    /// - Throws: `CommandFailure`, which names the backends that have the cipher.
    func backend(for strategy: Strategy, _ key: SecretKey) throws -> any CipherBackend {
        let backend = try Validated.backend(name ?? Self.usualName(for: strategy, keyByteCount: key.byteCount))
        try Self.check(backend, for: strategy, keyByteCount: key.byteCount)
        return backend
    }

    /// Refuses a backend that lacks the ciphers of a strategy.
    ///
    /// - Throws: `CommandFailure`, which names the backends that have them.
    static func check(_ backend: any CipherBackend, for strategy: Strategy, keyByteCount: Int?) throws {
        let ciphers = strategy.possibleCiphers
        let keyByteCount = keyByteCount.flatMap(strategy.cipherKeyByteCount)
        func hasOne(_ backend: any CipherBackend) -> Bool {
            ciphers.contains { backend.supports($0, keyByteCount: keyByteCount) }
        }
        // If no library takes the key's length, the key is wrong, not the backend.
        let isPossible = keyByteCount.map { count in ciphers.contains { $0.keyByteCounts.contains(count) } } ?? true
        guard isPossible, !ciphers.isEmpty, !hasOne(backend) else { return }
        let others = names(where: hasOne)
        let keys = keyByteCount.map { " with a key of \($0) bytes" } ?? ""
        let expected =
            others.isEmpty ? "a backend that this machine lacks" : "--backend \(others.listed("or"))"
        let error = DecryptionError.unsupported(
            "\(ciphers.map(\.rawValue).listed("or"))\(keys) in \(backend.nameAndVersion): "
                + "expected \(expected)")
        throw CommandFailure(.init(error), "\(error)")
    }

    /// The usual backend, or another one if only that has the ciphers of a strategy.
    static func usualName(for strategy: Strategy, keyByteCount: Int? = nil) -> String {
        let ciphers = strategy.possibleCiphers
        let keyByteCount = keyByteCount.flatMap(strategy.cipherKeyByteCount)
        func has(_ backend: any CipherBackend, _ ciphers: some Sequence<Cipher>) -> Bool {
            ciphers.allSatisfy { backend.supports($0, keyByteCount: keyByteCount) }
                && strategy.format.rules.sealedCiphers.allSatisfy { backend.supports($0) }
        }
        if let usual = try? BackendRegistry.backend(named: usualName), has(usual, ciphers) { return usualName }
        return names { has($0, ciphers) }.first ?? names { has($0, ciphers.prefix(1)) }.first ?? usualName
    }

    private static func names(where isOne: (any CipherBackend) -> Bool) -> [String] {
        BackendRegistry.entries.filter { (try? $0.make()).map(isOne) == true }.map(\.name)
    }
}

extension Strategy {
    /// The ciphers that an object may need. If only the object determines the cipher, these are all that the
    /// description names, first the one that a writer uses.
    var possibleCiphers: [Cipher] {
        if let knownCipher { return [knownCipher] }
        let named = format.cipher.expression.texts.compactMap(Cipher.init(rawValue:))
        return named.filter { $0 == cipher }.prefix(1) + named.filter { $0 != cipher }
    }

    /// Returns the given length in bytes if the given key is the cipher's key; `nil` if the format derives the cipher's
    /// key.
    fileprivate func cipherKeyByteCount(_ byteCount: Int) -> Int? {
        format.key.expression == .name("key") ? byteCount : nil
    }
}

extension Expression {
    /// The text constants that the expression may evaluate to.
    fileprivate var texts: [String] {
        switch self {
        case .bytes(let bytes): [bytes.text].compactMap(\.self)
        case .integer, .name, .not: []
        case .operation(_, let left, let right): left.texts + right.texts
        case .choice(_, let yes, let no): yes.texts + no.texts
        case .call(_, let arguments): arguments.flatMap(\.texts)
        }
    }
}
