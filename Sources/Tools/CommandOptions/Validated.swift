import BackendRegistry
import Measurement
package import RandomAccess
package import Support

/// Options of several commands, checked.
package enum Validated {
    /// A window's length in bytes.
    package static func window(_ size: ByteSize) throws -> Int {
        guard size.byteCount > 0, size.byteCount <= 1 << 30 else {
            throw CommandFailure(.usage, "--window \(size): expected 1 byte to 1GiB")
        }
        return Int(size.byteCount)
    }

    /// A number of threads.
    package static func threads(_ count: Int) throws -> Int {
        guard (1...256).contains(count) else {
            throw CommandFailure(.usage, "--threads \(count): expected 1 to 256")
        }
        return count
    }

    /// A backend by its name.
    package static func backend(_ name: String) throws -> any CipherBackend {
        try attempt { try BackendRegistry.backend(named: name) }
    }
}
