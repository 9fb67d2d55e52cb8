import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Ctrl-C and `kill`: a sweep ends after the running process, with its results whole.
enum Interruption {
    private static let isRequested = Atomic<Bool>(false)

    /// Whether the user asked to stop.
    static var wasRequested: Bool { isRequested.load(ordering: .relaxed) }

    /// Takes over SIGINT and SIGTERM; a second one ends the process as usual. A subject that dies
    /// is a result.
    static func install() {
        for number in [SIGINT, SIGTERM] {
            signal(number) { number in
                Interruption.isRequested.store(true, ordering: .relaxed)
                signal(number, SIG_DFL)
            }
        }
        ignoreBrokenPipes()
    }

    /// Makes writing to a pipe that nobody reads an error instead of the process's end.
    static func ignoreBrokenPipes() {
        signal(SIGPIPE, SIG_IGN)
    }
}
