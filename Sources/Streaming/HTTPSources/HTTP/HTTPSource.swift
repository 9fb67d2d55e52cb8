#if Network
import ByteSources
import Glibc
import NIOHTTP1
public import RandomAccess
import Synchronization

/// An object on a server that answers ranges, over HTTP or TLS.
///
/// All bytes belong to the version that was opened: each request names it (If-Range), and each answer is compared with
/// it. A read blocks its thread until its deadline at the latest; the thread must not be that of a NIO event loop.
///
/// - Source: RFC 9110, sections 13 (conditional requests) and 14 (ranges).
public final class HTTPSource: ByteSource {
    /// The object's length in bytes when it was opened.
    public let byteCount: UInt64
    /// The warnings about the transfer that every result must show.
    public let warnings: [String]
    /// The URL where the object was found. It differs from the given one if the server redirected. Its query may be a
    /// secret.
    public let url: String

    /// The length, and the server's names for this version of the object, if any.
    public var openedVersion: String { "\(version)" }

    private let transport: HTTPTransport
    private let version: ObjectVersion
    private let ends: ObjectEnds
    private let requests: RangeRequests
    private let guesses: ReadAhead?
    private let expected = Mutex<ExpectedReads?>(nil)

    /// Opens an object: asks for its first bytes and its last ones at once, its length and its version.
    ///
    /// If the server redirects, the source follows up to five times, but never from TLS to plain HTTP. On another
    /// server, it sends no authorization and makes all TLS checks; with a pin, it refuses other servers.
    ///
    /// - Parameters:
    ///   - url: An `http` or `https` URL without a user's name or password.
    ///   - options: The options of the source.
    ///   - connections: Shared connections with the same policy and time limits; `nil` for the source's own.
    /// - Throws: `DecryptionError.invalidParameter` for an invalid URL or option, `.io` if the server does not answer
    ///   with a range of the object; its reason starts with the failure's name.
    public init(
        _ url: String, options: Options = Options(), connections: HTTPConnections? = nil
    ) throws(DecryptionError) {
        try Self.check(options)
        let location = try HTTPLocation(url)
        let own = if let connections { connections } else { try HTTPConnections(location, options: options) }
        (transport, ends, version) = try Self.find(location, options, own)
        self.url = transport.location.text
        byteCount = version.byteCount
        warnings = Self.warnings(options, location, version, isWhole: ends.isWhole(version))
        requests = RangeRequests(transport, version: version, options: options)
        guesses = requests.depth > 0 ? ReadAhead(requests) : nil
    }

    /// Finds the object, and fetches its first bytes and its last ones.
    private static func find(
        _ asked: HTTPLocation, _ options: Options, _ connections: HTTPConnections
    ) throws(DecryptionError) -> (HTTPTransport, ObjectEnds, ObjectVersion) {
        var (location, options, hop) = (asked, options, 0)
        let limits = Deadlines(options)
        while true {
            let transport = try HTTPTransport(
                location, options: options, connections: connections.connections(to: location, options: options))
            do throws(HTTPFailure) {
                do throws(HTTPFailure) {
                    let (ends, version) = try ObjectEnds.fetch(transport, options, limits)
                    return (transport, ends, version)
                } catch {
                    location = try follow(error, from: location, hop, &options)
                    hop += 1
                }
            } catch {
                throw Self.error(error, "open \(asked)")
            }
        }
    }

    /// Returns the location to ask next.
    ///
    /// - Throws: The failure, if it is not a redirection, or if the client does not follow it.
    private static func follow(
        _ failure: HTTPFailure, from location: HTTPLocation, _ hop: Int, _ options: inout Options
    ) throws(HTTPFailure) -> HTTPLocation {
        guard case .redirected(_, let url?) = failure else { throw failure }
        guard hop < maxRedirects else {
            throw .redirectRefused(url: url, expected: "the object after \(maxRedirects) redirections")
        }
        guard let next = try? HTTPLocation(url) else {
            throw .redirectRefused(url: url, expected: "an https or http URL without a user's name")
        }
        guard next.isSecure || !location.isSecure else {
            throw .redirectRefused(url: url, expected: "https, as before")
        }
        if next.origin != location.origin {
            guard options.policy.pins.isEmpty else {
                throw .redirectRefused(url: url, expected: "the server with the pinned key")
            }
            options.authorization = nil
            options.policy.allowances = []
        }
        return next
    }

    private static let maxRedirects = 5

    deinit {
        guesses?.stop()
        expected.withLock { $0?.stop() }
    }

    /// The max number of bytes in one request.
    public var requestByteCount: Int { DistantSource.requestByteCount }

