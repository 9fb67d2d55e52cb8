import RandomAccess

/// The formats of single messages, whose nonce and associated data are inputs. Files of published answers have messages
/// instead of objects.
enum MessageFormats {
    /// The max length of a message in bytes.
    static let maxByteCount = 65536

    /// The ciphers whose published answers can be read: those of these formats, CBC and CTR.
    static let ciphers = Cipher.allCases.filter { $0.takesAssociatedData || !$0.isAuthenticated }

    /// The descriptions, which `data/vectors/messages.json` has as well.
    static let descriptions = """
        message:
          summary: one message of an authenticated cipher, with its tag behind it
          inputs:
            key: any
            cipher:
              oneOf: [aes-gcm, aes-ocb, aes-eax, aes-gcm-siv, aes-siv, chacha20-poly1305, xchacha20-poly1305]
            nonce: {bytes: any, default: "000000000000000000000000"}
            aad: {bytes: any, default: ""}
          cipher: cipher
          chunk: 65536
          maxChunks: 1
          layout: [data, {tag: 16}]
          key: key
          nonce: nonce
          aad: aad
        data-unit:
          summary: one data unit of XTS
          inputs: {key: [32, 64], nonce: 16}
          cipher: aes-xts
          chunk: 65536
          maxChunks: 1
          key: key
          nonce: nonce

        """

    private static let (message, dataUnit) = (format("message"), format("data-unit"))

    private static func format(_ name: String) -> Format {
        do {
            return try Format.named(name, in: Array(descriptions.utf8))
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
