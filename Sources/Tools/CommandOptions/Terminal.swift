import Glibc
import Support

/// Standard error: messages always, progress only where a person sees it; and whether standard output is coloured.
package enum Terminal {
    /// Whether standard error is a terminal on which a line can be written over.
    package static let isInteractive = isatty(2) == 1 && variable("TERM") != "dumb"

    /// The columns of the terminal; where `COLUMNS` says less, that many. The corresponding C function is `ioctl` with
    /// `TIOCGWINSZ`, asked each time since windows change.
    package static var columns: Int {
        var size = winsize()
        let found = ioctl(2, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : nil
        let said = variable("COLUMNS").flatMap(Int.init).flatMap { $0 > 0 ? $0 : nil }
        return [found, said].compactMap(\.self).min() ?? TextTable.width
    }

    /// Writes a line, over the progress if there is one.
    package static func writeError(_ line: String) {
        write((isInteractive ? "\r\u{1B}[K" : "") + line + "\n")
    }

    /// Shows how far something is, in place of what stood there; nothing where standard error is no terminal.
    package static func showProgress(_ text: String) {
        guard isInteractive else { return }
        // A line that reaches the last column is broken by some terminals.
        write("\r\u{1B}[K" + String(text.prefix(columns - 1)))
    }

    /// Removes the progress.
    package static func clearProgress() {
        guard isInteractive else { return }
        write("\r\u{1B}[K")
    }

    /// What the environment has under a name.
    package static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    private static func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            // Nobody is left to tell if this fails.
            _ = Glibc.write(2, bytes.baseAddress, bytes.count)
        }
    }
}
