import Glibc
import Support
import Synchronization

/// Output to standard error: messages always, progress only on a terminal.
enum Terminal {
    /// True if standard error is a terminal on which a line can be overwritten.
    static let isInteractive = isatty(2) == 1 && variable("TERM") != "dumb"

    /// The number of columns: that of the terminal or of `COLUMNS`, whichever is less. The corresponding C function is
    /// `ioctl` with `TIOCGWINSZ`. It is called each time, because windows change.
    static var columns: Int {
        var size = winsize()
        let found = ioctl(2, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : nil
        let said = variable("COLUMNS").flatMap(Int.init).flatMap { $0 > 0 ? $0 : nil }
        return [found, said].compactMap(\.self).min() ?? TextTable.width
    }

    /// Writes a line, over the progress if there is one. Leaves out line breaks and control characters.
    static func writeError(_ line: String) {
        write((isInteractive ? "\r\u{1B}[K" : "") + PlainText.line(line) + "\n")
    }

    /// Writes a line if standard error takes it at once, so that a full pipe does not block a server. The next line
    /// reports how many lines were left out.
    static func sayWithoutWaiting(_ line: String) {
        leftOutCount.withLock { leftOut in
            if leftOut > 0, takesLine {
                writeError("chunkwise: \(leftOut) messages were left out: standard error took none")
                leftOut = 0
            }
            guard leftOut == 0, takesLine else {
                leftOut += 1
                return
            }
            writeError(String(line.prefix(maxLineLength)))
        }
    }

    private static let leftOutCount = Mutex(0)
    /// The maximum length of a line. A pipe that is ready for writing has space for it, in UTF-8. Source: POSIX.1-2017,
    /// PIPE_BUF; poll(2).
    private static let maxLineLength = 900

    /// True if standard error takes a line without blocking. The corresponding C function is `poll`.
    private static var takesLine: Bool {
        var request = pollfd(fd: 2, events: Int16(POLLOUT), revents: 0)
        return poll(&request, 1, 0) == 1 && request.revents & Int16(POLLOUT) != 0
    }

    /// Writes a warning.
    static func warn(_ text: String) {
        writeError("chunkwise: warning: \(text)")
    }

    /// Shows the progress in place of the previous one. Does nothing if standard error is not a terminal.
    static func showProgress(_ text: @autoclosure () -> String) {
        guard isInteractive else { return }
        // Some terminals break a line that reaches the last column.
        write("\r\u{1B}[K" + String(PlainText.line(text()).prefix(columns - 1)))
    }

    /// Removes the progress.
    static func clearProgress() {
        guard isInteractive else { return }
        write("\r\u{1B}[K")
    }

    /// The value of an environment variable.
    static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    private static func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Glibc.write(2, UnsafeBufferPointer(rebasing: rest).baseAddress, rest.count)
                // An error here cannot be reported, because standard error itself fails.
                guard count >= 0 || errno == EINTR || errno == EAGAIN else { return }
                if count < 0, errno == EAGAIN { ProcessStart.waitUntilReady(2, toWrite: true) }
                rest = rest.dropFirst(max(0, count))
            }
        }
    }
}

/// A progress display: a line that changes on a terminal, or an occasional line in a pipe.
final class ProgressDisplay: Sendable {
    private let start = ContinuousClock.now
    private let pace = Mutex(ProgressPace())
    private let lastPercent = Mutex(-1)

    /// Starts the clock.
    init() {}

    /// The seconds since the start.
    var seconds: Double { start.duration(to: .now) / .seconds(1) }

    /// Shows a line. May be called on any thread.
    ///
    /// - Parameters:
    ///   - line: The line.
    ///   - share: The finished share, from 0 to 1.
    func show(_ line: ProgressLine, share: Double) {
        guard !Terminal.isInteractive else { return Terminal.showProgress(line.text(columns: Terminal.columns - 1)) }
        pace.withLock { pace in
            guard pace.isDue(share: share, seconds: seconds) else { return }
            let percent = "\(Int(max(0, min(1, share)) * 100)) %"
            Terminal.writeError("progress: \(percent) · \(line.text(columns: 100))")
        }
    }

    /// Shows the number of finished parts, all of which count the same. May be called on any thread. The line on a
    /// terminal changes a hundred times.
    ///
    /// - Parameters:
    ///   - finished: The number of finished parts.
    ///   - total: The number of all parts.
    ///   - parts: The word for the parts: `groups`.
    ///   - name: The name of the current work.
    func show(_ finished: Int, of total: Int, _ parts: String, name: String) {
        let percent = finished * 100 / max(1, total)
        let isNew = lastPercent.withLock { last in
            defer { last = percent }
            return last != percent
        }
        guard isNew || !Terminal.isInteractive else { return }
        let rest = TimeLeft.seconds(finished: finished, of: total, elapsed: seconds)
        show(
            ProgressLine(
                position: "\(finished)/\(total) \(parts)", name: name,
                rest: rest.map { TimeLeft.text(seconds: $0) } ?? ""),
            share: Double(finished) / Double(max(1, total)))
    }
}
