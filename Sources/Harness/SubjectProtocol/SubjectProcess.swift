import Glibc
package import RandomAccess
package import Support

/// A subject in a process of its own, as the harness sees it.
///
/// It uses `posix_spawn` and `poll` rather than a package: every wait needs a deadline, the process ID is needed to
/// read the subject's memory use, and nothing may run in this process while a subject is timed.
package final class SubjectProcess {
    /// The process ID.
    package let processID: Int32

    private let channel: SubjectChannel
    private let timeout: Duration
    private let grace: Duration
    private var exitStatus: Int32?

    /// Starts a subject.
    ///
    /// - Parameters:
    ///   - command: The program, found on the path if it has no slash, and its arguments.
    ///   - timeout: The time that each answer may take.
    ///   - grace: The time that the process may take to end after `bye` or after it closed its output; `nil` for
    ///     `timeout`.
    ///   - longestLine: The max number of bytes in a line of an answer.
    ///   - isInterrupted: Returns `true` to stop waiting for an answer, with `SubjectError.interrupted`; called when a
    ///     signal arrives, and twice a second.
    /// - Throws: `SubjectError.notStarted`.
    package init(
        command: [String], timeout: Duration, grace: Duration? = nil, longestLine: Int = 64 << 20,
        isInterrupted: @escaping () -> Bool = { false }
    ) throws(SubjectError) {
        // If the subject is gone, that is a result, and must not end this process.
        signal(SIGPIPE, SIG_IGN)
        let spawned = try SpawnedProcess(command: command)
        self.processID = spawned.processID
        self.timeout = timeout
        self.grace = grace ?? timeout
        self.channel = SubjectChannel(
            input: spawned.output, output: spawned.input, errors: spawned.errors, timeout: timeout,
            longestLine: longestLine, isInterrupted: isInterrupted)
    }

    deinit {
        if exitStatus == nil { kill() }
    }

    /// Sends a request, serves the ciphertext that the subject needs meanwhile, and waits for the answer.
    ///
    /// - Parameters:
    ///   - members: The request, including its `op`.
    ///   - source: The source for each `need`, or `nil` if there is nothing to serve.
    /// - Returns: The answer.
    /// - Throws: `SubjectError.refused` for an error answer; any other case if there was no proper answer, after which
    ///   the process cannot be used any more.
    package func request(
        _ members: JSONValue, serving source: (any ByteSource)? = nil
    ) throws(SubjectError) -> SubjectAnswer {
        // Requests to open contain a key.
        var line = members.line
        defer { line.withUnsafeMutableBytes { eraseBytes($0) } }
        let answer = try exchange(line, serving: source)
        guard answer.isGood else {
            throw .refused(
                name: answer.members["error"]?.string ?? "internal",
                message: answer.members["message"]?.string ?? "no message")
        }
        return answer
    }

    /// Sends bytes, which need not be a proper request, and waits for the answer, good or not.
    ///
    /// - Parameters:
    ///   - bytes: The line with its end, and the payload that it announces.
    ///   - source: The source for each `need`, or `nil` if there is nothing to serve.
    ///   - largestPayload: The max payload length that the answer may announce.
    /// - Returns: The answer.
    /// - Throws: `SubjectError` if there was no proper answer in time, after which the process cannot be used any more.
    package func exchange(
        _ bytes: [UInt8], serving source: (any ByteSource)? = nil, largestPayload: UInt64 = Workload.largestRead
    ) throws(SubjectError) -> SubjectAnswer {
        do throws(SubjectError) {
            if let unasked = channel.unaskedOutput {
                throw SubjectError.framing("it sent \"\(unasked)\" though nothing was asked")
            }
            channel.startClock()
            try channel.send(bytes)
            while true {
                let message = try Self.message(try channel.readLine())
                guard let need = message["need"] else { return try answer(message, largestPayload) }
                try serve(need, from: source)
            }
        } catch .ended {
            guard let status = wait(atMost: grace) else {
                kill()
                throw .framing("the output is closed, and the process goes on")
            }
            throw death(status)
        } catch {
            // The subject may go on as if nothing had happened, and wait for requests.
            if case .broken = error { kill() }
            throw error
        }
    }

    /// Says goodbye and waits for the end of the process.
    ///
    /// - Throws: `SubjectError` if it does not end as it should.
    package func end() throws(SubjectError) {
        _ = try request(["op": "bye"])
        try expectEnd(status: 0)
        if let unasked = channel.unaskedOutput { throw .framing("it sent \"\(unasked)\" after its answer to bye") }
    }

    /// Closes the subject's input and waits for the end of the process.
    ///
    /// - Throws: `SubjectError.timeout` if the process does not end.
    package func endInput() throws(SubjectError) {
        channel.startClock()
        channel.closeInput()
        try expectEnd(status: nil)
    }

    /// Says goodbye to a subject that is no longer needed, and kills it if it does not end.
    ///
    /// - Parameter grace: The time that it may take to end.
    package func dismiss(grace: Duration = .seconds(1)) {
        channel.startClock()
        try? channel.send((["op": "bye"] as JSONValue).line)
        channel.closeInput()
        if wait(atMost: grace) == nil { kill() }
    }

    private func expectEnd(status expected: Int32?) throws(SubjectError) {
        guard let status = wait(atMost: grace) else {
            kill()
            throw .timeout(seconds: grace / .seconds(1))
        }
        if let expected, status != expected { throw death(status) }
    }

    /// The error for a process that ended too early. A scheduler that ends a job signals one process after the other:
    /// if the subject was asked to end, this process may be asked next, and then the subject has not failed.
    private func death(_ status: Int32) -> SubjectError {
        let wasAsked = [SIGTERM, SIGINT, SIGHUP].contains(SubjectError.signal(of: status))
        return wasAsked && channel.waitForInterruption(atMost: .seconds(1))
            ? .interrupted : .died(status: status, log: channel.lastLog)
    }

    private static func message(_ line: [UInt8]) throws(SubjectError) -> JSONValue {
        do throws(JSONParser.Mismatch) {
            let message = try JSONParser.parse(line)
            if case .object = message { return message }
        } catch {
            throw .framing("an answer is no JSON object: expected \(error.expected)")
        }
        throw .framing("an answer is no JSON object")
    }

    private func answer(_ message: JSONValue, _ largestPayload: UInt64) throws(SubjectError) -> SubjectAnswer {
        guard let isGood = message["ok"]?.bool else { throw .framing("an answer has no member \"ok\"") }
        let payload = message["payload"] ?? .integer(0)
        guard let count = payload.integer, count <= largestPayload else {
            throw .framing("it announces a payload of \(payload.text) bytes: expected at most \(largestPayload)")
        }
        return SubjectAnswer(isGood: isGood, members: message, payload: try channel.read(Int(count)))
    }

    private func serve(_ need: JSONValue, from source: (any ByteSource)?) throws(SubjectError) {
        guard let offset = need["offset"]?.integer, let count = need["count"]?.integer else {
            throw .framing("a need without offset and count")
        }
        var source = source
        if let resources = source as? any ServedResources {
            source = resources.resource(need["uri"]?.string)
            guard source != nil else {
                throw .framing("a need of the uri \(need["uri"]?.text ?? "of none"), which is not served")
            }
        }
        guard let source, offset <= source.byteCount, count <= source.byteCount - offset else {
            throw .framing("a need of \(count) bytes at \(offset), outside of what is served")
        }
        // A longer `need` gets a part, which the protocol always allows.
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Int(min(count, Workload.largestRead)), alignment: 16)
        defer { buffer.deallocate() }
        let served: Int
        let start = ContinuousClock.now
        do {
            served = try source.read(at: offset, into: FetchBuffers(buffer))
            channel.extendClock(by: .now - start)
        } catch {
            let refusal: JSONValue = ["ok": false, "error": "io"]
            try channel.send(refusal.line)
            return
        }
        let answer: JSONValue = ["ok": true, "payload": .integer(UInt64(served))]
        try channel.send(answer.line)
        try channel.send(UnsafeRawBufferPointer(rebasing: buffer[..<served]))
    }

    /// Waits for the end of the process, which may only have closed its output. The corresponding C function is
    /// `waitpid`.
    ///
    /// - Returns: The status, or `nil` if the process still runs when the time is over.
    private func wait(atMost longest: Duration) -> Int32? {
        let deadline = ContinuousClock.now + longest
        while exitStatus == nil {
            var status: Int32 = 0
            let ended = waitpid(processID, &status, WNOHANG)
            if ended == processID {
                exitStatus = status
                // Processes that a shell started must not be left running.
                Self.send(SIGKILL, to: processID)
                LiveProcesses.remove(processID)
            }
            if ended < 0, errno != EINTR { exitStatus = 0 }
            if exitStatus == nil {
                guard ContinuousClock.now < deadline else { return nil }
                channel.pause()
            }
        }
        return exitStatus
    }

    private func kill() {
        Self.send(SIGKILL, to: processID)
        var status: Int32 = 0
        while waitpid(processID, &status, 0) < 0, errno == EINTR {}
        LiveProcesses.remove(processID)
        exitStatus = status
    }

    /// Sends a signal to the process and to those that it started, since it leads a group. The corresponding C function
    /// is `kill`.
    private static func send(_ signal: Int32, to processID: pid_t) {
        _ = Glibc.kill(-processID, signal)
    }
}

/// A proper answer.
package struct SubjectAnswer: Sendable {
    /// True if the request succeeded.
    package let isGood: Bool
    /// The JSON object.
    package let members: JSONValue
    /// The payload.
    package let payload: [UInt8]
}
