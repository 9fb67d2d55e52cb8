internal import RandomAccess

/// AES on single blocks. Source: FIPS 197, section 5.
struct AESBlockCipher: Sendable {
    private let schedule: KeySchedule
    private let boxes = SubstitutionBoxes.shared

    init(_ key: SecretKey) {
        self.schedule = KeySchedule(key)
    }

    /// CIPHER(). Source: FIPS 197, section 5.1, algorithm 1.
    func encrypt(_ block: Block) -> Block {
        var state = AESState(block)
        state.addRoundKey(schedule, round: 0)
        for round in 1..<schedule.roundCount {
            state.subBytes(boxes)
            state.shiftRows()
            state.mixColumns()
            state.addRoundKey(schedule, round: round)
        }
        state.subBytes(boxes)
        state.shiftRows()
        state.addRoundKey(schedule, round: schedule.roundCount)
        return state.block
    }

    /// INVCIPHER(). Source: FIPS 197, section 5.3, algorithm 3.
    func decrypt(_ block: Block) -> Block {
        var state = AESState(block)
        state.addRoundKey(schedule, round: schedule.roundCount)
        for round in stride(from: schedule.roundCount - 1, to: 0, by: -1) {
            state.invShiftRows()
            state.invSubBytes(boxes)
            state.addRoundKey(schedule, round: round)
            state.invMixColumns()
        }
        state.invShiftRows()
        state.invSubBytes(boxes)
        state.addRoundKey(schedule, round: 0)
        return state.block
    }
}

extension AESState {
    /// The input of a cipher. Source: FIPS 197, section 3.4, equation (3.6).
    init(_ block: Block) {
        let value = block.bigEndianValue
        self.bytes = InlineArray { UInt8(truncatingIfNeeded: value >> (120 - 8 * UInt128($0))) }
    }

    /// The output of a cipher. Source: FIPS 197, section 3.4, equation (3.7).
    var block: Block {
        var value: UInt128 = 0
        for i in 0..<16 { value = value << 8 | UInt128(bytes[i]) }
        return Block(bigEndianValue: value)
    }
}
