import CLinux
import Glibc
import RandomAccess

/// A socket that accepts input and returns output, under the key of an ``AlgorithmSocket``.
final class OperationSocket: PieceSocket {
    let largestPieceByteCount: Int

    private let algorithm: AlgorithmSocket
    private var descriptor: Int32

    /// The corresponding C functions are `accept4`, and `getsockopt` with `SO_SNDBUF`.
    init(of algorithm: AlgorithmSocket) throws(DecryptionError) {
        let descriptor = try Self.open(algorithm)
        self.algorithm = algorithm
        self.descriptor = descriptor
        // The kernel keeps sent data in its own pages until it is read, up to this number of bytes.
        self.largestPieceByteCount = try KernelCall.retrying("getsockopt(SO_SNDBUF)") {
            chunkwise_alg_capacity(descriptor)
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// The corresponding C function is `sendmsg` with `ALG_SET_OP` and `ALG_SET_IV`.
    func send(
        _ piece: UnsafeRawBufferPointer, direction: CipherDirection, iv: Block
    ) throws(DecryptionError) -> Int {
        try KernelCall.retrying("sendmsg") {
            iv.withUnsafeBytes {
                chunkwise_alg_send(
                    descriptor, direction == .encrypt ? 1 : 0, $0.baseAddress, piece.baseAddress, piece.count)
            }
        }
    }

    /// The corresponding C function is `recv`.
    func receive(into output: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
        try KernelCall.retrying("recv") { chunkwise_alg_receive(descriptor, output.baseAddress, output.count) }
    }

    func reset() throws(DecryptionError) {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
        descriptor = try Self.open(algorithm)
    }

    private static func open(_ algorithm: AlgorithmSocket) throws(DecryptionError) -> Int32 {
        Int32(try KernelCall.retrying("accept") { Int(chunkwise_alg_open_operation(algorithm.descriptor)) })
    }
}

/// A socket that is bound to a cipher and holds its key inside the kernel.
final class AlgorithmSocket {
    let descriptor: Int32

    /// The corresponding C functions are `socket` and `bind`.
    ///
    /// - Throws: `DecryptionError.backend` with the kernel's error: EAFNOSUPPORT if it has no such sockets, ENOENT if
    ///   it lacks the cipher.
    init(cipher: String) throws(DecryptionError) {
        self.descriptor = Int32(
            try KernelCall.retrying("bind to \"\(cipher)\"") { Int(chunkwise_alg_bind(cipher)) })
    }

    /// Gives the kernel the key. The corresponding C function is `setsockopt` with `ALG_SET_KEY`.
    func setKey(_ key: SecretKey) throws(DecryptionError) {
        // The bytes come directly from the key's own memory: the only copy is the kernel's, which it erases with the
        // socket.
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

/// A channel for pieces to the kernel and back: a socket, or, in tests, one that misbehaves as a socket may.
protocol PieceSocket: AnyObject {
    /// The max number of bytes of a piece; a multiple of 16, at least 16.
    var largestPieceByteCount: Int { get }

    /// Sends a piece that starts with its own IV.
    ///
    /// - Returns: The number of bytes that were accepted. The caller must receive as many before it sends another
    ///   piece.
    func send(
        _ piece: UnsafeRawBufferPointer, direction: CipherDirection, iv: Block
    ) throws(DecryptionError) -> Int

    /// Receives output for the sent bytes, at most as much as is pending.
    ///
    /// - Returns: The number of bytes written to the start of `output`.
    func receive(into output: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int

    /// Discards sent bytes whose output was not received.
    func reset() throws(DecryptionError)
}

/// Turns this backend's system calls into errors, and repeats interrupted ones. No other place does.
enum KernelCall {
    /// Repeats a call while it is interrupted.
    ///
    /// - Parameters:
    ///   - operation: The operation that the error names.
    ///   - call: Returns -1 and sets `errno` when it fails.
    /// - Returns: The result of `call`, at least 0.
    /// - Throws: `DecryptionError.backend` with the text of `errno`.
    static func retrying(
        _ operation: @autoclosure () -> String, _ call: () -> Int
    ) throws(DecryptionError) -> Int {
        while true {
            let result = call()
            if result >= 0 { return result }
            let code = errno
            if code != EINTR {
                throw .backend(name: "af-alg", operation: operation(), reason: String(cString: strerror(code)))
            }
        }
    }
}
