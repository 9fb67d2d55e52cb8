/// A format, and values for its parameters.
public struct Strategy: Sendable {
    /// The format.
    public let format: Format
    /// The values of the format's inputs, but for the key.
    package let values: [String: Value]
    /// The bytes around an object.
    package private(set) var outer = OuterBytes()
    /// The facts that follow from the format and the values, before an object is seen; `nil` if they do not fit.
    private let knownShape: FormatShape?
    private let fault: DecryptionError?

    /// Makes a strategy; what is not given has the format's default.
    ///
    /// A value that the format does not take makes a strategy that ``validate()`` refuses.
    package init(_ format: Format, _ values: [String: Value] = [:]) {
        self.format = format
        var all = values
        for input in format.inputs where all[input.name] == nil { all[input.name] = input.defaultValue }
        self.values = all
        do throws(DecryptionError) {
            knownShape = try FormatShape(format, inputs: all)
            fault = nil
        } catch {
            (knownShape, fault) = (nil, error)
        }
    }

    /// A value of a parameter, by the kind that the format asks for.
    public enum Parameter: Hashable, Sendable {
        case integer(UInt64)
        case bytes([UInt8])
        case text(String)
    }

    /// Makes a strategy of a format that comes with the program, such as `Strategy("ctr", ["iv": .bytes(iv)])`.
    ///
    /// - Parameters:
    ///   - name: The format's name.
    ///   - parameters: Values by the names of the description's inputs; what is not given has the format's default.
    /// - Throws: `DecryptionError.unsupported` for an unknown name, `.invalidParameter`, `.invalidIV`.
    public init(_ name: String, _ parameters: [String: Parameter] = [:]) throws(DecryptionError) {
        let format = try Format.named(name)
        for name in parameters.keys where !format.inputs.contains(where: { $0.name == name }) {
            let known = format.inputs.map(\.name).joined(separator: ", ")
            throw .invalidParameter(name: "parameter", value: "\"\(name)\"", expected: known.isEmpty ? "none" : known)
        }
        self.init(
            format,
            parameters.mapValues { parameter in
                switch parameter {
                case .integer(let value): .integer(Int128(value))
                case .bytes(let bytes): .bytes(ByteString(bytes))
                case .text(let text): .text(text)
                }
            })
        try validate()
    }

    /// The format's name.
    public var name: String { format.name }

    /// Checks what the types do not: that the format can have these values.
    ///
    /// - Throws: `DecryptionError.invalidParameter`, `.invalidIV`, `.unsupported`.
    public func validate() throws(DecryptionError) { _ = try shape() }

    /// Works out what follows from the format and the values.
    func shape() throws(DecryptionError) -> FormatShape {
        guard let knownShape else { throw fault ?? .unsupported(name) }
        return knownShape
    }

    /// The cipher that the strategy needs of a backend, as far as it can be told without an object: what a writer takes
    /// of several; AES-CTR for one that is not valid.
    public var cipher: Cipher { knownShape?.usualCipher ?? .aesCTR }

    /// The cipher of all objects of the strategy; `nil` if only an object tells.
    package var knownCipher: Cipher? { knownShape?.knownCipher }

    /// The plaintext bytes of a full chunk, or `nil` where the whole file is one chunk.
    public var chunkByteCount: UInt64? {
        guard let geometry = geometry, geometry.chunkByteCount != .max else { return nil }
        return geometry.chunkByteCount
    }

    /// The places of chunks, if that can be told without an object; where a header has a choice, those of a writer
    /// here.
    package var geometry: Geometry? { knownShape?.usual?.geometry }

    /// Says whether a change of the ciphertext is noticed.
    public var isAuthenticated: Bool { knownShape?.usual?.isAuthenticated ?? cipher.isAuthenticated }

    /// Says whether chunks are decrypted from any block, and not each as a whole.
    package var isStreaming: Bool { knownShape?.usual?.isStreaming ?? cipher.isStreaming }

    /// The hash function of the code over each chunk's data; `nil` where there is none.
    package var hmac: HashFunction? { knownShape?.usual?.hmac }

    /// The padding, or `nil` where a format has none to choose or to lack.
    public var padding: Padding? { knownShape?.usual?.padding }

    /// A value by its name.
    package subscript(name: String) -> Value? { values[name] }

    /// The strategy of a format with some rules changed.
    package func changing(_ change: (inout Format.Rules) -> Void) -> Strategy {
        let changed = format.changing(change)
        return changed == format ? self : Strategy(changed, values).surrounded(by: outer)
    }

    /// The strategy with another value.
    package func replacing(_ name: String, with value: Value) -> Strategy {
        Strategy(format, values.merging([name: value]) { $1 }).surrounded(by: outer)
    }

    /// The strategy of objects with bytes around them.
    package func surrounded(by outer: OuterBytes) -> Strategy {
        var strategy = self
        strategy.outer = outer
        return strategy
    }

    /// Checks the key that an object is opened with.
    ///
    /// - Throws: `DecryptionError.invalidKeyMaterial`.
    package func check(_ key: SecretKey) throws(DecryptionError) {
        if let counts = format.keyByteCounts, !counts.contains(key.byteCount) {
            let expected = counts.map(String.init).joined(separator: " or ")
            throw .invalidKeyMaterial(byteCount: key.byteCount, expected: "\(expected), for \(name)")
        }
        let names = values.merging(["key": .bytes(ByteString(key))]) { $1 }
        for check in format.checks where check.error == .invalidKey {
            guard try check.holds(names, in: name) else {
                throw .invalidKeyMaterial(byteCount: key.byteCount, expected: check.expected)
            }
        }
    }
}

extension Strategy: Hashable {
    /// Says whether both have the same format and values.
    public static func == (left: Strategy, right: Strategy) -> Bool {
        left.format == right.format && left.values == right.values && left.outer == right.outer
    }

    /// Hashes the name, and the values.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(format)
        hasher.combine(values)
    }
}

extension ByteString {
    /// Copies a key.
    convenience init(_ key: SecretKey) {
        self.init(count: key.byteCount) { output in key.withUnsafeBytes { output.copyMemory(from: $0) } }
    }
}

/// The words that a format's `padding` knows.
public enum Padding: String, CaseIterable, Hashable, Sendable {
    /// 1 to 16 bytes, each of which holds their number. Source: RFC 5652, section 6.3.
    case pkcs7
    /// Nothing: only whole blocks can be held.
    case none
}
