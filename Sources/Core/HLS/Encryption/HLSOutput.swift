public import RandomAccess

/// Where an encryptor writes its playlist, segments and keys: one resource after the other.
public protocol HLSOutput: AnyObject {
    /// Starts a resource; the one before has ended.
    ///
    /// - Parameters:
    ///   - name: A name that any file can have.
    ///   - isSecret: Whether it is a key, which nobody else may read.
    /// - Throws: `DecryptionError.io`.
    func begin(_ name: String, isSecret: Bool) throws(DecryptionError)

    /// Adds bytes to the resource.
    ///
    /// - Throws: `DecryptionError.io`.
    func write(_ bytes: UnsafeRawBufferPointer) throws(DecryptionError)

    /// Ends the resource.
    ///
    /// - Throws: `DecryptionError.io`.
    func end() throws(DecryptionError)
}
