/// Which file, and which version of it, a descriptor stands for: another identity for other bytes.
package struct FileIdentity: Hashable, Sendable {
    /// The device that the file is on.
    package var device: UInt64
    /// The file's number on that device.
    package var node: UInt64
    /// The file's length in bytes.
    package var byteCount: UInt64
    /// When its bytes were changed last, in seconds since 1970.
    package var modifiedSeconds: Int64
    /// The rest of that time, in nanoseconds. The system counts in steps, of some milliseconds on many kernels: two
    /// changes within a step look like one.
    package var modifiedNanoseconds: Int64
}
