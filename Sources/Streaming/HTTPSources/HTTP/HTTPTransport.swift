#if Network
import AsyncHTTPClient
import ByteSources
import Foundation
import NIOCore
import NIOHTTP1
import RandomAccess
import Synchronization

/// Asks one server for ranges of one object, over connections that are kept.
final class HTTPTransport: Sendable {
    /// The object.
    let location: HTTPLocation

    private let connections: HTTPConnections
    private let request: HTTPClient.Request
    private let options: HTTPSource.Options

    /// Prepares requests; nothing is asked yet.
    ///
    /// - Throws: `DecryptionError.invalidParameter` for a URL that the client does not take.
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

    /// Asks for a range, and waits for nothing.
    ///
    /// - Parameters:
    ///   - asked: The bytes.
    ///   - opened: The version that they must be of; `nil` when the object is opened.
    ///   - limits: When the answer must be complete.
    ///   - pool: For one of several ranges at once, where their memory comes from.
    /// - Returns: What to wait on.
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

    /// Asks for an object's last bytes, and waits for nothing; `nil` for none, and of a server that knows no such ranges.
    func startLast(_ byteCount: Int, limits: Deadlines) -> PendingRange? {
        guard byteCount > 0, connections.mayKnowLastBytes.load(ordering: .relaxed) else { return nil }
        return start(.last(byteCount), opened: nil, limits: limits)
    }

    /// Waits for an object's last bytes.
    ///
    /// - Parameter pending: What ``startLast(_:limits:)`` began.
    /// - Returns: The bytes and their version; `nil` if they do not come, for whatever reason: who needs them asks for
    ///   them again, and is told.
    /// - Throws: `HTTPFailure.redirected`.
    func last(_ pending: PendingRange) throws(HTTPFailure) -> (bytes: [UInt8], version: ObjectVersion)? {
        let (received, bytes) = pending.wait()
        guard let failure = received.failure else { return received.answer.map { (bytes, $0.version) } }
        if case .redirected = failure { throw failure }
        // An object that is not there says nothing about the server.
        if ![.badStatus(404), .badStatus(410)].contains(failure) {
            connections.mayKnowLastBytes.store(false, ordering: .relaxed)
        }
        return nil
    }

    /// How long to wait before a failure is found to be one that stays.
    private static let firstPause = TimeAmount.milliseconds(50)

    /// The time that a read has which starts now.
    var limits: Deadlines { Deadlines(options) }

    /// Fetches bytes from a range's start on; what can pass is tried again, with pauses that double.
    ///
    /// Bytes from before a failure are kept only if the server can be asked to go on with the same version. An attempt
    /// that brought some counts as none: a server that cuts every body still delivers it, in as many pieces as the time
    /// allows.
    ///
    /// - Parameters:
    ///   - range: The bytes.
    ///   - opened: The version that they must be of; `nil` when the object is opened.
    ///   - limits: What is left of the time that they may take.
    /// - Returns: The bytes, which may be fewer than were asked for and are none only of an object without any, and the
    ///   version that they are of.
    /// - Throws: ``HTTPFailure`` that did not pass.
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
            // Who sends the whole object cannot be asked for its rest.
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
            // What the server did not end well, it may have sent well.
            if failure.canPass || failure.isOfTime, isComplete ?? false { break }
            if bytes.count > before { (pause, attempt) = (Self.firstPause, 0) }
            guard failure.canPass, attempt < options.attempts, NIODeadline.now() + pause < limits.until else {
                throw failure
            }
            Thread.sleep(forTimeInterval: Double(pause.nanoseconds) / 1e9)
            pause = pause * 2
        }
        guard let version else { throw .closedBeforeAnswer }
        return (bytes, version)
    }
}

/// A request for a range that is under way; any number of threads may wait for its bytes.
///
/// The thread that waits is a reader's, never one of the client's event loops: those go on, and end the wait.
final class PendingRange: AskedRange, Sendable {
    /// The bytes that were asked for; empty where they are an object's last ones, whose place is not known.
    let range: Range<UInt64>

    private let limits: Deadlines
    private let fetch: RangeFetch
    private let task: HTTPClient.Task<Void>

    /// Follows a request.
    ///
    /// - Parameters:
    ///   - range: The bytes that it asks for.
    ///   - fetch: What takes the answer.
    ///   - task: The request.
    ///   - limits: When the request ends at the latest.
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

    /// Waits for the end, and no longer than the request may take.
    ///
    /// - Returns: What came. A failure is in it, with the bytes from before it.
    func wait() -> (received: RangeFetch.Received, bytes: [UInt8]) {
        precondition(!task.eventLoop.inEventLoop, "an event loop would wait for itself")
        let isOver = fetch.bytes.waitForEnd(until: limits.until)
        var received = fetch.received
        if !isOver {
            task.cancel()
            received.failure = limits.failure(hasAnswer: received.answer != nil)
        }
        // More may have come since the count was taken, and does not belong to it.
        return (received, Array(fetch.bytes.bytes.prefix(received.byteCount)))
    }

    /// Copies bytes as soon as they are there; see ``ReceivedBytes/read(at:into:until:)``.
    ///
    /// - Parameters:
    ///   - offset: Where they start, within the object; it lies in ``range``.
    ///   - buffers: Where they go.
    ///   - until: When waiting ends, if the request does not end before.
    /// - Returns: What came of it.
    func read(at offset: UInt64, into buffers: FetchBuffers, until: NIODeadline) -> ReceivedBytes.Outcome {
        precondition(!task.eventLoop.inEventLoop, "an event loop would wait for itself")
        let position = Int(offset - range.lowerBound)
        return fetch.bytes.read(at: position, into: buffers, until: until)
    }

    /// Ends the request, and with it its connection; nothing happens if it is over.
    func cancel() {
        task.cancel()
    }
}

/// How long a read may take, from its start on, whatever is asked for on its behalf.
struct Deadlines: Sendable {
    /// How long nothing may come.
    let idleTimeout: TimeAmount
    /// How long everything may take.
    let deadline: TimeAmount
    /// When that is over.
    let until: NIODeadline

    /// Starts now.
    init(_ options: HTTPSource.Options) {
        idleTimeout = TimeAmount(options.idleTimeout)
        deadline = TimeAmount(options.deadline)
        until = .now() + deadline
    }

    /// Whether the time is over.
    var isOver: Bool { NIODeadline.now() >= until }

    /// That the time was over first, before all of an answer or before any of it.
    func failure(hasAnswer: Bool) -> HTTPFailure {
        let milliseconds = deadline.nanoseconds / 1_000_000
        return hasAnswer ? .late(milliseconds: milliseconds) : .noAnswer(milliseconds: milliseconds)
    }
}
#endif
