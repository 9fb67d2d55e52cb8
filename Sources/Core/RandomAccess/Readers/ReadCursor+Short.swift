/// Stretches that fit into the cursor's room: one fetch, one call of the library.
extension ReadCursor {
    /// Decrypts a short step of CBC.
    ///
    /// - Parameters:
    ///   - step: A step whose fetch fits into the room.
    ///   - knownIV: Its IV, or `nil` if the block before it has to be fetched.
    ///   - isWhole: Whether all of its blocks are wanted whole.
    ///   - output: Space for `step.count` bytes.
    /// - Returns: The step's last ciphertext block.
    /// - Throws: `DecryptionError` of the source or the library.
    func decryptCBC(
        short step: ReadStep, knownIV: Block?, isWhole: Bool, into output: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) -> Carry {
        let beforeCount = knownIV == nil ? 16 : 0
        let fetched = part(0..<beforeCount + step.ciphertext.count)
        try source.fetch(at: step.ciphertext.lowerBound - UInt64(beforeCount), into: fetched)
        let iv = knownIV ?? Block(loadingFrom: UnsafeRawBufferPointer(fetched))
        let stretch = UnsafeMutableRawBufferPointer(rebasing: fetched[beforeCount...])
        let last = Block(loadingFrom: UnsafeRawBufferPointer(stretch), at: stretch.count - 16)
        if isWhole, let start = output.baseAddress {
            try context.process(UnsafeRawBufferPointer(stretch), into: start, iv: iv)
        } else {
            try context.process(inPlace: stretch, iv: iv)
            copy(stretch, of: step, to: output)
        }
        return Carry(ciphertextEnd: step.ciphertext.upperBound, block: last)
    }

    /// Decrypts a short step of CTR that starts inside a block.
    func decryptCTR(
        short step: ReadStep, iv: Block, into output: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) {
        let stretch = part(0..<step.ciphertext.count)
        try source.fetch(at: step.ciphertext.lowerBound, into: stretch)
        try context.process(inPlace: stretch, iv: iv)
        copy(stretch, of: step, to: output)
    }

    private func copy(
        _ stretch: UnsafeMutableRawBufferPointer, of step: ReadStep, to output: UnsafeMutableRawBufferPointer
    ) {
        output.copyMemory(from: UnsafeRawBufferPointer(rebasing: stretch[step.skip..<step.skip + step.count]))
    }
}
