import GcryptBackend
import KernelBackend
import NettleBackend
import OpenSSLBackend
import RandomAccess
import SodiumBackend
import SwiftAESBackend

#if canImport(BoringSSLBackend)
import BoringSSLBackend
#endif

/// One stretch of CBC, decrypted by any backend.
func decryptStretch(_ ciphertext: [UInt8], key: SecretKey, iv: Block, with backend: any CipherBackend) throws -> [UInt8]
{
    let context = try backend.makeContext(.aesCBC, .decrypt, key: key)
    var bytes = ciphertext
    try bytes.withUnsafeMutableBytes { try context.process(inPlace: $0, iv: iv) }
    return bytes
}

/// The backends, as their pages make them.
func allBackends() throws -> [any CipherBackend] {
    var backends: [any CipherBackend] = []
    do {
        let backend = try OpenSSL()
        print(backend.name, backend.version, backend.cpuFeatures)
        backends.append(backend)
    }
    do {
        let backend = try Gcrypt()
        print(backend.name, backend.version, backend.cpuFeatures)
        backends.append(backend)
    }
    #if canImport(BoringSSLBackend)
    do {
        let backend = BoringSSL(machineFeatures: ["aes"])
        print(backend.name, backend.version, backend.copyCountPerCall)
        backends.append(backend)
    }
    #endif
    do {
        let backend = Nettle(machineFeatures: ["aes"])
        print(backend.name, backend.version, backend.cpuFeatures)
        backends.append(backend)
    }
    do {
        let backend = SwiftBitsliced()
        print(backend.name, backend.version)
        backends.append(backend)
    }
    return backends
}

/// The backend without AES.
func sodiumBackend() throws -> any CipherBackend {
    let backend = try Sodium()
    print(backend.name, backend.version, backend.ciphers)
    return backend
}

/// The kernel, where it lets itself be asked.
func kernelBackend() throws -> (any CipherBackend)? {
    do {
        let backend = try KernelCrypto()
        print(backend.name, backend.version, backend.ciphers)
        return backend
    } catch .unavailable {
        return nil
    }
}
