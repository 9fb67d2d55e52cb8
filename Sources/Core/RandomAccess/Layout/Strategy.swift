/// A format, and values for its parameters.
public struct Strategy: Sendable {
    /// The format.
    public let format: Format
    /// The values of the format's inputs, without the key.
    package let values: [String: Value]
    /// The bytes around an object.
    package private(set) var outer = OuterBytes()
    /// The facts that are known before an object is opened; `nil` if the values are invalid for the format.
    private let knownShape: FormatShape?
    private let fault: DecryptionError?

    /// A strategy of a format; missing values are the format's defaults.
    ///
    /// With a value that the format does not accept, ``validate()`` throws.
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

    /// A value of a parameter, of the kind that the format expects.
    public enum Parameter: Hashable, Sendable {
        case integer(UInt64)
        case bytes([UInt8])
        case text(String)
    }

    /// A strategy of a format that comes with the program, such as `Strategy("ctr", ["iv": .bytes(iv)])`.
    ///
    /// - Parameters:
    ///   - name: The format's name.
    ///   - parameters: Values by the names of the description's inputs; missing ones are the format's defaults.
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

    /// Checks that the format accepts the values.
    ///
    /// - Throws: `DecryptionError.invalidParameter`, `.invalidIV`, `.unsupported`.
    public func validate() throws(DecryptionError) { _ = try shape() }

    /// Returns the facts that follow from the format and the values.
    func shape() throws(DecryptionError) -> FormatShape {
        guard let knownShape else { throw fault ?? .unsupported(name) }
        return knownShape
    }

    /// The cipher that the strategy needs of a backend. If it depends on the object, it is the writer's choice; if the
    /// strategy is invalid, it is AES-CTR.
    public var cipher: Cipher { knownShape?.usualCipher ?? .aesCTR }

    /// The cipher of all objects of the strategy; `nil` if it depends on the object.
    package var knownCipher: Cipher? { knownShape?.knownCipher }

    /// The plaintext length of a full chunk in bytes; `nil` if the whole file is one chunk.
    public var chunkByteCount: UInt64? {
        guard let geometry = geometry, geometry.chunkByteCount != .max else { return nil }
        return geometry.chunkByteCount
    }

    /// The positions of chunks, if they do not depend on the object; if a header decides, those of a writer here.
    package var geometry: Geometry? { knownShape?.usual?.geometry }

    /// True if a reader detects a change of the ciphertext.
    public var isAuthenticated: Bool { knownShape?.usual?.isAuthenticated ?? cipher.isAuthenticated }

    /// True if decryption can start at any block; false if each chunk is decrypted as a whole.
    package var isStreaming: Bool { knownShape?.usual?.isStreaming ?? cipher.isStreaming }

    /// The hash function of the code over each chunk's data; `nil` if there is none.
    package var hmac: HashFunction? { knownShape?.usual?.hmac }

    /// The padding; `nil` if the format has no such choice.
    public var padding: Padding? { knownShape?.usual?.padding }

    /// Returns a value by its name.
    package subscript(name: String) -> Value? { values[name] }

    /// Returns the strategy with some rules of its format changed.
    package func changing(_ change: (inout Format.Rules) -> Void) -> Strategy {
        let changed = format.changing(change)
        return changed == format ? self : Strategy(changed, values).surrounded(by: outer)
    }

    /// Returns the strategy with one value replaced.
    package func replacing(_ name: String, with value: Value) -> Strategy {
        Strategy(format, values.merging([name: value]) { $1 }).surrounded(by: outer)
    }

    /// Returns the strategy for objects with bytes around them.
    package func surrounded(by outer: OuterBytes) -> Strategy {
        var strategy = self
        strategy.outer = outer
        return strategy
    }

    /// Checks the key for opening an object.
    ///
    /// - Throws: `DecryptionError.invalidKeyMaterial`.
    package func check(_ key: SecretKey) throws(DecryptionError) {
        if let counts = format.keyByteCounts, !counts.contains(key.byteCount) {
            throw .invalidKeyMaterial(byteCount: key.byteCount, expected: "\(counts.listed), for \(name)")
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
    /// Returns whether both have the same format, values and outer bytes.
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
    /// Copies the bytes of a key.
    convenience init(_ key: SecretKey) {
        self.init(count: key.byteCount) { output in key.withUnsafeBytes { output.copyMemory(from: $0) } }
    }
}

/// The words for a format's `padding`.
public enum Padding: String, CaseIterable, Hashable, Sendable {
    /// 1 to 16 bytes, each equal to their number. Source: RFC 5652, section 6.3.
    case pkcs7
    /// No padding: the plaintext must be whole blocks.
    case none
}
