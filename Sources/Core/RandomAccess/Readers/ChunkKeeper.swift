/// A reader that keeps a chunk's plaintext from one read to the next.
package protocol ChunkKeeper: RandomAccessDecryptor {
    /// Forgets it, so that the next read starts like the first.
    func forgetChunk()
}
