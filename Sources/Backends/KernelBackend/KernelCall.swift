import Glibc
internal import RandomAccess

/// The one place where this backend's system calls become errors, and where interrupted ones are repeated.
enum KernelCall {
    /// Repeats a call while it is interrupted.
    ///
    /// - Parameters:
    ///   - operation: What is tried, for the error.
    ///   - call: Returns -1 and sets `errno` when it fails.
    /// - Returns: What `call` returned, at least 0.
    /// - Throws: `DecryptionError.backend` with the text of `errno`.
    static func retrying(
        _ operation: @autoclosure () -> String, _ call: () -> Int
    ) throws(DecryptionError) -> Int {
        while true {
            let result = call()
            if result >= 0 { return result }
            let code = errno
            if code != EINTR {
                throw .backend(name: "af-alg", operation: operation(), reason: String(cString: strerror(code)))
            }
        }
    }
}
