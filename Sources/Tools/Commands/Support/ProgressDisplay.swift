import CommandOptions
import Support
import Synchronization

/// Progress as it suits standard error: a line that changes on a terminal, and now and then a line in a pipe.
final class ProgressDisplay: Sendable {
    private let start = ContinuousClock.now
    private let pace = Mutex(ProgressPace())

    /// Starts the clock.
    init() {}

    /// The seconds since the start.
    var seconds: Double { start.duration(to: .now) / .seconds(1) }

    /// Shows a line; may be called on any thread.
    ///
    /// - Parameters:
    ///   - line: What is running.
    ///   - share: How much is done, from 0 to 1.
    func show(_ line: ProgressLine, share: Double) {
        guard !Terminal.isInteractive else { return Terminal.showProgress(line.text(columns: Terminal.columns - 1)) }
        pace.withLock { pace in
            guard pace.isDue(share: share, seconds: seconds) else { return }
            let percent = "\(Int(max(0, min(1, share)) * 100)) %"
            Terminal.writeError("progress: \(percent) · \(line.text(columns: 100))")
        }
    }

    /// Shows how many of equal parts are finished; may be called on any thread.
    ///
    /// - Parameters:
    ///   - finished: How many are.
    ///   - total: All parts.
    ///   - parts: What they are: `groups`.
    ///   - name: What is running.
    func show(_ finished: Int, of total: Int, _ parts: String, name: String) {
        let rest = TimeLeft.seconds(finished: finished, of: total, elapsed: seconds)
        show(
            ProgressLine(
                place: "\(finished)/\(total) \(parts)", name: name, rest: rest.map { TimeLeft.text(seconds: $0) } ?? ""),
            share: Double(finished) / Double(max(1, total)))
    }
}
