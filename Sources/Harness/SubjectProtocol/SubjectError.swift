/// Why a subject gave no good answer.
package enum SubjectError: Error, Hashable, Sendable {
    /// The command could not be started.
    case notStarted(command: String, reason: String)
    /// The subject answered with an error.
    case refused(name: String, message: String)
    /// No answer came in time.
    case timeout(seconds: Double)
    /// The subject ended; `status` is what `waitpid` reported, `log` the end of its standard error.
    case died(status: Int32, log: String)
    /// The subject said something that is no message.
    case framing(String)
    /// The subject closed its output.
    case ended
    /// The user stopped it.
    case interrupted
}

extension SubjectError: CustomStringConvertible {
    /// What failed, the value, what was expected.
    package var description: String {
        switch self {
        case .notStarted(let command, let reason): "could not start \(command): \(reason)"
        case .refused(let name, let message): "\(name): \(message)"
        case .timeout(let seconds): "no answer within \(seconds) s"
        case .died(let status, let log): "the subject \(Self.ending(status))" + (log.isEmpty ? "" : ": \(log)")
        case .framing(let what): "the subject broke the protocol: \(what)"
        case .ended: "the subject closed its output"
        case .interrupted: "stopped before the answer"
        }
    }

    /// Source: wait(2), the macros `WIFEXITED` and `WTERMSIG`.
    private static func ending(_ status: Int32) -> String {
        let signal = status & 0x7F
        return signal == 0 ? "exited with status \(status >> 8 & 0xFF)" : "was ended by signal \(signal)"
    }
}
