import Glibc
import RandomAccess
package import Support

/// The harness's ends of a subject's pipes. Each answer has a deadline, whatever the subject sends meanwhile. The
/// channel also reads the log, so that a subject that writes much of it never blocks.
final class SubjectChannel {
    private let input: Int32
    private var output: Int32
    private var errors: Int32
    private let timeout: Duration
    private let isInterrupted: () -> Bool
    private var buffer: [UInt8] = []
    private var start = 0
    private var log: [UInt8] = []
    /// A line longer than this is not a message.
    private let longestLine: Int
    /// The max number of log bytes read at once: a log that grows faster than it is read must not delay the deadline.
    private let largestDrain = 1 << 20
    private var deadline: ContinuousClock.Instant

    init(
        input: Int32, output: Int32, errors: Int32, timeout: Duration, longestLine: Int,
        isInterrupted: @escaping () -> Bool
    ) {
        self.input = input
        self.output = output
        self.errors = errors
        self.timeout = timeout
        self.isInterrupted = isInterrupted
        self.longestLine = longestLine
        self.deadline = .now + timeout
        for descriptor in [input, output, errors] { _ = fcntl(descriptor, F_SETFL, O_NONBLOCK) }
    }

    deinit {
        close(input)
        closeInput()
        if errors >= 0 { close(errors) }
    }

    /// Starts the clock for the next answer.
    func startClock() {
        deadline = .now + timeout
    }

    /// Extends the deadline by the time that the harness itself took.
    func extendClock(by duration: Duration) {
        deadline += duration
    }

    /// The output that the subject sent without a request, or `nil`.
    var unaskedOutput: String? {
        if buffer.count == start {
            buffer.removeAll(keepingCapacity: true)
            start = 0
            guard Self.append(from: input, to: &buffer) > 0 else { return nil }
        }
        return String(decoding: buffer[start...].prefix(80), as: UTF8.self)
    }

    /// Closes the subject's input. The corresponding C function is `close`.
    func closeInput() {
        guard output >= 0 else { return }
        close(output)
        output = -1
    }

    /// The last lines of the subject's standard error, as far as they have been read.
    var lastLog: String {
        drainLog()
        let text = String(decoding: log.suffix(400), as: UTF8.self)
        return text.split(separator: "\n").suffix(3).joined(separator: " | ")
    }

    func send(_ bytes: [UInt8]) throws(SubjectError) {
        let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        defer {
            eraseBytes(scratch)
            scratch.deallocate()
        }
        scratch.copyBytes(from: bytes)
        try send(UnsafeRawBufferPointer(scratch))
    }

    func send(_ bytes: UnsafeRawBufferPointer) throws(SubjectError) {
        var done = 0
        while done < bytes.count {
            let count = write(output, bytes.baseAddress.map { $0 + done }, bytes.count - done)
            if count > 0 {
                done += count
            } else if errno == EAGAIN {
                try wait(for: output, events: Int16(POLLOUT))
            } else if errno != EINTR {
                throw errno == EPIPE ? .ended : .broken("write to the subject", errno)
            }
        }
    }

