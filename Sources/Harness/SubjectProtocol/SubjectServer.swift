package import ByteSources
import Glibc
package import RandomAccess
package import Support

/// The operations of a subject; the server handles the protocol.
package protocol SubjectHandler: AnyObject {
    /// The members of the answer to `hello`.
    var hello: [String: JSONValue] { get }

    /// Opens an object from a served source or one that the subject opened, and keeps it under `id`.
    ///
    /// - Returns: The plaintext's length in bytes.
    func open(id: UInt64, parameters: OpenParameters, source: any ByteSource) throws(DecryptionError) -> UInt64

    /// The lists that the subject opens.
    var lists: [ListStrategy] { get }

    /// Opens a playlist or a film, and keeps it under `id`.
    ///
    /// - Returns: The plaintext's length in bytes.
    func open(id: UInt64, list: ListRequest) throws(DecryptionError) -> UInt64

    /// Returns whether an object is open under `id`.
    func isOpen(_ id: UInt64) -> Bool

    /// Opens the source that an `open` request describes, unless it is served.
    func source(_ description: JSONValue, parameters: OpenParameters) throws(DecryptionError) -> any ByteSource

    /// Reads a range of the object `id`; the bytes are valid until the next call.
    func read(id: UInt64, offset: UInt64, count: UInt64) throws(DecryptionError) -> UnsafeRawBufferPointer

    /// Runs a measurement on the object `id`.
    ///
    /// - Returns: The members of the answer.
    func measure(id: UInt64, request: JSONValue) throws(DecryptionError) -> [String: JSONValue]

    /// Closes the object `id`.
    func close(id: UInt64)
}

/// The subject's side of the protocol: reads requests, passes them to the implementation, writes answers. Source:
/// PROTOCOL.md.
package final class SubjectServer {
    private let pipe: PipeEnd
    private let subject: any SubjectHandler
    /// The strategies that the subject offers; `nil` if it lists none and handles every request.
    private let strategyNames: [String]?

    package init(pipe: PipeEnd, subject: any SubjectHandler) {
        self.pipe = pipe
        self.subject = subject
        strategyNames = subject.hello["strategies"]?.array?.compactMap(\.string)
    }

    /// Answers requests until `bye` or the end of input.
    package func run() {
        while var line = pipe.readLine() {
            // Requests to open contain a key.
            defer { line.withUnsafeMutableBytes { eraseBytes($0) } }
            let request = JSONValue.parse(line)
            if let payload = request?["payload"]?.integer, !pipe.skip(payload) { return }
            guard let request, case .object = request else {
                answer(.invalidParameter(name: "request", value: "line", expected: "a JSON object"))
                continue
            }
            guard (request["payload"] ?? 0).integer != nil else {
                answer(.missing("payload", "a number of bytes"))
                continue
            }
            do {
                if try answer(request) { return }
            } catch {
                answer(error)
            }
        }
    }

    /// Handles one request.
    ///
    /// - Returns: Whether it was the last one.
    private func answer(_ request: JSONValue) throws(DecryptionError) -> Bool {
        switch request["op"]?.string {
        case "hello":
            guard let version = request["protocol"]?.integer else { throw .missing("protocol", "an integer") }
            guard version == 1 else { throw .unsupported("protocol \(version): expected 1") }
            answer(subject.hello)
        case "open": try open(request)
        case "read": try read(request)
        case "measure": answer(try subject.measure(id: try id(of: request, isOpen: true), request: request))
        case "close":
            subject.close(id: try id(of: request, isOpen: true))
            answer([:])
        case "bye":
            answer([:])
            return true
        case let operation:
            throw .invalidParameter(
                name: "op", value: operation ?? "that is no string",
                expected: "hello, open, read, measure, close or bye")
        }
        return false
    }

    private func open(_ request: JSONValue) throws(DecryptionError) {
        let id = try id(of: request, isOpen: false)
        guard let description = request["source"], case .object = description else {
            throw .missing("source", "an object with path or byteCount")
        }
        let list = subject.lists.first { $0.rawValue == request["strategy"]?.string }
        func open(_ list: ListRequest) throws(DecryptionError) {
            answer(["plaintextByteCount": .integer(try subject.open(id: id, list: list))])
        }
        if list == .playlist { return try open(.playlist(try PlaylistRequest(request, pipe: pipe))) }
        if let byteCount = description["byteCount"] {
            guard let value = byteCount.integer, value <= OpenParameters.largestInteger else {
                throw .missing("byteCount", "an integer below 2^53")
            }
        } else if let path = description["path"] {
            guard let value = path.string, !value.isEmpty, !value.contains("\0") else {
                throw .missing("path", "the name of a file")
            }
        } else if description["generated"] == nil, description["byteCounts"] == nil,
            description["url"] == nil
        {
            throw .missing("source", "an object with path or byteCount")
        }
        if list == .film { return try open(.film(try FilmRequest(request, pipe: pipe))) }
        // The parameters of a strategy that is not offered are not checked. Source: PROTOCOL.md, "Transport".
        if let name = request["strategy"]?.string, strategyNames?.contains(name) == false, Format.names.contains(name) {
            throw .unsupported("strategy \"\(name)\"")
        }
        let parameters = try OpenParameters(request)
        let source: any ByteSource
        if let byteCount = description["byteCount"]?.integer {
            source = ServedSource(byteCount: byteCount, pipe: pipe)
        } else {
            source = try subject.source(description, parameters: parameters)
        }
        let plaintextByteCount = try subject.open(id: id, parameters: parameters, source: source)
        answer(["plaintextByteCount": .integer(plaintextByteCount)])
    }

    private func read(_ request: JSONValue) throws(DecryptionError) {
        let id = try id(of: request, isOpen: true)
        guard let offset = request["offset"]?.integer, offset <= OpenParameters.largestInteger else {
            throw .missing("offset", "an integer below 2^53")
        }
        guard let count = request["count"]?.integer, count <= Workload.largestRead else {
            throw .missing("count", "an integer of at most \(Workload.largestRead)")
        }
        let bytes = try subject.read(id: id, offset: offset, count: count)
        answer(["payload": .integer(UInt64(bytes.count))])
        pipe.writeAll(bytes)
    }

    private func id(of request: JSONValue, isOpen: Bool) throws(DecryptionError) -> UInt64 {
        guard let id = request["id"]?.integer, id <= OpenParameters.largestInteger else {
            throw .missing("id", "an integer")
        }
        guard subject.isOpen(id) == isOpen else {
            throw .invalidParameter(name: "id", value: "\(id)", expected: isOpen ? "an open object" : "one not in use")
        }
        return id
    }

    private func answer(_ members: [String: JSONValue]) {
        let line = JSONValue.object(members.merging(["ok": true]) { $1 }).line
        line.withUnsafeBytes { _ = pipe.writeAll($0) }
    }

    private func answer(_ error: DecryptionError) {
        let answer: JSONValue = [
            "ok": false, "error": .string(error.protocolName), "message": .string(error.description),
        ]
        answer.line.withUnsafeBytes { _ = pipe.writeAll($0) }
    }
}

