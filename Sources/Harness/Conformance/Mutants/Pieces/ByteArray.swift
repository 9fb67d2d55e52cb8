internal import RandomAccess

extension [UInt8] {
    /// Calls `body` with the bytes; unlike the library's method, with the type of what it throws.
    mutating func withMutableBytes<Value>(
        _ body: (UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Value
    ) throws(DecryptionError) -> Value {
        let result = withUnsafeMutableBytes { bytes in
            Result { () throws(DecryptionError) in try body(bytes) }
        }
        return try result.get()
    }
}