    /// Reads bytes; see `ByteSource.read(at:into:)`.
    public func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        guard buffers.byteCount > 0, offset < byteCount else { return 0 }
        if let known = ends.bytes(at: offset) { return Self.copy(known, to: buffers) }
        let wanted = min(UInt64(buffers.byteCount), ends.unknown(of: byteCount).upperBound - offset)
        let range = offset..<offset + min(wanted, UInt64(requestByteCount))
        let limits = transport.limits
        if let expected = expected.withLock({ $0 }), expected.range.contains(offset) {
            return try read(range, expected, into: buffers, limits)
        }
        guard let guesses, let block = guesses.block(at: offset, count: wanted) else {
            return try fetch(range, into: buffers, limits)
        }
        do throws(HTTPFailure) {
            if let count = try take(range, from: block, into: buffers, limits) { return count }
        } catch {
            guesses.stop()
            throw Self.error(error, "read \(transport.location)")
        }
        guesses.stop()
        return try fetch(range, into: buffers, limits)
    }

    private func read(
        _ range: Range<UInt64>, _ expected: ExpectedReads, into buffers: FetchBuffers, _ limits: Deadlines
    ) throws(DecryptionError) -> Int {
        var end = range.upperBound
        var known: Int?
        switch expected.supplier(of: range) {
        case .underWay(let block):
            do throws(HTTPFailure) {
                known = try take(range, from: block, into: buffers, limits)
            } catch {
                expected.drop(block)
                throw Self.error(error, "read \(transport.location)")
            }
            if known == nil { expected.drop(block) }
        case .asked(let offset): end = offset
        }
        let count = if let known { known } else { try fetch(range.lowerBound..<end, into: buffers, limits) }
        expected.deliver(range.lowerBound..<range.lowerBound + UInt64(count))
        return count
    }

    /// Takes bytes of a running range.
    ///
    /// - Returns: The number of bytes; `nil` if they do not arrive this way. A request for just these bytes then finds
    ///   the failure again, if it has not passed.
    /// - Throws: `HTTPFailure.late`.
    private func take(
        _ range: Range<UInt64>, from block: PendingRange, into buffers: FetchBuffers, _ limits: Deadlines
    ) throws(HTTPFailure) -> Int? {
        let maximum = Int(min(range.upperBound, block.range.upperBound) - range.lowerBound)
        let outcome = block.read(at: range.lowerBound, into: buffers, until: limits.until)
        // Once the time is over, a few bytes at a time could keep a read going without end.
        if case .copied(let count) = outcome, count > 0,
            count >= min(maximum, ReceivedBytes.wakingByteCount) || !limits.isOver
        {
            return count
        }
        guard outcome != .late, !limits.isOver else { throw limits.failure(hasAnswer: true) }
        return nil
    }

    private func fetch(
        _ range: Range<UInt64>, into buffers: FetchBuffers, _ limits: Deadlines
    ) throws(DecryptionError) -> Int {
        do throws(HTTPFailure) {
            return Self.copy(try transport.fetch(range, opened: version, limits: limits).bytes[...], to: buffers)
        } catch {
            throw Self.error(error, "read \(transport.location)")
        }
    }

    /// Does nothing, because every answer is compared with the opened version when it arrives.
    public func checkVersion() {}

    /// Asks for the range at once, as far ahead as the options say. This replaces the range of earlier calls.
    public func adviseSequential(_ range: Range<UInt64>) {
        guard requests.depth > 0 else { return }
        guesses?.stop()
        let left = range.clamped(to: ends.unknown(of: byteCount))
        let next = left.isEmpty ? nil : ExpectedReads(left, requests)
        let last = expected.withLock { expected in
            defer { expected = next }
            return expected
        }
        last?.stop()
    }

    private static func error(_ failure: HTTPFailure, _ operation: String) -> DecryptionError {
        .io(operation: operation, code: code(failure), reason: "\(failure)")
    }

    private static func code(_ failure: HTTPFailure) -> Int32 {
        if failure.isUnanswered { return RemoteObject.unansweredCode }
        // Source: RFC 9110, sections 15.5.5 (404) and 15.5.11 (410).
        return [.badStatus(404), .badStatus(410)].contains(failure) ? ENOENT : 0
    }

    private static func copy(_ bytes: ArraySlice<UInt8>, to buffers: FetchBuffers) -> Int {
        let count = min(bytes.count, buffers.byteCount)
        bytes.withUnsafeBytes { bytes in
            buffers.prefix(count).forEach { index, buffer in
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[index..<index + buffer.count]))
            }
        }
        return count
    }

    static func check(_ options: Options) throws(DecryptionError) {
        let hour = Duration.seconds(3600)
        guard options.idleTimeout > .zero, options.idleTimeout <= hour, options.deadline > .zero,
            options.deadline <= hour
        else {
            throw .invalidParameter(
                name: "time limit", value: "\(options.idleTimeout), \(options.deadline)",
                expected: "more than 0, at most 1 h")
        }
        guard (1...100).contains(options.attempts), (0...64).contains(options.readAheadDepth),
            (4096...(64 << 20)).contains(options.largestBlockByteCount),
            (0...(64 << 20)).contains(options.firstByteCount), (0...(64 << 20)).contains(options.lastByteCount)
        else {
            throw .invalidParameter(
                name: "HTTP options",
                value: "\(options.attempts), \(options.readAheadDepth), \(options.largestBlockByteCount), "
                    + "\(options.firstByteCount), \(options.lastByteCount)",
                expected: "1 to 100 attempts, 0 to 64 ranges at once, of 4 KiB to 64 MiB, at most 64 MiB"
                    + " of the first bytes and of the last ones")
        }
        // A second line would be another field.
        let isField = options.authorization?.utf8.allSatisfy { (0x20..<0x7F).contains($0) } ?? true
        guard isField else {
            throw .invalidParameter(name: "authorization", value: "(not shown)", expected: "printable ASCII")
        }
    }

    private static func warnings(
        _ options: Options, _ location: HTTPLocation, _ version: ObjectVersion, isWhole: Bool
    ) -> [String] {
        var warnings = location.isSecure ? options.policy.warnings : []
        if !location.isSecure, options.authorization != nil {
            warnings.append("HTTP: the authorization travels in the clear")
        }
        if version.validator == nil, !isWhole {
            warnings.append("HTTP: the server names no version of the object; only its length is compared")
        }
        return warnings
    }
}

