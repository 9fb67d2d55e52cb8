import ByteSources
import Glibc
package import RandomAccess
import SubjectProtocol
import Support
package import SystemPackage
import Vectors

/// The expected plaintext of an object, from a source other than the measured code.
package protocol ExpectedPlaintext: Sendable {
    /// Fills a buffer with the plaintext from `offset` on. The whole range must be in the object.
    ///
    /// - Throws: `DecryptionError` if the plaintext is derived from ciphertext that cannot be read.
    func fill(_ buffer: UnsafeMutableRawBufferPointer, from offset: UInt64) throws(DecryptionError)
}

/// The plaintext of an object that was generated for a measurement. It is known from before the encryption.
struct StreamPlaintext: ExpectedPlaintext {
    let stream: SplitMix64Stream

    func fill(_ buffer: UnsafeMutableRawBufferPointer, from offset: UInt64) throws(DecryptionError) {
        stream.fill(buffer, from: offset)
    }
}

extension ExpectedPlaintext {
    /// Returns the SHA-256, in hex, of the bytes that the reads must deliver in their order.
    func digest(of reads: ReadList) throws(DecryptionError) -> String {
        let hash = SHA256Hasher()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
        defer { buffer.deallocate() }
        for read in reads {
            var offset = read.offset
            let end = read.offset + read.count
            while offset < end {
                let part = UnsafeMutableRawBufferPointer(
                    rebasing: buffer[..<Int(min(UInt64(buffer.count), end - offset))])
                try fill(part, from: offset)
                hash.update(UnsafeRawBufferPointer(part))
                offset += UInt64(part.count)
            }
        }
        return Hexadecimal.encode(hash.finish())
    }
}

/// SHA-256 of whole files, to identify the files of a run.
package enum FileDigest {
    /// Hashes the programs that measure.
    ///
    /// - Parameter command: The command that starts a subject, its program first.
    /// - Returns: One digest in hex; `nil` if the user may run a program but not read it.
    /// - Throws: `DecryptionError.io`.
    package static func programs(_ command: [String]) throws(DecryptionError) -> String? {
        do throws(DecryptionError) {
            let own = try sha256("/proc/self/exe")
            guard let program = command.first else { return own }
            let other = try sha256(FilePath(program))
            return own == other ? own : Hexadecimal.encode(SHAFunction.sha256.hash(Array((own + other).utf8)))
        } catch {
            guard case .io(_, EACCES, _) = error else { throw error }
            return nil
        }
    }

    /// Hashes a file.
    ///
    /// - Returns: The digest in hex.
    /// - Throws: `DecryptionError.io`; `.truncatedCiphertext` if the file shrinks while it is read.
    package static func sha256(_ path: FilePath) throws(DecryptionError) -> String {
        let source = try FileSource(path: path)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
        defer { buffer.deallocate() }
        let hash = SHA256Hasher()
        var offset: UInt64 = 0
        while offset < source.byteCount {
            let count = Int(min(UInt64(buffer.count), source.byteCount - offset))
            let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
            try source.fetch(at: offset, into: part)
            hash.update(UnsafeRawBufferPointer(part))
            offset += UInt64(count)
        }
        return Hexadecimal.encode(hash.finish())
    }
}
