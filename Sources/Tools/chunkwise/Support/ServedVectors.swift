import ByteSources
import Conformance
import Glibc
import Measurement
import RandomAccess
import Results
import Support
import Synchronization
import Vectors

/// Vectors whose ciphertext is read over HTTP or TLS.
final class ServedVectors: Sendable {
    /// The name of the source in every record.
    let sourceName: String

    /// The origin of the ciphertext.
    private enum Origin: Sendable {
        /// A server that this process started.
        case here(any LoopbackServer)
        /// A folder on a server, with the names of ``objectName(of:)``.
        case folder(RemoteObject)
    }

    private let origin: Origin
    private let sources: any NetworkSources
    private let options: @Sendable (RemoteObject) -> RemoteObject
    private let said = Mutex<[String]>([])
    private let watch = AnswerWatch(countsMissing: true)

    /// The largest ciphertext that is read from a folder on a server, in bytes.
    static let largestByteCount: UInt64 = 1 << 20

    /// Starts a server if the text asks for one. Does not access a folder yet.
    ///
    /// - Parameters:
    ///   - text: `http`, `https`, or the URL of a folder.
    ///   - network: The options for requests.
    ///   - isStrict: True to refuse a token file that others can read.
    /// - Throws: `CommandFailure`.
    init(_ text: String, _ network: ServerAccess, isStrict: Bool) throws {
        sources = try Network.required()
        if ["http", "https"].contains(text) {
            try network.refuseTrust(text)
            origin = .here(try attempt { [sources] in try sources.startServer(isSecure: text == "https") })
            sourceName = Connection.name(of: text, with: network.adjusted(RemoteObject(url: text + "://")).connection)
        } else {
            try require(RemoteObject.isURL(text), "--source \(URLText.redacted(text)): expected http, https or a URL")
            let shown = URLText.redacted(text)
            let remoteObject = try network.remoteObject(text.hasSuffix("/") ? text : text + "/", isStrict: isStrict)
            try attempt { [sources] in try sources.check(remoteObject) }
            try require(
                !text.contains(where: { "?#".contains($0) }),
                "--source \(shown): expected the URL of a folder, without a query and a fragment")
            origin = .folder(remoteObject)
            let known = sources.warnings(of: remoteObject)
            said.withLock { $0 = known }
            sourceName = Connection.name(of: remoteObject.source, with: remoteObject.connection)
        }
        let adjustments = network.adjusted(RemoteObject(url: ""))
        options = { remoteObject in
            var remoteObject = remoteObject
            remoteObject.keepsConnections = adjustments.keepsConnections
            remoteObject.readAheadDepth = adjustments.readAheadDepth
            remoteObject.idleTimeoutMilliseconds = adjustments.idleTimeoutMilliseconds
            remoteObject.deadlineMilliseconds = adjustments.deadlineMilliseconds
            // No byte may be in memory before a vector reads it.
            remoteObject.firstByteCount = 1
            remoteObject.sharesConnections = true
            return remoteObject
        }
    }

    /// The warnings about the connections, which every result must contain.
    var warnings: [String] { said.withLock { $0 } }

    /// Runs a selection of some thousand reads, or with `all` every vector.
    ///
    /// - Throws: `CommandFailure` if the server does not answer, or has none of the objects.
    func verify(
        _ backends: [any CipherBackend], groups: [VectorGroup], threadCount: Int, all: Bool
    ) throws -> [ConformanceRecord] {
        let reachable = groups.filter(isReachable)
        let chosen = all ? reachable : VectorTier(of: reachable).chosen(of: reachable)
        var records = Backends.verify(
            backends, groups: chosen, threadCount: threadCount, all: all,
            relocate: { [self] source throws(DecryptionError) in try open(source) },
            shouldStop: { [self] in watch.givenUp != nil || Interruption.wasRequested })
        if let givenUp = watch.givenUp {
            Network.warn(warnings)
            let count = AnswerWatch.maxInVain
            guard case .io(_, ENOENT, _) = givenUp else {
                throw CommandFailure(.io, "\(count) requests in a row without an answer: \(givenUp)")
            }
            throw CommandFailure(
                .missingInput,
                "none of the first \(count) objects is there: \(givenUp), and what chunkwise vectors objects writes")
        }
        let leftOut = groups.reduce(0) { $0 + $1.vectorCount } - chosen.reduce(0) { $0 + $1.vectorCount }
        for index in records.indices {
            records[index].notRun += leftOut
            records[index].subject += " over \(sourceName)"
        }
        Network.warn(warnings)
        return records
    }