extension HTTPSource {
    /// The options of a source.
    public struct Options: Sendable {
        /// The rules by which servers are trusted over `https`.
        public var policy = TLSPolicy()
        /// The max time without a connection, a handshake or a byte.
        public var idleTimeout = Duration.seconds(10)
        /// The max time of a read, with all its retries.
        public var deadline = Duration.seconds(60)
        /// The max number of requests for a range while its failures are temporary.
        public var attempts = 3
        /// The number of concurrent ranges when the source is read in order; 0 for no reading ahead.
        public var readAheadDepth = RangeReading.depth
        /// The max number of bytes in such a range. The source holds at most two more of them than ``readAheadDepth``.
        public var largestBlockByteCount = RangeReading.maxByteCount
        /// The number of bytes that are fetched when an object is opened, because formats begin with data that is read
        /// first. It may be 0 if there are last bytes.
        public var firstByteCount = RangeReading.firstByteCount
        /// The number of last bytes that are fetched in the same round trip, for formats with data at the end, such as
        /// padding; 0 for none. If the server does not support such ranges, these bytes are fetched when they are read.
        public var lastByteCount = 0
        /// The max length in bytes of an object that is fetched whole, from a server that does not support ranges. With
        /// 0, a server that ignores ranges is an error.
        public var maxWholeByteCount = 0
        /// True if the object may be one that gzip packed. Its bytes are then the packed ones.
        public var takesGzip = false
        /// True to keep connections from one range to the next; otherwise each range has its own.
        public var keepsConnections = true
        /// The value of the field `Authorization`. No error shows it.
        public var authorization: String?

        /// The default options, without authorization.
        public init() {}
    }
}

/// The version of an object that ranges belong to.
///
/// - Source: RFC 9110, sections 8.8 (validators), 13.1.5 (If-Range).
struct ObjectVersion: Hashable, Sendable {
    /// The whole object's length in bytes.
    var byteCount: UInt64
    /// The server's tag for this version, with quotes and `W/`.
    let entityTag: String?
    /// The time of the last change, as the server states it.
    let lastModified: String?
    /// The time of that statement.
    private let date: String?

    /// Reads an answer's fields about the object's version.
    init(byteCount: UInt64, fields: HTTPHeaders) {
        self.byteCount = byteCount
        entityTag = fields.first(name: "ETag")
        lastModified = fields.first(name: "Last-Modified")
        date = fields.first(name: "Date")
    }

    /// The value for `If-Range`: a strong entity tag, or else the date of the last change, if that is safe.
    ///
    /// Dates count in seconds. Only if the change has an earlier date than the answer, no second version can have the
    /// same date.
    var validator: String? {
        if let entityTag { return entityTag.hasPrefix("W/") ? nil : entityTag }
        guard let lastModified, let date, date != lastModified else { return nil }
        return lastModified
    }

    /// Returns whether another answer belongs to this version, as far as both say. Both must have an entity tag, or
    /// neither.
    func isSame(as other: ObjectVersion) -> Bool {
        let isSameDate = lastModified == nil || other.lastModified == nil || lastModified == other.lastModified
        return byteCount == other.byteCount && entityTag == other.entityTag && isSameDate
    }
}

extension ObjectVersion: CustomStringConvertible {
    /// The length, and the server's names for the version.
    var description: String {
        let names = [entityTag.map { "ETag \($0)" }, lastModified.map { "changed \($0)" }].compactMap(\.self)
        return (["\(byteCount) bytes"] + names).joined(separator: ", ")
    }
}
#endif
