import ByteSources
import Crypto
package import RandomAccess
import SubjectProtocol
import Support
import Vectors

/// What an object's plaintext must be, from somewhere else than the code that is measured.
package protocol ExpectedPlaintext: Sendable {
    /// Fills a buffer with the plaintext from `offset` on, all of which lies in the object.
    ///
    /// - Throws: `DecryptionError` where the plaintext has to be worked out from ciphertext that cannot be read.
    func fill(_ buffer: UnsafeMutableRawBufferPointer, from offset: UInt64) throws(DecryptionError)
}

/// The plaintext of an object that was made for a measurement: known before it was encrypted.
struct StreamPlaintext: ExpectedPlaintext {
    let stream: SplitMix64Stream

    func fill(_ buffer: UnsafeMutableRawBufferPointer, from offset: UInt64) throws(DecryptionError) {
        stream.fill(buffer, from: offset)
    }
}

extension ExpectedPlaintext {
    /// SHA-256 of what the reads must deliver, in their order, in hex.
    func digest(of reads: ReadList) throws(DecryptionError) -> String {
        var hash = SHA256()
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
        defer { room.deallocate() }
        for read in reads {
            var offset = read.offset
            let end = read.offset + read.count
            while offset < end {
                let part = UnsafeMutableRawBufferPointer(rebasing: room[..<Int(min(UInt64(room.count), end - offset))])
                try fill(part, from: offset)
                hash.update(bufferPointer: UnsafeRawBufferPointer(part))
                offset += UInt64(part.count)
            }
        }
        return Hexadecimal.encode(hash.finalize())
    }
}
