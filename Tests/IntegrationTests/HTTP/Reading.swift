import HTTPSources
import RandomAccess

extension HTTPSource {
    /// Bytes from an offset on, exactly as many.
    func bytes(_ range: Range<Int>) throws(DecryptionError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: range.count)
        var failure: DecryptionError?
        bytes.withUnsafeMutableBytes { buffer in
            do throws(DecryptionError) {
                try fetch(at: UInt64(range.lowerBound), into: buffer)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }
}

/// The name of the failure with which something ends, or `nil` if it does not.
func failureName(_ body: () throws -> Void) -> String? {
    do {
        try body()
        return nil
    } catch DecryptionError.io(_, _, let reason) {
        return reason.split(separator: ":").first.map(String.init)
    } catch {
        return "\(error)"
    }
}
