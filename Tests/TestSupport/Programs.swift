import Foundation
import Glibc

/// Programs that tests run.
package enum Programs {
    /// The `chunkwise` that was built with the tests; it lies beside them.
    package static var chunkwise: String { built("chunkwise") }

    /// A program that was built with the tests; it lies beside them.
    package static func built(_ name: String) -> String {
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return (tests as NSString).deletingLastPathComponent + "/" + name
    }

    /// A command that is written by others, or `nil` where it is not installed.
    package static func installed(_ name: String) -> String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Makes writing to a process that is gone an error, as `chunkwise` does, and not the end of the tests.
    package static func ignoreBrokenPipes() {
        signal(SIGPIPE, SIG_IGN)
    }
}
