/// A ciphertext by its parts, whole or tampered with.
package struct TamperContent: Hashable, Sendable {
    /// What stands before the first chunk; empty where the format has no header.
    package var header: [UInt8]
    /// Each chunk's ciphertext, padding or tag included; where a format's parts are files of their own, each file's.
    package var chunks: [[UInt8]]
    /// The byte of the IV whose lowest bit is flipped; for a playlist, any number stands for a media sequence number that
    /// is one more.
    package var damagedIVByte: Int?

    /// Creates a content.
    init(header: [UInt8] = [], chunks: [[UInt8]], damagedIVByte: Int? = nil) {
        self.header = header
        self.chunks = chunks
        self.damagedIVByte = damagedIVByte
    }

    /// Header and chunks in a row.
    package var bytes: [UInt8] { chunks.reduce(header, +) }
}
