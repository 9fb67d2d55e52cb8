/// Keys inside their URIs: `data:;base64,…`, or percent-encoded behind a comma.
///
/// - Source: RFC 2397.
public struct DataKeys: KeyProvider {
    private static let location = "the key's data URI"

    /// A provider for `data` URIs.
    public init() {}

    /// Decodes the key; see `KeyProvider.key(for:)`.
    public func key(for uri: String) throws(KeyError) -> ProvidedKey {
        // Source: RFC 3986, section 3.5: the fragment is not part of the data.
        let text = uri.utf8.prefix { $0 != UInt8(ascii: "#") }
        guard URIReference(uri).scheme?.lowercased() == "data", let comma = text.firstIndex(of: UInt8(ascii: ","))
        else {
            throw .invalidDataURI(reason: "it has no comma before the data")
        }
        let bytes = KeyBytes()
        let isBase64 = uri[..<comma].lowercased().hasSuffix(";base64")
        try Self.decode(text[text.index(after: comma)...], isBase64: isBase64) { byte in
            guard !bytes.free.isEmpty else { return }
            bytes.free[0] = byte
            bytes.add(1)
        }
        return ProvidedKey(try bytes.key(location: Self.location))
    }

    /// Decodes byte by byte, so that no copy stays in memory.
    private static func decode(
        _ text: Substring.UTF8View, isBase64: Bool, _ add: (UInt8) -> Void
    ) throws(KeyError) {
        var rest = text
        var (bits, digitCount, paddingCount) = (UInt32(0), 0, 0)
        while var byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard let high = rest.popFirst().flatMap(PercentEncoding.digit),
                    let low = rest.popFirst().flatMap(PercentEncoding.digit)
                else { throw .invalidDataURI(reason: "it has a percent sign without two hexadecimal digits") }
                byte = high << 4 | low
            }
            guard isBase64 else {
                add(byte)
                continue
            }
            if byte == UInt8(ascii: "=") {
                paddingCount += 1
                continue
            }
            guard paddingCount == 0, let digit = base64Digit(byte) else {
                throw .invalidDataURI(reason: "it has a character that base64 does not have there")
            }
            bits = bits << 6 | digit
            digitCount += 1
            if digitCount % 4 != 1 { add(UInt8(truncatingIfNeeded: bits >> [0, 0, 4, 2][digitCount % 4])) }
        }
        // Many encoders omit the padding.
        guard digitCount % 4 != 1, paddingCount == 0 || paddingCount < 3 && (digitCount + paddingCount) % 4 == 0 else {
            throw .invalidDataURI(reason: "its base64 breaks off")
        }
    }

    /// Source: RFC 4648, section 4.
    private static func base64Digit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte) - 97 + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte) - 48 + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}

extension SchemeKeys {
    /// A provider of keys inside their URIs. All other keys come from a second provider, which never sees a `data` URI.
    public init(dataBefore other: any KeyProvider) { self.init(["data": DataKeys()], fallback: other) }
}
