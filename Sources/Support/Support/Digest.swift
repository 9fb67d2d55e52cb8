internal import COpenSSL

/// SHA-1, SHA-256, SHA-384 or SHA-512, with HMAC and HKDF, by libcrypto: swift-crypto would bring BoringSSL, and
/// minutes of building, into every program.
///
/// - Source: FIPS 180-4; RFC 2104 (HMAC); RFC 5869 (HKDF).
package enum SHAFunction: String, Sendable {
    case sha1
    case sha256
    case sha384
    case sha512

    fileprivate var method: OpaquePointer {
        let method =
            switch self {
            case .sha1: EVP_sha1()
            case .sha256: EVP_sha256()
            case .sha384: EVP_sha384()
            case .sha512: EVP_sha512()
            }
        guard let method else { preconditionFailure("libcrypto has no \(self)") }
        return method
    }

    /// The length of a digest in bytes.
    package var digestByteCount: Int {
        switch self {
        case .sha1: 20
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }

    /// Returns the digest of some bytes.
    package func hash(_ bytes: [UInt8]) -> [UInt8] {
        output { EVP_Digest(bytes, bytes.count, $0, nil, method, nil) == 1 }
    }

    /// Returns the HMAC of a text: `HMAC` of libcrypto.
    package func mac(key: [UInt8], _ text: [UInt8]) -> [UInt8] {
        output { HMAC(method, key, Int32(key.count), text, text.count, $0, nil) != nil }
    }

    /// Returns the output of the second step of HKDF.
    ///
    /// - Source: RFC 5869, section 2.3.
    package func expand(_ pseudorandomKey: [UInt8], info: [UInt8], byteCount: Int) -> [UInt8] {
        precondition(byteCount <= 255 * digestByteCount, "\(byteCount) bytes: expected at most 255 digests")
        var (output, last): ([UInt8], [UInt8]) = ([], [])
        var number: UInt8 = 0
        while output.count < byteCount {
            number += 1
            last = mac(key: pseudorandomKey, last + info + [number])
            output += last
        }
        return Array(output.prefix(byteCount))
    }

    /// Returns a digest from a function that fails only if memory runs out.
    private func output(_ body: (UnsafeMutablePointer<UInt8>?) -> Bool) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: digestByteCount) { buffer, count in
            precondition(body(buffer.baseAddress), "libcrypto could not compute \(self)")
            count = digestByteCount
        }
    }
}

/// SHA-256 of bytes that arrive in pieces. One thread at a time may use it.
package final class SHA256Hasher {
    private let context: OpaquePointer

    /// The digest of no bytes.
    package init() {
        guard let context = EVP_MD_CTX_new() else { preconditionFailure("EVP_MD_CTX_new: out of memory") }
        self.context = context
        precondition(EVP_DigestInit_ex2(context, SHAFunction.sha256.method, nil) == 1, "EVP_DigestInit_ex2 failed")
    }

    deinit {
        EVP_MD_CTX_free(context)
    }

    /// Adds bytes.
    package func update(_ bytes: UnsafeRawBufferPointer) {
        precondition(EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1, "EVP_DigestUpdate failed")
    }

    /// Returns the digest of all bytes so far: 32 bytes. Nothing can be added afterwards.
    package func finish() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
            precondition(EVP_DigestFinal_ex(context, buffer.baseAddress, nil) == 1, "EVP_DigestFinal_ex failed")
            count = 32
        }
    }
}

/// SHAKE-256 with output of any length, by libcrypto.
///
/// - Source: FIPS 202, section 6.2.
package enum SHAKE256 {
    /// Returns the first bytes for a seed.
    package static func bytes(of seed: [UInt8], count: Int) -> [UInt8] {
        guard let context = EVP_MD_CTX_new() else { preconditionFailure("EVP_MD_CTX_new: out of memory") }
        defer { EVP_MD_CTX_free(context) }
        // libcrypto 3 refuses to squeeze nothing.
        guard count > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
            let isDone =
                EVP_DigestInit_ex2(context, EVP_shake256(), nil) == 1
                && EVP_DigestUpdate(context, seed, seed.count) == 1
                && EVP_DigestFinalXOF(context, buffer.baseAddress, count) == 1
            precondition(isDone, "libcrypto could not compute SHAKE-256")
            written = count
        }
    }
}
