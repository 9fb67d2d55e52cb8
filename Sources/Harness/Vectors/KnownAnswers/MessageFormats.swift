import RandomAccess

/// The formats of single messages, whose nonce and associated data are inputs. Files of published answers have messages
/// instead of objects. `scripts/import-answers` reads their descriptions from the same file.
enum MessageFormats {
    /// The max length of a message in bytes.
    static let maxByteCount = 65536

    /// The ciphers whose published answers can be read: those of these formats, CBC and CTR.
    static let ciphers = Cipher.allCases.filter { $0.takesAssociatedData || !$0.isAuthenticated }

    private static let (message, dataUnit) = (format("message"), format("data-unit"))

    private static func format(_ name: String) -> Format {
        do {
            return try Format.named(name, in: PackageResources.message_formats_yml)
        } catch {
            preconditionFailure("the formats of messages: \(error)")
        }
    }

    /// Returns the strategy of a message of an authenticated cipher, or of XTS, which has no associated data.
    static func strategy(_ cipher: Cipher, nonce: [UInt8], associatedData: [UInt8]) -> Strategy {
        let nonce = Value.bytes(ByteString(nonce))
        guard cipher.isAuthenticated else { return Strategy(dataUnit, ["nonce": nonce]) }
        return Strategy(
            message,
            ["cipher": .text(cipher.rawValue), "nonce": nonce, "aad": .bytes(ByteString(associatedData))])
    }
}
