#if Network
import AsyncHTTPClient
import ByteSources
import NIOCore
import NIOHTTP1
import RandomAccess
import Synchronization

/// Asks one server for ranges of one object, over kept connections.
final class HTTPTransport: Sendable {
    /// The object.
    let location: HTTPLocation

    private let connections: HTTPConnections
    private let request: HTTPClient.Request
    private let options: HTTPSource.Options

    /// Prepares requests without sending one.
    ///
    /// - Throws: `DecryptionError.invalidParameter` for a URL that the client does not accept.
    init(
        _ location: HTTPLocation, options: HTTPSource.Options, connections: HTTPConnections
    ) throws(DecryptionError) {
        var fields = HTTPHeaders(location.clientFields)
        if !options.keepsConnections { fields.add(name: "Connection", value: "close") }
        if let authorization = options.authorization { fields.add(name: "Authorization", value: authorization) }
        do {
            request = try HTTPClient.Request(url: location.clientURL, method: .GET, headers: fields)
        } catch {
            throw .invalidParameter(name: "URL", value: "\(location)", expected: "one that RFC 3986 allows")
        }
        self.connections = connections
        self.location = location
        self.options = options
    }

    /// Starts a request for a range without waiting.
    ///
    /// - Parameters:
    ///   - asked: The bytes.
    ///   - opened: The version that they must belong to; `nil` when the object is opened.
    ///   - limits: The deadline of the answer.
    ///   - pool: The memory pool, for one of several concurrent ranges; otherwise `nil`.
    /// - Returns: The running request.
    func start(
        _ asked: AskedBytes, opened: ObjectVersion?, limits: Deadlines, pool: RangeMemoryPool? = nil
    ) -> PendingRange {
        var request = request
        request.headers.add(name: "Range", value: asked.field)
        if let validator = opened?.validator { request.headers.add(name: "If-Range", value: validator) }
        let fetch = RangeFetch(
            of: location, asked: asked, opened: opened, maxWhole: options.maxWholeByteCount,
            takesGzip: options.takesGzip, pool: pool)
        let client = pool == nil ? connections.client : connections.nextClient()
        let task = client.execute(request: request, delegate: fetch, deadline: limits.until)
        let range = if case .range(let range) = asked { range } else { UInt64(0)..<0 }
        return PendingRange(range, fetch: fetch, task: task, limits: limits)
    }

    /// Starts a request for an object's last bytes without waiting. Returns `nil` if there are none, or if the server
    /// does not support such ranges.
    func startLast(_ byteCount: Int, limits: Deadlines) -> PendingRange? {
        guard byteCount > 0, connections.mayKnowLastBytes.load(ordering: .relaxed) else { return nil }
        return start(.last(byteCount), opened: nil, limits: limits)
    }

    /// Waits for an object's last bytes.
    ///
    /// - Parameter pending: The result of ``startLast(_:limits:)``.
    /// - Returns: The bytes and their version; `nil` if they do not arrive. A reader that needs them asks again, and
    ///   then gets the failure.
    /// - Throws: `HTTPFailure.redirected`.
    func last(_ pending: PendingRange) throws(HTTPFailure) -> (bytes: [UInt8], version: ObjectVersion)? {
        let (received, bytes) = pending.wait()
        guard let failure = received.failure else { return received.answer.map { (bytes, $0.version) } }
        if case .redirected = failure { throw failure }
        // A missing object says nothing about the server.
        if ![.badStatus(404), .badStatus(410)].contains(failure) {
            connections.mayKnowLastBytes.store(false, ordering: .relaxed)
        }
        return nil
    }

    /// The pause before the first retry.
    private static let firstPause = TimeAmount.milliseconds(50)

    /// The time limits of a read that starts now.
    var limits: Deadlines { Deadlines(options) }