/// Lines and payloads over a pair of file descriptors, for the subject's side: blocking, with a read buffer.
package final class PipeEnd {
    private let input: Int32
    private let output: Int32
    private var buffer: [UInt8] = []
    private var start = 0
    /// True if a write has failed. The other side would wait for it forever, so nothing more is read.
    package private(set) var isBroken = false
    /// A line longer than this is not a message.
    private let longestLine = 64 << 20

    /// Wraps descriptors, which the caller still owns.
    package init(input: Int32, output: Int32) {
        self.input = input
        self.output = output
    }

    /// Returns standard input and output. If foreign code is loaded, they get other numbers, so that the code's output
    /// goes to the log and it reads nothing. The corresponding C functions are `fcntl` with `F_DUPFD_CLOEXEC` and
    /// `dup2`.
    package static func standard(besideForeignCode: Bool) -> PipeEnd {
        guard besideForeignCode else { return PipeEnd(input: 0, output: 1) }
        let pipe = PipeEnd(input: fcntl(0, F_DUPFD_CLOEXEC, 64), output: fcntl(1, F_DUPFD_CLOEXEC, 64))
        let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
        dup2(nothing, 0)
        Glibc.close(nothing)
        dup2(2, 1)
        return pipe
    }

    /// Reads up to the end of the next line.
    ///
    /// - Returns: The line without its end, or `nil` at the end of input, or after a failed write.
    package func readLine() -> [UInt8]? {
        guard !isBroken else { return nil }
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: 0x0A) {
                let line = Array(buffer[start..<end])
                buffer.withUnsafeMutableBytes {
                    eraseBytes(UnsafeMutableRawBufferPointer(rebasing: $0[start..<end]))
                }
                start = end + 1
                return line
            }
            searched = buffer.count
            guard buffer.count - start <= longestLine else { return nil }
            if start > 0 {
                buffer.removeFirst(start)
                searched -= start
                start = 0
            }
            guard fill() else { return nil }
        }
    }

    /// Reads exactly as many bytes as the buffer holds.
    ///
    /// - Returns: Whether all of them came before the end of input.
    package func readExactly(into destination: UnsafeMutableRawBufferPointer) -> Bool {
        let buffered = min(destination.count, buffer.count - start)
        destination.copyBytes(from: buffer[start..<start + buffered])
        start += buffered
        var done = buffered
        while done < destination.count {
            let count = read(input, destination.baseAddress.map { $0 + done }, destination.count - done)
            if count < 0, canRetry(input, toWrite: false) { continue }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }

    /// Reads and discards bytes.
    ///
    /// - Returns: Whether all of them came before the end of input.
    package func skip(_ count: UInt64) -> Bool {
        var rest = count
        return withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 16) { scratch in
            while rest > 0 {
                let part = UnsafeMutableRawBufferPointer(rebasing: scratch[..<Int(min(rest, UInt64(scratch.count)))])
                guard readExactly(into: part) else { return false }
                rest -= UInt64(part.count)
            }
            return true
        }
    }

    /// Writes all bytes.
    ///
    /// - Returns: Whether the other side took them.
    @discardableResult
    package func writeAll(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = write(output, bytes.baseAddress.map { $0 + done }, bytes.count - done)
            if count < 0, canRetry(output, toWrite: true) { continue }
            guard count > 0 else {
                isBroken = true
                return false
            }
            done += count
        }
        return true
    }

    /// Writes a text.
    @discardableResult
    package func writeAll(_ text: String) -> Bool { Array(text.utf8).withUnsafeBytes { writeAll($0) } }

    private func fill() -> Bool {
        while true {
            let count = withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 16) { scratch in
                let count = read(input, scratch.baseAddress, scratch.count)
                if count > 0 { buffer.append(contentsOf: UnsafeRawBufferPointer(rebasing: scratch[..<count])) }
                return count
            }
            if count < 0, canRetry(input, toWrite: false) { continue }
            return count > 0
        }
    }

    /// Returns whether a failed call should be repeated. If the call would have blocked, it first waits: the program
    /// that started this one may have made its streams non-blocking.
    private func canRetry(_ descriptor: Int32, toWrite: Bool) -> Bool {
        let code = errno
        guard code == EAGAIN || code == EWOULDBLOCK else { return code == EINTR }
        ProcessStart.waitUntilReady(descriptor, toWrite: toWrite)
        return true
    }
}
