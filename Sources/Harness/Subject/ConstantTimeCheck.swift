import CLinux
package import RandomAccess

/// Counts the branches and addresses that depend on secrets, in a process that runs under valgrind's memcheck.
///
/// Secrets are marked as uninitialized memory, which memcheck tracks through copies. An attacker can time a branch or
/// an address that depends on it. The result holds for the instructions that ran: valgrind's processor has AES-NI and
/// AVX2 but no VAES. The duration of single instructions is not checked.
///
/// - Source: Langley, "ctgrind", 2010, for the idea.
package enum ConstantTimeCheck {
    /// The count of one operation.
    package struct Outcome: Sendable {
        /// The operation, such as `cbc decrypt, AES-128`.
        package let operation: String
        /// The number of branches and addresses that depended on secrets, counted each time that they were reached.
        package let count: Int
        /// True if some findings may depend on the tag, which is public: with a synthetic IV, the counter starts from
        /// it.
        package var mayBePublic = false
    }

    /// True if memcheck runs this process.
    package static var isWatched: Bool { chunkwise_memcheck_is_running() }

    /// Runs all operations of a backend on secrets: key setup, both directions of its ciphers, and HMAC.
    ///
    /// In decryption the key is secret, and so is the plaintext that depends on it. In encryption the plaintext is
    /// secret, too. Ciphers with a tag are only encrypted, since the comparison of tags ends in a branch on purpose.
    /// XTS is only decrypted, since OpenSSL branches on the equality of the two keys when it encrypts.
    package static func run(_ backend: any CipherBackend) throws(DecryptionError) -> [Outcome] {
        var outcomes: [Outcome] = []
        for support in backend.ciphers {
            let cipher = support.cipher
            for direction in directions(of: cipher) {
                for keyByteCount in support.keyByteCounts {
                    let before = chunkwise_memcheck_finding_count()
                    try run(backend, cipher, direction, keyByteCount: keyByteCount)
                    outcomes.append(
                        Outcome(
                            operation: "\(cipher.mode) \(direction.rawValue)\(suffix(cipher, keyByteCount))",
                            count: Int(chunkwise_memcheck_finding_count() - before),
                            mayBePublic: cipher.hasSyntheticIV))
                }
            }
        }
        for function in backend.hmacFunctions {
            let before = chunkwise_memcheck_finding_count()
            try runMAC(backend, function)
            outcomes.append(
                Outcome(
                    operation: "hmac \(function.rawValue)", count: Int(chunkwise_memcheck_finding_count() - before)))
        }
        return outcomes
    }

    private static func directions(of cipher: Cipher) -> [CipherDirection] {
        if cipher.isAuthenticated { return [.encrypt] }
        return cipher.isStreaming ? CipherDirection.allCases : [.decrypt]
    }

    /// Returns the AES variant of a cipher's key after a comma; empty for a cipher that has one key length.
    private static func suffix(_ cipher: Cipher, _ keyByteCount: Int) -> String {
        cipher.keyByteCounts.count == 1 ? "" : ", AES-\((cipher.hasTwoKeys ? 4 : 8) * keyByteCount)"
    }

    /// Runs the readers' own operations on secrets: the padding check and the comparison of tags.
    package static func runReaders() -> [Outcome] {
        var outcomes: [Outcome] = []
        func count(_ operation: String, _ body: () -> Void) {
            let before = chunkwise_memcheck_finding_count()
            body()
            outcomes.append(
                Outcome(operation: operation, count: Int(chunkwise_memcheck_finding_count() - before)))
        }
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 16)
        defer { bytes.deallocate() }
        bytes.initializeMemory(as: UInt8.self, repeating: 3)
        chunkwise_memcheck_poison(bytes.baseAddress, bytes.count)
        count("PKCS #7 check") {
            var difference = PKCS7.difference(in: Block(loadingFrom: UnsafeRawBufferPointer(rebasing: bytes[..<16])))
            chunkwise_memcheck_release(&difference, MemoryLayout.size(ofValue: difference))
        }
        count("comparison of tags and tokens") {
            var isEqual = isEqualInConstantTime(
                UnsafeRawBufferPointer(rebasing: bytes[..<32]), UnsafeRawBufferPointer(rebasing: bytes[32...]))
            chunkwise_memcheck_release(&isEqual, 1)
        }
        return outcomes
    }

    private static func run(
        _ backend: any CipherBackend, _ cipher: Cipher, _ direction: CipherDirection, keyByteCount: Int
    ) throws(DecryptionError) {
        let key = try SecretKey(material: 0xA0..<0xA0 + UInt8(keyByteCount))
        key.withUnsafeBytes { chunkwise_memcheck_poison($0.baseAddress, $0.count) }
        // 75 blocks: a batch of the widest implementation, several strides, and some remaining blocks.
        let input = try UnsafeMutableRawBufferPointer.tryAllocate(byteCount: 75 * 16)
        let output = try UnsafeMutableRawBufferPointer.tryAllocate(byteCount: input.count + cipher.tagByteCount)
        defer {
            input.deallocate()
            output.deallocate()
        }
        input.initializeMemory(as: UInt8.self, repeating: 0x3C)
        output.initializeMemory(as: UInt8.self, repeating: 0)
        guard let start = output.baseAddress else { return }
        if direction == .encrypt { chunkwise_memcheck_poison(input.baseAddress, input.count) }
        let context = try backend.makeContext(cipher, direction, key: key)
        _ = try withUnsafeBytes(of: (1, 1) as (UInt128, UInt128)) { (bytes) throws(DecryptionError) in
            let nonce = UnsafeRawBufferPointer(rebasing: bytes[..<cipher.nonceByteCount])
            return try context.process(UnsafeRawBufferPointer(input), into: start, nonce: nonce)
        }
        chunkwise_memcheck_release(output.baseAddress, output.count)
        key.withUnsafeBytes { chunkwise_memcheck_release($0.baseAddress, $0.count) }
    }

    private static func runMAC(_ backend: any CipherBackend, _ function: HashFunction) throws(DecryptionError) {
        // More than a block of any function: the key is hashed first.
        let key = try SecretKey(material: 0..<200)
        let bytes = try UnsafeMutableRawBufferPointer.tryAllocate(byteCount: 1000)
        let code = try UnsafeMutableRawBufferPointer.tryAllocate(byteCount: function.digestByteCount)
        defer {
            bytes.deallocate()
            code.deallocate()
        }
        bytes.initializeMemory(as: UInt8.self, repeating: 0x3C)
        key.withUnsafeBytes { chunkwise_memcheck_poison($0.baseAddress, $0.count) }
        chunkwise_memcheck_poison(bytes.baseAddress, bytes.count)
        let (message, none) = (UnsafeRawBufferPointer(bytes), UnsafeRawBufferPointer(start: nil, count: 0))
        try backend.makeMAC(function, key: key).makeCode(of: none, message, none, into: code)
        chunkwise_memcheck_release(code.baseAddress, code.count)
        key.withUnsafeBytes { chunkwise_memcheck_release($0.baseAddress, $0.count) }
    }
}