    /// Fetches bytes from a range's start on. Temporary failures are retried, with pauses that double.
    ///
    /// Bytes from before a failure are kept only if the server can continue with the same version. An attempt that
    /// brought bytes does not count: a server that cuts every body still delivers it, in as many pieces as the time
    /// allows.
    ///
    /// - Parameters:
    ///   - range: The bytes.
    ///   - opened: The version that they must belong to; `nil` when the object is opened.
    ///   - limits: The time limits of the read.
    /// - Returns: The bytes and their version. There may be fewer bytes than requested, but none only for an empty
    ///   object.
    /// - Throws: The ``HTTPFailure`` that did not pass.
    func fetch(
        _ range: Range<UInt64>, opened: ObjectVersion?, limits: Deadlines
    ) throws(HTTPFailure) -> (bytes: [UInt8], version: ObjectVersion) {
        var (bytes, version): ([UInt8], ObjectVersion?) = ([], opened)
        var (pause, attempt) = (Self.firstPause, 0)
        while true {
            attempt += 1
            let before = bytes.count
            let rest = range.lowerBound + UInt64(bytes.count)..<range.upperBound
            let (received, more) = start(.range(rest), opened: version, limits: limits).wait()
            // A server that sends the whole object cannot be asked for the rest.
            let canGoOn = received.answer.map { $0.version.validator != nil && !$0.isWhole } ?? false
            if let answer = received.answer, received.failure == nil || canGoOn {
                bytes = bytes.isEmpty ? more : bytes + more
                version = answer.version
                if answer.hasOpenEnd { version?.byteCount = UInt64(bytes.count) }
            }
            guard let failure = received.failure else { break }
            let isComplete = version.map {
                UInt64(bytes.count) == min(range.upperBound, $0.byteCount) - range.lowerBound
            }
            // All bytes may have arrived, even if the server did not end the answer properly.
            if failure.canPass || failure.isOfTime, isComplete ?? false { break }
            if bytes.count > before { (pause, attempt) = (Self.firstPause, 0) }
            guard failure.canPass, attempt < options.attempts, NIODeadline.now() + pause < limits.until else {
                throw failure
            }
            let clock = SystemClock()
            clock.sleep(until: clock.nanoseconds + UInt64(pause.nanoseconds))
            pause = pause * 2
        }
        guard let version else { throw .closedBeforeAnswer }
        return (bytes, version)
    }
}

/// A running request for a range. Any number of threads may wait for its bytes.
///
/// Readers' threads wait, but never the client's event loops: those go on, and end the wait.
final class PendingRange: AskedRange, Sendable {
    /// The requested bytes; empty for an object's last bytes, whose offset is unknown.
    let range: Range<UInt64>

    private let limits: Deadlines
    private let fetch: RangeFetch
    private let task: HTTPClient.Task<Void>

    /// Follows a request.
    ///
    /// - Parameters:
    ///   - range: The bytes that it asks for.
    ///   - fetch: The receiver of the answer.
    ///   - task: The request.
    ///   - limits: The deadline of the request.
    init(_ range: Range<UInt64>, fetch: RangeFetch, task: HTTPClient.Task<Void>, limits: Deadlines) {
        self.range = range
        self.limits = limits
        self.fetch = fetch
        self.task = task
        task.futureResult.whenComplete { result in
            switch result {
            case .success: fetch.finish(nil)
            case .failure(let error):
                let received = fetch.received
                fetch.finish(
                    HTTPFailure(error, received: received, idleTimeout: limits.idleTimeout, limit: limits.deadline))
            }
        }
    }

    /// Waits for the end of the request, at most until its deadline.
    ///
    /// - Returns: The answer and its bytes. After a failure, these are the bytes from before it.
    func wait() -> (received: RangeFetch.Received, bytes: [UInt8]) {
        precondition(!task.eventLoop.inEventLoop, "an event loop would wait for itself")
        let isOver = fetch.bytes.waitForEnd(until: limits.until)
        var received = fetch.received
        if !isOver {
            task.cancel()
            received.failure = limits.failure(hasAnswer: received.answer != nil)
        }
        // Bytes that arrived after the count was taken do not belong to it.
        return (received, Array(fetch.bytes.bytes.prefix(received.byteCount)))
    }

    /// Copies bytes as soon as they arrive; see ``ReceivedBytes/read(at:into:until:)``.
    ///
    /// - Parameters:
    ///   - offset: The offset of the first byte within the object; it lies in ``range``.
    ///   - buffers: The destination.
    ///   - until: The end of the wait, if the request does not end before.
    /// - Returns: The outcome.
    func read(at offset: UInt64, into buffers: FetchBuffers, until: NIODeadline) -> ReceivedBytes.Outcome {
        precondition(!task.eventLoop.inEventLoop, "an event loop would wait for itself")
        let position = Int(offset - range.lowerBound)
        return fetch.bytes.read(at: position, into: buffers, until: until)
    }

    /// Ends the request and its connection. Does nothing if the request is over.
    func cancel() {
        task.cancel()
    }
}

/// The time limits of a read from its start, for all requests that it makes.
struct Deadlines: Sendable {
    /// The max time without a byte.
    let idleTimeout: TimeAmount
    /// The max time for everything.
    let deadline: TimeAmount
    /// The end of the time for everything.
    let until: NIODeadline

    /// The time starts now.
    init(_ options: HTTPSource.Options) {
        idleTimeout = TimeAmount(options.idleTimeout)
        deadline = TimeAmount(options.deadline)
        until = .now() + deadline
    }

    /// True if the time is over.
    var isOver: Bool { NIODeadline.now() >= until }

    /// Returns the failure for a read whose time was over, after a part of an answer or before any of it.
    func failure(hasAnswer: Bool) -> HTTPFailure {
        let milliseconds = deadline.nanoseconds / 1_000_000
        return hasAnswer ? .late(milliseconds: milliseconds) : .noAnswer(milliseconds: milliseconds)
    }
}
#endif
