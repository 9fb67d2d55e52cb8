package import RandomAccess

/// The cipher that a backend has to have for an object, with a key and a nonce of these lengths.
package struct CipherNeed: Hashable, Sendable {
    package let cipher: Cipher
    package let keyByteCount: Int
    /// `nil` of a cipher whose nonce is a block.
    package let nonceByteCount: Int?
    /// The hash function of a code over each chunk's data, if there is one.
    package let hmac: HashFunction?

    /// The length of the AES key, of which XTS and SIV have two; `nil` of another cipher.
    package var aesKeyByteCount: Int? {
        guard cipher.keyByteCounts != [32] else { return nil }
        return cipher.hasTwoKeys ? keyByteCount / 2 : keyByteCount
    }

    package init(cipher: Cipher, keyByteCount: Int, nonceByteCount: Int?, hmac: HashFunction?) {
        (self.cipher, self.keyByteCount, self.nonceByteCount) = (cipher, keyByteCount, nonceByteCount)
        self.hmac = hmac
    }

    /// The need of objects of a strategy whose chunks are encrypted with the key itself; `nil` where keys are derived.
    package init?(of strategy: Strategy, keyByteCount: Int) {
        guard strategy.format.key.expression == .name("key") else { return nil }
        self.init(
            cipher: strategy.cipher, keyByteCount: keyByteCount, nonceByteCount: nil, hmac: strategy.hmac)
    }

    /// Says whether a backend has all of it.
    package func isMet(by backend: any CipherBackend) -> Bool {
        backend.supports(cipher, keyByteCount: keyByteCount, nonceByteCount: nonceByteCount, hmac: hmac)
    }
}

extension VectorGroup {
    /// The cipher that a backend has to have for the object, as it was before it was tampered with; `nil` where nothing
    /// tells it.
    package var need: CipherNeed? {
        switch rule {
        case .generated(let object), .edited(let object, _): object.need
        case .repeated, .monteCarlo, nil: toldNeed
        }
    }

    /// The cipher that the object's own bytes ask for: a changed one may ask for another cipher.
    package var toldNeed: CipherNeed? {
        playlist != nil ? nil : (try? Oracle(strategy: strategy, key: key).object(ciphertext).need()) ?? nil
    }
}
