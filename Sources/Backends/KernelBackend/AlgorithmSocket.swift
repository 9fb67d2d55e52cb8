internal import CLinux
import Glibc
internal import RandomAccess

/// A socket that is bound to a cipher and holds its key, inside the kernel.
final class AlgorithmSocket {
    let descriptor: Int32

    /// The corresponding C functions are `socket` and `bind`.
    ///
    /// - Throws: `DecryptionError.backend` with what the kernel says: EAFNOSUPPORT if it lacks such sockets, ENOENT if it
    ///   lacks the cipher.
    init(cipher: String) throws(DecryptionError) {
        self.descriptor = Int32(
            try KernelCall.retrying("bind to \"\(cipher)\"") { Int(chunkwise_alg_bind(cipher)) })
    }

    /// Gives the kernel the key. The corresponding C function is `setsockopt` with `ALG_SET_KEY`.
    func setKey(_ key: SecretKey) throws(DecryptionError) {
        // Straight from the key's own memory: there is no copy to erase but the kernel's, which goes with the socket.
        _ = try key.withUnsafeBytes { (bytes) throws(DecryptionError) in
            try KernelCall.retrying("setsockopt(ALG_SET_KEY)") {
                Int(chunkwise_alg_set_key(descriptor, bytes.baseAddress, bytes.count))
            }
        }
    }

    deinit {
        close(descriptor)
    }
}
