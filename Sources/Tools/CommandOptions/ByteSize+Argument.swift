import ArgumentParser
import Measurement
package import Support

extension ByteSize {
    /// Reads a size from the command line.
    package static let argument: @Sendable (String) throws -> ByteSize = { text in
        guard let size = ByteSize(text) else {
            throw CommandFailure(.usage, "expected a size such as 64KiB, 16MB or 100MiB")
        }
        return size
    }
}
