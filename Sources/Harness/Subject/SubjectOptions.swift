import PluginBackend
import RandomAccess
package import Support

/// The options of a subject's command line: the backend, and the way in which its reader reads.
package struct SubjectOptions: Hashable, Sendable {
    /// The backend's name.
    package var backend = "libgcrypt"
    /// The access policy.
    package var access = AccessPolicy.block
    /// The number of plaintext bytes that are decrypted in one step.
    package var window = ByteSize(256 << 10)
    /// The number of threads that read at once in measurements.
    package var threads = 1
    /// The number of extra bytes that are decrypted for each byte delivered.
    package var extraWork = 0.0

    /// A mistake in the options.
    package struct Mistake: Error, Hashable, Sendable, CustomStringConvertible, ExitStatusProviding {
        /// The error message: what failed, the value, what was expected.
        package let description: String

        package var exitStatus: ExitStatus { .usage }
    }

    package init() {}

    /// Reads `--name value` and `--name=value`. If an option is given twice, the last one counts.
    ///
    /// It does not use ArgumentParser, which would take most of the time before the process answers `hello`.
    ///
    /// - Throws: `Mistake`.
    package init(arguments: some Sequence<String>) throws(Mistake) {
        var rest = Array(arguments)[...]
        var named: String?
        while let argument = rest.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            guard Self.names.contains(name) else {
                throw Mistake(
                    description: "unknown option \(argument): expected one of \(Self.names.joined(separator: ", "))")
            }
            guard let value = parts.count > 1 ? String(parts[1]) : rest.popFirst() else {
                throw Mistake(description: "\(name) without a value: expected one")
            }
            if ["--backend", "--plugin"].contains(name) {
                guard named == nil || named == name else {
                    throw Mistake(description: "--backend and --plugin: expected one of them")
                }
                named = name
            }
            try set(name, value)
        }
    }

    private static let names = ["--backend", "--plugin", "--access", "--window", "--threads", "--extra-work"]

    private mutating func set(_ name: String, _ value: String) throws(Mistake) {
        switch name {
        case "--backend": backend = value
        case "--plugin": backend = PluginBackend.prefix + value
        case "--access": access = try Self.parsed(AccessPolicy(rawValue: value), name, value, AccessPolicy.expectation)
        case "--window":
            window = try Self.parsed(ByteSize(value), name, value, "a size such as 64KiB, 16MB or 100MiB")
        case "--threads": threads = try Self.parsed(Int(value), name, value, "1 to 256")
        default: extraWork = try Self.parsed(Double(value), name, value, "0 to 10, such as 0.05")
        }
    }

    private static func parsed<Value>(
        _ result: Value?, _ name: String, _ value: String, _ expected: String
    ) throws(Mistake) -> Value {
        guard let result else { throw Mistake(description: "\(name) \(value): expected \(expected)") }
        return result
    }

    /// Returns the reader that the options describe.
    ///
    /// - Throws: `Mistake` for numbers out of range.
    package func configuration() throws(Mistake) -> ReaderConfiguration {
        guard let work = ExtraWork(share: extraWork) else {
            throw Mistake(description: "--extra-work \(extraWork): expected 0 to 10, such as 0.05")
        }
        guard (1...1 << 30).contains(window.byteCount) else {
            throw Mistake(description: "--window \(window): expected 1 byte to 1GiB")
        }
        guard (1...256).contains(threads) else {
            throw Mistake(description: "--threads \(threads): expected 1 to 256")
        }
        guard BufferLimit.allows(threads: threads, windowByteCount: window.byteCount) else {
            throw Mistake(description: "--window \(window) --threads \(threads): expected \(BufferLimit.expectation)")
        }
        return ReaderConfiguration(
            access: access, windowByteCount: Int(window.byteCount), threadCount: threads, extraWork: work)
    }
}
