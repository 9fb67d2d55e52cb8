import BackendRegistry
import ByteSources
import Testing

@testable import RandomAccess

/// Tests of objects that a description says.
protocol ObjectDescribing {}

extension ObjectDescribing {
    static func strategy(_ text: String, _ values: [String: Value] = [:]) throws -> Strategy {
        let members = text.split(separator: "\n").map { "  \($0)\n" }.joined()
        let format = try #require(try Format.read(Array(("mine:\n" + members).utf8)).first)
        return Strategy(format, values)
    }

    static func key(_ strategy: Strategy) throws -> SecretKey {
        let count = strategy.format.keyByteCounts?.first ?? 32
        return try SecretKey(material: (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) })
    }

    static func backend(_ strategy: Strategy) throws -> any CipherBackend {
        let names = BackendRegistry.availableNames(having: strategy.cipher)
        return try BackendRegistry.backend(named: try #require(names.first))
    }

    static func plaintext(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) } }

    static func encrypt(_ plaintext: [UInt8], _ strategy: Strategy) throws -> [UInt8] {
        let encryptor = try ObjectEncryptor(
            strategy: strategy, backend: try Self.backend(strategy), key: key(strategy),
            windowByteCount: 48)
        var ciphertext: [UInt8] = []
        try plaintext.withUnsafeBytes { try encryptor.append($0) { ciphertext += $0 } }
        try encryptor.finish { ciphertext += $0 }
        return ciphertext
    }

    static func decrypt(_ ciphertext: [UInt8], _ strategy: Strategy) throws -> [UInt8] {
        let object = try EncryptedObject(
            source: MemorySource(ciphertext), strategy: strategy,
            backend: try Self.backend(strategy), key: key(strategy))
        return try object.makeCursor(windowByteCount: 32).read(at: 0, count: ciphertext.count + 1)
    }

    static func name(_ body: () throws -> some Any) -> String {
        do {
            _ = try body()
            return "none"
        } catch let error as DecryptionError {
            return error.protocolName
        } catch {
            return "\(error)"
        }
    }
}
