import BackendRegistry
import ByteSources
import RandomAccess
import TestSupport
import Testing

@testable import Conformance

/// An injected fault, and the subject that has it.
struct Fault: Sendable, CustomTestStringConvertible {
    let name: String
    let subject: @Sendable (any CipherBackend) -> InProcessSubject

    var testDescription: String { name }

    /// A fault of the reader.
    static func reader(_ name: String, _ body: @escaping @Sendable () -> FaultyReader.Read) -> Fault {
        Fault(name: name) { backend in
            let right = InProcessSubject(backend: backend)
            return InProcessSubject(name: name) { (setup, source, strategy, key) throws(DecryptionError) in
                FaultyReader(try right.open(setup, source, strategy, key), body())
            }
        }
    }

    /// A fault between the source and the reader.
    static func source(
        _ name: String,
        _ body: @escaping @Sendable (any ByteSource, UInt64, FetchBuffers) throws(DecryptionError) -> Int
    ) -> Fault {
        Fault(name: name) { backend in
            let right = InProcessSubject(backend: backend)
            return InProcessSubject(name: name) { (setup, source, strategy, key) throws(DecryptionError) in
                try right.open(setup, ScriptedSource(base: source, body: body), strategy, key)
            }
        }
    }

    static let all: [Fault] = [
        Fault(name: "every chunk starts from the first one's IV") { backend in
            let right = InProcessSubject(backend: backend)
            return InProcessSubject(name: "iv") { (setup, source, strategy, key) throws(DecryptionError) in
                guard case .cbcChunked(let chunk, let iv, _, let padding)? = strategy.known else {
                    return try right.open(setup, source, strategy, key)
                }
                return try right.open(
                    setup, source, .cbcChunked(chunkByteCount: chunk, iv: iv, ivRule: .fixed, padding: padding), key)
            }
        },
        Fault(name: "the counter is 32 bits wide") { backend in
            InProcessSubject(
                backend: FaultyBackend(base: backend) { (cipher, base, input, output, iv) throws(DecryptionError) in
                    guard cipher == .aesCTR else { return try base.process(input, into: output, iv: iv) }
                    for start in stride(from: 0, to: input.count, by: 16) {
                        let value = iv.bigEndianValue
                        let low = UInt128(UInt32(truncatingIfNeeded: value) &+ UInt32(start / 16))
                        let block = UnsafeRawBufferPointer(rebasing: input[start..<min(start + 16, input.count)])
                        try base.process(
                            block, into: output + start, iv: Block(bigEndianValue: (value >> 32) << 32 | low))
                    }
                })
        },
        Fault(name: "padding is not checked but cut off") { backend in
            let right = InProcessSubject(backend: backend)
            return InProcessSubject(name: "padding") { (setup, source, strategy, key) throws(DecryptionError) in
                do throws(DecryptionError) {
                    return try right.open(setup, source, strategy, key)
                } catch .invalidPadding {
                    return try right.open(setup, source, .ctr(iv: Block(bigEndianValue: 0)), key)
                }
            }
        },
        .reader("an off-by-one at the last byte of a block") {
            { (base, offset, buffer) throws(DecryptionError) in
                let count = try base.read(at: offset, into: buffer)
                if offset % 16 == 15, count > 1 { buffer[0] ^= buffer[1] }
                return count
            }
        },
        .reader("zeros") {
            { (base, offset, buffer) throws(DecryptionError) in
                let count = try base.read(at: offset, into: buffer)
                for index in 0..<count { buffer[index] = 0 }
                return count
            }
        },
        .reader("one byte too few at the end") {
            { (base, offset, buffer) throws(DecryptionError) in
                let count = try base.read(at: offset, into: buffer)
                return count > 1 && offset + UInt64(count) == base.plaintextByteCount ? count - 1 : count
            }
        },
        .reader("the buffer is touched past the count") {
            { (base, offset, buffer) throws(DecryptionError) in
                let count = try base.read(at: offset, into: buffer)
                if count < buffer.count { buffer[count] = 16 }
                return count
            }
        },
        .reader("nothing works after a failure") {
            var hasFailed = false
            return { (base, offset, buffer) throws(DecryptionError) in
                if hasFailed { throw .io(operation: "read", code: 0, reason: "injected") }
                do throws(DecryptionError) {
                    return try base.read(at: offset, into: buffer)
                } catch {
                    hasFailed = true
                    throw error
                }
            }
        },
        .reader("offsets past the end deliver nothing") {
            { (base, offset, buffer) throws(DecryptionError) in
                offset > base.plaintextByteCount ? 0 : try base.read(at: offset, into: buffer)
            }
        },
        .reader("a failed fetch delivers what is there") {
            { (base, offset, buffer) throws(DecryptionError) in
                do throws(DecryptionError) {
                    return try base.read(at: offset, into: buffer)
                } catch .io {
                    return min(buffer.count, Int(base.plaintextByteCount - offset))
                }
            }
        },
        .source("each fetch starts at the file's start") { (base, offset, buffers) throws(DecryptionError) in
            var byte: UInt8 = 0
            if offset > 0 {
                let count = try withUnsafeMutableBytes(of: &byte) { (bytes) throws(DecryptionError) in
                    try base.read(at: 0, into: FetchBuffers(bytes))
                }
                if count == 0 { return 0 }
            }
            return try base.read(at: offset, into: buffers)
        },
        .source("short reads are taken for whole ones") { (base, offset, buffers) throws(DecryptionError) in
            try base.read(at: offset, into: buffers) == 0 ? 0 : buffers.byteCount
        },
        .source("everything is fetched twice") { (base, offset, buffers) throws(DecryptionError) in
            _ = try base.read(at: offset, into: buffers)
            return try base.read(at: offset, into: buffers)
        },
    ]
}

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

    func checkVersion() throws(DecryptionError) { try base.checkVersion() }
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
struct FaultyBackend: WrappingBackend {
    let base: any CipherBackend
    let change:
        @Sendable (Cipher, any CipherContext, UnsafeRawBufferPointer, UnsafeMutableRawPointer, Block)
            throws(DecryptionError) -> Void

    private final class Context: CipherContext {
        let base: any CipherContext
        let cipher: Cipher
        let backend: FaultyBackend

        init(base: any CipherContext, cipher: Cipher, backend: FaultyBackend) {
            (self.base, self.cipher, self.backend) = (base, cipher, backend)
        }

        func process(
            _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
            associatedData: UnsafeRawBufferPointer
        ) throws(DecryptionError) -> Bool {
            try backend.change(cipher, base, input, output, Block(loadingFrom: nonce))
            return true
        }
    }

    func makeContext(
        _ cipher: Cipher, _ direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext {
        let base = try base.makeContext(cipher, direction, key: key)
        return cipher.isStreaming ? Context(base: base, cipher: cipher, backend: self) : base
    }
}
