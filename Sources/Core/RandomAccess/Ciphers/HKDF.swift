/// HMAC. Source: FIPS 198-1, section 4.
struct HMAC {
    let inner: Hash
    let outer: Hash
    private let digestByteCount: Int

    /// Starts a message under a key of any length.
    init(_ function: HashFunction, key: UnsafeRawBufferPointer) {
        (inner, outer, digestByteCount) = (function.makeHash(), function.makeHash(), function.digestByteCount)
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: function.blockByteCount, alignment: 16)
        defer {
            eraseBytes(block)
            block.deallocate()
        }
        for index in 0..<block.count { block[index] = 0 }
        if key.count > block.count {
            let hash = function.makeHash()
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

    /// Ends the message and writes its code, which is as long as the hash's digest.
    func finish(into code: UnsafeMutableRawBufferPointer) {
        inner.finish(into: code)
        outer.update(UnsafeRawBufferPointer(rebasing: code[..<digestByteCount]))
        outer.finish(into: code)
    }
}

/// Derives keys from keys.
///
/// It is plain Swift, because it runs once per object over some hundred bytes. An interface to it for each crypto
/// library would take four more interfaces and gain nothing.
///
/// - Source: RFC 5869.
enum HKDF {
    /// PRK = HMAC-Hash(salt, IKM). Source: section 2.2.
    static func extract(
        _ function: HashFunction, salt: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer,
        into pseudorandomKey: UnsafeMutableRawBufferPointer
    ) {
        let code = HMAC(function, key: salt)
        code.update(key)
        code.finish(into: pseudorandomKey)
    }

    /// OKM = T(1) ‖ T(2) ‖ …, T(i) = HMAC-Hash(PRK, T(i − 1) ‖ info ‖ i). Source: section 2.3.
    ///
    /// - Precondition: `output` is at most 255 digests long.
    static func expand(
        _ function: HashFunction, _ pseudorandomKey: UnsafeRawBufferPointer, info: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) {
        let digestByteCount = function.digestByteCount
        precondition(output.count <= 255 * digestByteCount, "\(output.count) bytes from one key")
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: digestByteCount, alignment: 16)
        defer {
            eraseBytes(block)
            block.deallocate()
        }
        var done = 0
        var number: UInt8 = 1
        while done < output.count {
            let code = HMAC(function, key: pseudorandomKey)
            if number > 1 { code.update(UnsafeRawBufferPointer(block)) }
            code.update(info)
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

extension SecretKey {
    /// Derives a key with HKDF over SHA-256.
    package func derived(salt: [UInt8], info: String, byteCount: Int) throws(DecryptionError) -> SecretKey {
        let function = HashFunction.sha256
        let pseudorandomKey = try SecretKey(byteCount: function.digestByteCount) { output in
            salt.withUnsafeBytes { salt in
                withUnsafeBytes { HKDF.extract(function, salt: salt, key: $0, into: output) }
            }
        }
        return try SecretKey(byteCount: byteCount) { output in
            Array(info.utf8).withUnsafeBytes { info in
                pseudorandomKey.withUnsafeBytes { HKDF.expand(function, $0, info: info, into: output) }
            }
        }
    }
}

/// Derives a key from a password. Source: RFC 8018, section 5.2.
enum PBKDF2 {
    /// Derives `output`, of at most 2³² − 1 digests.
    static func derive(
        _ function: HashFunction, password: UnsafeRawBufferPointer, salt: UnsafeRawBufferPointer, iterationCount: Int,
        into output: UnsafeMutableRawBufferPointer
    ) {
        let digestByteCount = function.digestByteCount
        let blocks = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * digestByteCount, alignment: 16)
        defer {
            eraseBytes(blocks)
            blocks.deallocate()
        }
        let code = UnsafeMutableRawBufferPointer(rebasing: blocks[..<digestByteCount])
        let sum = UnsafeMutableRawBufferPointer(rebasing: blocks[digestByteCount...])
        for (index, start) in stride(from: 0, to: output.count, by: digestByteCount).enumerated() {
            for iteration in 0..<iterationCount {
                let hash = HMAC(function, key: password)
                if iteration == 0 {
                    hash.update(salt)
                    withUnsafeBytes(of: UInt32(index + 1).bigEndian) { hash.update($0) }
                } else {
                    hash.update(UnsafeRawBufferPointer(code))
                }
                hash.finish(into: code)
                for place in 0..<digestByteCount {
                    sum[place] = iteration == 0 ? code[place] : sum[place] ^ code[place]
                }
            }
            UnsafeMutableRawBufferPointer(rebasing: output[start...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: sum[..<min(digestByteCount, output.count - start)]))
        }
    }
}
