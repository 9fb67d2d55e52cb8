/// The IVs of strategies, and the strategies that consist of a mode of operation.
extension Strategy {
    /// Returns a strategy that is a mode of operation only: one chunk from the file's first byte to its last, with a
    /// given IV.
    ///
    /// - Parameters:
    ///   - cipher: The cipher of a known format of this kind, such as AES-CBC and AES-CTR.
    ///   - iv: The IV, or the initial counter block.
    ///   - padding: The padding, if the format has a choice; `nil` for the format's default.
    /// - Returns: The strategy.
    package static func whole(_ cipher: Cipher, iv: Block, padding: Padding? = nil) -> Strategy {
        let format = cipher == .aesCBC ? Format.wholeCBC : cipher == .aesCTR ? Format.wholeCTR : nil
        guard let format else { preconditionFailure("no known format is \(cipher.rawValue) over a whole file") }
        let strategy = Strategy(format, [Format.Input.ivName: .block(iv)])
        guard let padding, case .name(let name)? = format.padding?.expression else { return strategy }
        return strategy.replacing(name, with: .text(padding.rawValue))
    }

    /// True if the strategy is a mode of operation only, see ``whole(_:iv:padding:)``.
    package var isWhole: Bool { format == Format.wholeCBC || format == Format.wholeCTR }

    /// The given IV or counter block; zero if the format has none.
    package var iv: Block {
        self[Format.Input.ivName]?.bytes.flatMap { try? Block($0.array) } ?? Block(bigEndianValue: 0)
    }

    /// Returns the strategy with its IV changed by a function of the IV's number.
    package func changingIV(_ change: (UInt128) -> UInt128) -> Strategy {
        guard self[Format.Input.ivName] != nil else { return self }
        return replacing(Format.Input.ivName, with: .block(Block(bigEndianValue: change(iv.bigEndianValue))))
    }
}

extension Value {
    /// Returns the bytes of a block.
    package static func block(_ block: Block) -> Value { .bytes(ByteString(block.bytes)) }

    /// Returns a word.
    package static func text(_ text: String) -> Value { .bytes(ByteString(text.utf8)) }
}