    /// Reads the next line, and returns it without its end.
    func readLine() throws(SubjectError) -> [UInt8] {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: 0x0A) {
                let line = Array(buffer[start..<end])
                start = end + 1
                return line
            }
            guard buffer.count - start <= longestLine else { throw .framing("a line of over \(longestLine) bytes") }
            buffer.removeFirst(start)
            start = 0
            searched = buffer.count
            try fill()
        }
    }

    /// Reads the next `count` bytes.
    func read(_ count: Int) throws(SubjectError) -> [UInt8] {
        while buffer.count - start < count { try fill() }
        let bytes = Array(buffer[start..<start + count])
        start += count
        return bytes
    }

    private func fill() throws(SubjectError) {
        while true {
            guard ContinuousClock.now < deadline else { throw .timeout(seconds: timeout / .seconds(1)) }
            let count = Self.append(from: input, to: &buffer)
            if count > 0 { return }
            if count == 0 { throw .ended }
            if errno == EAGAIN {
                try wait(for: input, events: Int16(POLLIN))
            } else if errno != EINTR {
                throw .broken("read from the subject", errno)
            }
        }
    }

    /// The corresponding C function is `poll`.
    private func wait(for descriptor: Int32, events: Int16) throws(SubjectError) {
        while true {
            let rest = deadline - ContinuousClock.now
            guard rest > .zero else { throw .timeout(seconds: timeout / .seconds(1)) }
            var descriptors = [
                pollfd(fd: descriptor, events: events, revents: 0),
                pollfd(fd: errors, events: Int16(POLLIN), revents: 0),
            ]
            // The wait is short, because a signal that arrives just before it does not end it.
            let wait = min(rest, .milliseconds(500))
            let ready = poll(&descriptors, 2, Int32(clamping: Int((wait / .milliseconds(1)).rounded(.up))))
            if ready < 0, errno != EINTR { throw .broken("wait for the subject", errno) }
            if ready <= 0, isInterrupted() { throw .interrupted }
            if ready > 0 {
                if descriptors[1].revents != 0 { drainLog() }
                if descriptors[0].revents != 0 { return }
            }
        }
    }

    private func drainLog() {
        var drained = 0
        while errors >= 0, drained < largestDrain {
            let count = Self.append(from: errors, to: &log)
            drained += max(0, count)
            if log.count > 1 << 16 { log.removeFirst(log.count - 4096) }
            if count == 0 || count < 0 && errno != EAGAIN && errno != EINTR {
                close(errors)
                errors = -1
            } else if count < 0, errno == EAGAIN {
                return
            }
        }
    }

    /// Reads the subject's log for a moment, so that the subject need not wait for space in the pipe.
    func pause() {
        var descriptors = [pollfd(fd: errors, events: Int16(POLLIN), revents: 0)]
        // Without an open log, this is a plain sleep.
        if poll(&descriptors, 1, 2) > 0 { drainLog() }
    }

    /// Waits until the user stops this process, and returns whether that happened in time.
    func waitForInterruption(atMost longest: Duration) -> Bool {
        let limit = ContinuousClock.now + longest
        while !isInterrupted() {
            guard ContinuousClock.now < limit else { return false }
            pause()
        }
        return true
    }

    private static func append(from descriptor: Int32, to buffer: inout [UInt8]) -> Int {
        withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 16) { scratch in
            let count = Glibc.read(descriptor, scratch.baseAddress, scratch.count)
            if count > 0 { buffer.append(contentsOf: UnsafeRawBufferPointer(rebasing: scratch[..<count])) }
            return count
        }
    }
}

/// The reason that a subject gave no good answer.
package enum SubjectError: Error, Hashable, Sendable {
    /// The command could not be started.
    case notStarted(command: String, reason: String)
    /// The subject answered with an error.
    case refused(name: String, message: String)
    /// No answer came in time.
    case timeout(seconds: Double)
    /// The subject ended; `status` is what `waitpid` reported, `log` the end of its standard error.
    case died(status: Int32, log: String)
    /// The subject sent something that is not a message.
    case framing(String)
    /// The subject closed its output.
    case ended
    /// A system call failed, so that the subject's state is unknown.
    case broken(_ operation: String, _ code: Int32)
    /// The user stopped it.
    case interrupted
}

extension SubjectError: CustomStringConvertible, ExitStatusProviding {
    /// The exit status of a command that ends with this error.
    package var exitStatus: ExitStatus {
        switch self {
        case .notStarted: .missingInput
        case .broken: .io
        case .refused, .timeout, .died, .framing, .ended, .interrupted: .noAnswer
        }
    }

    /// The error message: what failed, the value, what was expected.
    package var description: String {
        switch self {
        case .notStarted(let command, let reason): "could not start \(command): \(reason)"
        case .refused(let name, let message): "\(name): \(message)"
        case .timeout(let seconds): "no answer within \((seconds * 100).rounded() / 100) s"
        case .died(let status, let log): "the subject \(Self.ending(status))" + (log.isEmpty ? "" : ": \(log)")
        case .framing(let what): "the subject broke the protocol: \(what)"
        case .ended: "the subject closed its output"
        case .broken(let operation, let code): "\(operation): \(String(cString: strerror(code)))"
        case .interrupted: "stopped before the answer"
        }
    }

    /// The signal that ended a process; 0 if it exited. The corresponding C macro is `WTERMSIG`: wait(2).
    static func signal(of status: Int32) -> Int32 { status & 0x7F }

    private static func ending(_ status: Int32) -> String {
        let signal = Self.signal(of: status)
        return signal == 0 ? "exited with status \(status >> 8 & 0xFF)" : "was ended by signal \(signal)"
    }
}
