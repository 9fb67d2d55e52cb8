internal import CLinux
import Glibc
internal import RandomAccess

/// A socket that takes input and gives output, under the key of an ``AlgorithmSocket``.
final class OperationSocket: PieceSocket {
    let largestPieceByteCount: Int

    private let algorithm: AlgorithmSocket
    private var descriptor: Int32

    /// The corresponding C functions are `accept4`, and `getsockopt` with `SO_SNDBUF`.
    init(of algorithm: AlgorithmSocket) throws(DecryptionError) {
        let descriptor = try Self.open(algorithm)
        self.algorithm = algorithm
        self.descriptor = descriptor
        // The kernel keeps what is sent in pages of its own until it is read, and this many of them at most.
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
