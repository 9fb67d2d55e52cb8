/// HMAC over SHA-2. Source: FIPS 198-1, section 4.
struct HMAC<Word: SHA2Word> {
    private let inner = SHA2<Word>()
    private let outer = SHA2<Word>()

    /// Starts a message under a key of any length.
    init(key: UnsafeRawBufferPointer) {
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: SHA2<Word>.blockByteCount, alignment: 16)
        defer {
            eraseBytes(block)
            block.deallocate()
        }
        for index in 0..<block.count { block[index] = 0 }
        if key.count > block.count {
            let hash = SHA2<Word>()
            hash.update(key)
            hash.finish(into: block)
        } else {
            block.copyMemory(from: key)
        }
        for index in 0..<block.count { block[index] ^= 0x36 }
        inner.update(UnsafeRawBufferPointer(block))
        for index in 0..<block.count { block[index] ^= 0x36 ^ 0x5c }
        outer.update(UnsafeRawBufferPointer(block))
    }

    /// Adds bytes to the message.
    func update(_ bytes: UnsafeRawBufferPointer) {
        inner.update(bytes)
    }

    /// Ends the message and writes its code, as long as the hash's digest.
    func finish(into code: UnsafeMutableRawBufferPointer) {
        inner.finish(into: code)
        outer.update(UnsafeRawBufferPointer(rebasing: code[..<SHA2<Word>.digestByteCount]))
        outer.finish(into: code)
    }
}

/// Keys from keys.
///
/// In plain Swift, since it runs once for each object over some hundred bytes: asking each crypto library for it would
/// take four more interfaces and gain nothing.
///
/// - Source: RFC 5869.
enum HKDF<Word: SHA2Word> {
    /// PRK = HMAC-Hash(salt, IKM). Source: section 2.2.
    static func extract(
        salt: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, into pseudorandomKey: UnsafeMutableRawBufferPointer
    ) {
        let code = HMAC<Word>(key: salt)
        code.update(key)
        code.finish(into: pseudorandomKey)
    }

    /// OKM = T(1) ‖ T(2) ‖ …, T(i) = HMAC-Hash(PRK, T(i − 1) ‖ info ‖ i). Source: section 2.3.
    ///
    /// - Precondition: `output` has at most 255 digests' bytes.
    static func expand(
        _ pseudorandomKey: UnsafeRawBufferPointer, info: [UInt8], into output: UnsafeMutableRawBufferPointer
    ) {
        let digestByteCount = SHA2<Word>.digestByteCount
        precondition(output.count <= 255 * digestByteCount, "\(output.count) bytes from one key")
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: digestByteCount, alignment: 16)
        defer {
            eraseBytes(block)
            block.deallocate()
        }
        var done = 0
        var number: UInt8 = 1
        while done < output.count {
            let code = HMAC<Word>(key: pseudorandomKey)
            if number > 1 { code.update(UnsafeRawBufferPointer(block)) }
            info.withUnsafeBytes { code.update($0) }
            withUnsafeBytes(of: number) { code.update($0) }
            code.finish(into: block)
            let count = min(digestByteCount, output.count - done)
            UnsafeMutableRawBufferPointer(rebasing: output[done..<done + count])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: block[..<count]))
            done += count
            number &+= 1
        }
    }
}
