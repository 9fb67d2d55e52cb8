#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Standard error: messages always, progress only where a person sees it.
enum Terminal {
    /// Whether standard error is a terminal.
    static let isInteractive = isatty(2) == 1

    /// Writes a line, over the progress if there is one.
    static func writeError(_ line: String) {
        write((isInteractive ? "\r\u{1B}[K" : "") + line + "\n")
    }

    /// Shows how far something is, in place of what stood there; nothing where standard error is no terminal.
    static func showProgress(_ text: String) {
        guard isInteractive else { return }
        write("\r\u{1B}[K" + String(text.prefix(79)))
    }

    /// Removes the progress.
    static func clearProgress() {
        guard isInteractive else { return }
        write("\r\u{1B}[K")
    }

    private static func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            // Nobody is left to tell if this fails.
            _ = Glibc.write(2, bytes.baseAddress, bytes.count)
        }
    }
}