    /// The name of a ciphertext in a folder: its SHA-256 in hexadecimal digits, and `.bin`.
    ///
    /// - Throws: `DecryptionError.io` if it cannot be read.
    static func objectName(of source: any ByteSource) throws(DecryptionError) -> String {
        Hexadecimal.encode(SHAFunction.sha256.hash(try bytes(of: source))) + ".bin"
    }

    /// All bytes of a small source.
    static func bytes(of source: any ByteSource) throws(DecryptionError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(source.byteCount))
        let outcome = bytes.withUnsafeMutableBytes { buffer in
            Result { () throws(DecryptionError) in try source.fetch(at: 0, into: FetchBuffers(buffer)) }
        }
        try outcome.get()
        return bytes
    }

    /// Returns whether the origin can have a group's ciphertext.
    private func isReachable(_ group: VectorGroup) -> Bool {
        if case .here = origin { return true }
        return group.ciphertext.byteCount <= Self.largestByteCount
    }

    private func open(_ source: any ByteSource) throws(DecryptionError) -> any ByteSource {
        let remoteObject: RemoteObject
        switch origin {
        case .here(let server): remoteObject = server.offer(source)
        case .folder(var folder):
            folder.url += try Self.objectName(of: source)
            remoteObject = folder
        }
        let object = try watch.open { () throws(DecryptionError) in try sources.open(options(remoteObject)) }
        said.withLock { said in said += object.warnings.filter { !said.contains($0) } }
        guard case .here(let server) = origin else { return object.source }
        return OfferedSource(base: object.source) { server.withdraw(remoteObject) }
    }
}

/// A source that is withdrawn from its server when the last reader releases it.
private final class OfferedSource: WrappingSource {
    let base: any ByteSource
    private let end: @Sendable () -> Void

    init(base: any ByteSource, end: @escaping @Sendable () -> Void) {
        self.base = base
        self.end = end
    }

    deinit { end() }

    func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        try base.read(at: offset, into: buffers)
    }
}

/// A watch over a server that gives up after a few requests in a row without an answer, or if all of the first objects
/// are missing.
final class AnswerWatch: Sendable {
    private struct State {
        /// The number of requests without an answer since the last answer.
        var unansweredCount = 0
        /// The number of missing objects before the first one that was there.
        var missingCount = 0
        var hasOpened = false
        var reason: DecryptionError?
    }

    /// The number of failed requests after which the watch gives up.
    static let maxInVain = 3

    private let countsMissing: Bool
    private let state = Mutex(State())

    /// - Parameter countsMissing: True if missing objects are a reason to give up.
    init(countsMissing: Bool) {
        self.countsMissing = countsMissing
    }

    /// The reason for giving up; `nil` before that.
    var givenUp: DecryptionError? { state.withLock { $0.reason } }

    /// Opens an object.
    ///
    /// - Throws: The error of `body`. After giving up, the reason for that, without a request.
    func open(
        _ body: () throws(DecryptionError) -> NetworkObject
    ) throws(DecryptionError) -> NetworkObject {
        if let givenUp { throw givenUp }
        do throws(DecryptionError) {
            let object = try body()
            state.withLock { state in
                state.unansweredCount = 0
                state.hasOpened = true
            }
            return object
        } catch {
            note(error)
            throw error
        }
    }

    private func note(_ error: DecryptionError) {
        var code: Int32 = 0
        if case .io(_, let number, _) = error { code = number }
        state.withLock { state in
            state.unansweredCount = code == RemoteObject.unansweredCode ? state.unansweredCount + 1 : 0
            if countsMissing, code == ENOENT, !state.hasOpened { state.missingCount += 1 }
            guard max(state.unansweredCount, state.missingCount) >= Self.maxInVain else { return }
            state.reason = state.reason ?? error
        }
    }
}
