import CGcrypt
import RandomAccess

/// A `gcry_mac_hd_t` with its states under the key.
final class GcryptMAC: MACContext {
    private let handle: gcry_mac_hd_t

    /// The corresponding C functions are `gcry_mac_open` and `gcry_mac_setkey`.
    init(_ function: HashFunction, key: SecretKey) throws(DecryptionError) {
        let algorithm =
            switch function {
            case .sha1: GCRY_MAC_HMAC_SHA1
            case .sha256: GCRY_MAC_HMAC_SHA256
            case .sha384: GCRY_MAC_HMAC_SHA384
            case .sha512: GCRY_MAC_HMAC_SHA512
            }
        var opened: gcry_mac_hd_t?
        try checkGcrypt(gcry_mac_open(&opened, Int32(algorithm.rawValue), 0, nil), in: "gcry_mac_open")
        guard let opened else { throw .backend(name: "libgcrypt", operation: "gcry_mac_open", reason: "no handle") }
        handle = opened
        try checkGcrypt(
            key.withUnsafeBytes { gcry_mac_setkey(opened, $0.baseAddress, $0.count) }, in: "gcry_mac_setkey")
    }

    deinit {
        // It erases the states, too.
        gcry_mac_close(handle)
        eraseStack()
    }

    /// The corresponding C functions are `gcry_mac_ctl` with `GCRYCTL_RESET`, `gcry_mac_write` and `gcry_mac_read`.
    func makeCode(
        of before: UnsafeRawBufferPointer, _ data: UnsafeRawBufferPointer, _ behind: UnsafeRawBufferPointer,
        into code: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) {
        try checkGcrypt(gcry_mac_ctl(handle, Int32(GCRYCTL_RESET.rawValue), nil, 0), in: "gcry_mac_ctl")
        try write(before)
        try write(data)
        try write(behind)
        var count = code.count
        try checkGcrypt(gcry_mac_read(handle, code.baseAddress, &count), in: "gcry_mac_read")
    }

    private func write(_ piece: UnsafeRawBufferPointer) throws(DecryptionError) {
        guard piece.count > 0 else { return }
        try checkGcrypt(gcry_mac_write(handle, piece.baseAddress, piece.count), in: "gcry_mac_write")
    }
}
