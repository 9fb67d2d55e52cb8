internal import COpenSSL
internal import RandomAccess

/// Turns OpenSSL's return codes into errors.
enum OpenSSLFailure {
    /// Checks the result of a function that returns 1 for success.
    static func check(_ result: Int32, in function: String) throws(DecryptionError) {
        guard result == 1 else { throw error(in: function) }
    }

    /// The newest error of this thread's queue, which is then emptied.
    ///
    /// The corresponding C functions are `ERR_peek_last_error`, `ERR_reason_error_string` and `ERR_clear_error`.
    static func error(in function: String) -> DecryptionError {
        let code = ERR_peek_last_error()
        let reason = ERR_reason_error_string(code).map { String(cString: $0) } ?? "error \(code)"
        ERR_clear_error()
        return .backend(name: "openssl", operation: function, reason: reason)
    }
}
