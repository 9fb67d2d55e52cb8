/// The IVs of strategies, and the strategies that are little more than one.
extension Strategy {
    /// A mode of operation and nothing else: one chunk from the file's first byte to its last, whose IV is given.
    ///
    /// - Parameters:
    ///   - cipher: A cipher that there is such a known format of, such as AES-CBC and AES-CTR.
    ///   - iv: The IV, or the initial counter block.
    ///   - padding: The padding, where the format has a choice; the format's default without it.
    /// - Returns: The strategy.
    package static func whole(_ cipher: Cipher, iv: Block, padding: Padding? = nil) -> Strategy {
        let format = cipher == .aesCBC ? Format.wholeCBC : cipher == .aesCTR ? Format.wholeCTR : nil
        guard let format else { preconditionFailure("no known format is \(cipher.rawValue) over a whole file") }
        let strategy = Strategy(format, [Format.Input.ivName: .block(iv)])
        guard let padding, case .name(let name)? = format.padding?.expression else { return strategy }
        return strategy.replacing(name, with: .text(padding.rawValue))
    }

    /// Says whether the strategy is a mode of operation and nothing else, see ``whole(_:iv:padding:)``.
    package var isWhole: Bool { format == Format.wholeCBC || format == Format.wholeCTR }

    /// The given IV or counter block; zero where a format has none.
    package var iv: Block {
        self[Format.Input.ivName]?.bytes.flatMap { try? Block($0.array) } ?? Block(bigEndianValue: 0)
    }

    /// The same strategy from another IV, whose number `change` makes of the given one's.
    package func changingIV(_ change: (UInt128) -> UInt128) -> Strategy {
        guard self[Format.Input.ivName] != nil else { return self }
        return replacing(Format.Input.ivName, with: .block(Block(bigEndianValue: change(iv.bigEndianValue))))
    }
}

extension Value {
    /// Bytes of a block.
    package static func block(_ block: Block) -> Value { .bytes(ByteString(block.bytes)) }

    /// A word.
    package static func text(_ text: String) -> Value { .bytes(ByteString(text.utf8)) }
}
