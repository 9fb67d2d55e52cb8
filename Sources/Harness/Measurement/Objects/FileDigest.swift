import ByteSources
import Crypto
package import RandomAccess
import Support
package import SystemPackage

/// SHA-256 of whole files, to pin what was used.
package enum FileDigest {
    /// Hashes a file.
    ///
    /// - Returns: The digest in hex.
    /// - Throws: `DecryptionError.io`, `.truncatedCiphertext` if the file shrinks meanwhile.
    package static func sha256(_ path: FilePath) throws(DecryptionError) -> String {
        let source = try FileSource(path: path)
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
        defer { room.deallocate() }
        var hash = SHA256()
        var offset: UInt64 = 0
        while offset < source.byteCount {
            let count = Int(min(UInt64(room.count), source.byteCount - offset))
            let part = UnsafeMutableRawBufferPointer(rebasing: room[..<count])
            try source.fetch(at: offset, into: part)
            hash.update(bufferPointer: UnsafeRawBufferPointer(part))
            offset += UInt64(count)
        }
        return Hexadecimal.encode(hash.finalize())
    }
}
