package import RandomAccess

/// The cipher that a backend needs for an object, with these key and nonce lengths.
package struct CipherNeed: Hashable, Sendable {
    package let cipher: Cipher
    package let keyByteCount: Int
    /// The nonce length; `nil` for a cipher whose nonce is a block.
    package let nonceByteCount: Int?
    /// The hash function of the HMAC over each chunk's data, if there is one.
    package let hmac: HashFunction?

    /// The length of an AES key, of which XTS and SIV have two; `nil` for other ciphers.
    package var aesKeyByteCount: Int? {
        guard cipher.keyByteCounts != [32] else { return nil }
        return cipher.hasTwoKeys ? keyByteCount / 2 : keyByteCount
    }

    package init(cipher: Cipher, keyByteCount: Int, nonceByteCount: Int?, hmac: HashFunction?) {
        (self.cipher, self.keyByteCount, self.nonceByteCount) = (cipher, keyByteCount, nonceByteCount)
        self.hmac = hmac
    }

    /// The need of a strategy's objects if the key itself encrypts the chunks; `nil` if keys are derived, or if only an
    /// object's header tells the cipher.
    package init?(of strategy: Strategy, keyByteCount: Int) {
        guard strategy.format.key.expression == .name("key"), !strategy.isCipherOfHeader else { return nil }
        self.init(
            cipher: strategy.cipher, keyByteCount: keyByteCount, nonceByteCount: nil, hmac: strategy.hmac)
    }

    /// Says whether a backend meets the need.
    package func isMet(by backend: any CipherBackend) -> Bool {
        backend.supports(cipher, keyByteCount: keyByteCount, nonceByteCount: nonceByteCount, hmac: hmac)
    }
}

extension Strategy {
    /// True if only an object's header tells its cipher.
    package var isCipherOfHeader: Bool { knownCipher == nil && (try? validate()) != nil }
}

extension VectorGroup {
    /// The cipher that a backend needs for the object before it was tampered with; `nil` if it is unknown.
    package var need: CipherNeed? {
        switch rule {
        case .generated(let object), .edited(let object, _): object.need
        case .repeated, .monteCarlo, nil: toldNeed
        }
    }

    /// The usual cipher of a strategy whose cipher only a header tells, for an object that does not tell it; otherwise
    /// `nil`.
    package var usualNeed: CipherNeed? {
        guard hasStrategy, strategy.isCipherOfHeader else { return nil }
        let cipher = strategy.cipher
        guard let count = cipher.keyByteCounts.first else { return nil }
        return CipherNeed(cipher: cipher, keyByteCount: count, nonceByteCount: nil, hmac: nil)
    }

    /// The cipher that the object's own bytes ask for. A tampered object may ask for another cipher.
    package var toldNeed: CipherNeed? {
        hasStrategy ? (try? Oracle(strategy: strategy, key: key).object(ciphertext).need()) ?? nil : nil
    }
}
