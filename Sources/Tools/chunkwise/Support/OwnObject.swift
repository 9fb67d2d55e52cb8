import ByteSources
import HLS
import Measurement
import RandomAccess
import Synchronization
import SystemPackage

/// An object of the user's, to measure on.
struct OwnObject {
    let layout: StrategyOptions
    let ivOptions: IVOptions
    let keyOptions: KeyOptions

    /// Opens a file.
    func file(_ path: String) throws -> MeasuredObject {
        try require(
            !URLText.isURL(path),
            "--input \(URLText.redacted(path)): expected a file (a URL of HTTP goes into --source)")
        try refusePlaylist("--input \(path)")
        let strategy = try layout.strategy(ivOptions, keyOptions)
        let key = try keyOptions.key()
        return try attemptInput { try MeasuredObject.file(FilePath(path), strategy: strategy, key: key) }
    }

    /// Opens an object on a server.
    func served(_ url: String, _ network: NetworkOptions) throws -> (object: MeasuredObject, remoteObject: RemoteObject)
    {
        try refusePlaylist("--source \(URLText.redacted(url))")
        let remoteObject = try network.remoteObject(url, isStrict: keyOptions.strict)
        _ = try Network.required()
        let strategy = try layout.strategy(ivOptions, keyOptions)
        let key = try keyOptions.key()
        let ciphertext = try Network.open(remoteObject)
        let object = try attempt(URLText.redacted(url)) {
            try MeasuredObject.served(ciphertext, at: remoteObject, strategy: strategy, key: key)
        }
        return (object, remoteObject)
    }

    private func refusePlaylist(_ option: String) throws {
        guard layout.isPlaylist else { return }
        throw CommandFailure(
            .usage, "\(option): expected none with --strategy \(layout.strategy), whose object is made here")
    }
}

/// What opens the objects that a playlist on a server names: segments, keys, other playlists.
///
/// They share connections. The token, the pins and what is given up of TLS are for the one server, and for no other. An
/// object that is opened again must be of the version that it had at first: its length, its IVs and its bytes belong
/// together.
final class PlaylistObjects: Sendable {
    private struct State {
        /// What was said of how bytes came.
        var said: Set<String> = []
        /// The versions of objects, by their URLs.
        var versions: [String: String] = [:]
        /// Whether there is some use in asking, by server.
        var watches: [String: AnswerWatch] = [:]
    }

    /// What a playlist or a key has at most that a server sends whole.
    private static let maxWholeByteCount = 16 << 20
    /// A playlist has many objects, of which each could have ranges under way.
    private static let maxRangeByteCount = 256 << 10

    private let remoteObject: RemoteObject
    private let sources: any NetworkSources
    private let state = Mutex(State())

    /// Prepares; no server is asked yet.
    ///
    /// - Parameter remoteObject: Where the playlist is, and how it is asked for.
    /// - Throws: `CommandFailure` where there is no HTTP client.
    init(around remoteObject: RemoteObject) throws {
        sources = try Network.required()
        self.remoteObject = remoteObject
    }

    /// Opens an object; see `ServedResources.Opener`.
    func open(_ request: ServedRequest) throws(DecryptionError) -> any ByteSource {
        var remoteObject = remoteObject
        remoteObject.url = request.url
        remoteObject.sharesConnections = true
        remoteObject.maxRangeByteCount = Self.maxRangeByteCount
        if request.isShort { remoteObject.maxWholeByteCount = Self.maxWholeByteCount }
        if !request.isOnFirstServer {
            remoteObject.authorization = nil
            remoteObject.tls.pins = []
            remoteObject.tls.allowances = []
        }
        say(sources.warnings(of: remoteObject))
        let object = try watch(of: request.url).open { () throws(DecryptionError) in try sources.open(remoteObject) }
        say(object.warnings)
        if !request.isShort { try check(object, request.url) }
        return object.source
    }

    private func check(_ object: NetworkObject, _ url: String) throws(DecryptionError) {
        let first = state.withLock { state in
            let first = state.versions[url] ?? object.version
            state.versions[url] = first
            return first
        }
        guard first == object.version else {
            throw .io(
                operation: "read \(URLText.redacted(url))", code: 0,
                reason: "objectChanged: \(object.version): expected \(first), as it was at first")
        }
    }

    private func watch(of url: String) -> AnswerWatch {
        let server = url.split(separator: "/", maxSplits: 2).prefix(2).joined(separator: "//").lowercased()
        return state.withLock { state in
            let watch = state.watches[server] ?? AnswerWatch(countsMissing: false)
            state.watches[server] = watch
            return watch
        }
    }

    private func say(_ warnings: [String]) {
        Network.warn(warnings.filter { warning in state.withLock { $0.said.insert(warning).inserted } })
    }
}
