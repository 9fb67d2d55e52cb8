import BackendRegistry
import ByteSources
import RandomAccess

@testable import Conformance

/// A reader over a right one, that does something of its own with each read.
final class FaultyReader: RandomAccessDecryptor {
    typealias Read = (
        _ base: any RandomAccessDecryptor, _ offset: UInt64, _ buffer: UnsafeMutableRawBufferPointer
    ) throws(DecryptionError) -> Int

    private let base: any RandomAccessDecryptor
    private let body: Read

    init(_ base: any RandomAccessDecryptor, _ body: @escaping Read) {
        self.base = base
        self.body = body
    }

    var plaintextByteCount: UInt64 { base.plaintextByteCount }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
        try body(base, offset, buffer)
    }
}

/// A source over another, that does something of its own with each read.
struct ScriptedSource: ByteSource {
    let base: any ByteSource
    let body: @Sendable (any ByteSource, UInt64, FetchBuffers) throws(DecryptionError) -> Int

    var byteCount: UInt64 { base.byteCount }

    func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        try body(base, offset, buffers)
    }
}

/// A backend over a right one, that changes the IV of each stretch, or what it delivers.
struct FaultyBackend: CipherBackend {
    let base: any CipherBackend
    var modes: [CipherMode] { base.modes }
    var keyByteCounts: [Int] { base.keyByteCounts }
    let name = "planted"
    let version = "0"
    let cpuFeatures: [String] = []
    let change:
        @Sendable (CipherMode, any CipherContext, UnsafeRawBufferPointer, UnsafeMutableRawPointer, Block)
            throws(DecryptionError) -> Void

    private final class Context: CipherContext {
        let base: any CipherContext
        let mode: CipherMode
        let backend: FaultyBackend

        init(base: any CipherContext, mode: CipherMode, backend: FaultyBackend) {
            (self.base, self.mode, self.backend) = (base, mode, backend)
        }

        func process(
            _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, iv: Block
        ) throws(DecryptionError) {
            try backend.change(mode, base, input, output, iv)
        }
    }

    func makeContext(
        mode: CipherMode, direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext {
        Context(base: try base.makeContext(mode: mode, direction: direction, key: key), mode: mode, backend: self)
    }
}
