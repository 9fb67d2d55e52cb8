import ByteSources
import HLS
import Measurement
import RandomAccess
import Support
import Synchronization
import SystemPackage
import Vectors

/// The user's own object for a measurement.
struct OwnObject {
    let layout: StrategyOptions
    let ivOptions: IVOptions
    let keyOptions: KeyOptions
    let ciphertext: CiphertextOptions

    /// Opens a file.
    func file(_ path: String) throws -> MeasuredObject {
        try require(
            !URLText.isURL(path),
            "--input \(URLText.redacted(path)): expected a file (a URL of HTTP goes into --source)")
        try refusePlaylist("--input \(path)")
        let strategy = try layout.strategy(ivOptions, keyOptions) { iv in
            try IVOptions.bytes(beside: path, of: iv)
        }
        let key = try keyOptions.key(for: layout)
        let object = try attemptInput {
            try ciphertext.open(FileSource(path: FilePath(path)), strategy) { () throws(DecryptionError) in
                try MeasuredObject.file(FilePath(path), strategy: strategy, key: key)
            }
        }
        try requirePlaintext(object, "--input \(path)")
        return object
    }

    /// Opens an object on a server.
    func served(_ url: String, _ network: ServerAccess) throws -> (object: MeasuredObject, remoteObject: RemoteObject) {
        try refusePlaylist("--source \(URLText.redacted(url))")
        let remoteObject = try network.remoteObject(url, isStrict: keyOptions.strict)
        _ = try Network.required()
        let strategy = try layout.strategy(ivOptions, keyOptions) { iv in
            try IVOptions.bytes(beside: remoteObject, of: iv)
        }
        let key = try keyOptions.key(for: layout)
        let source = try Network.open(remoteObject.opening(strategy))
        let object = try attempt(URLText.redacted(url)) {
            try ciphertext.open(source, strategy) { () throws(DecryptionError) in
                try MeasuredObject.served(source, at: remoteObject, strategy: strategy, key: key)
            }
        }
        try requirePlaintext(object, "--source \(URLText.redacted(url))")
        return (object, remoteObject)
    }

    private func requirePlaintext(_ object: MeasuredObject, _ option: String) throws {
        try require(
            object.plaintextByteCount > 0, .badData,
            "\(option): its plaintext is empty: expected 1 byte at least, to be measured")
    }

    private func refusePlaylist(_ option: String) throws {
        guard layout.isPlaylist else { return }
        throw CommandFailure(
            .usage, "\(option): expected none with --strategy \(layout.strategy), whose object is made here")
    }
}

/// An opener of the objects that a playlist on a server names: segments, keys, other playlists.
///
/// The objects share connections. The token, the pins and the disabled checks of TLS apply only to the playlist's own
/// server. An object that is opened again must have the same version as at first, because its length, its IVs and its
/// bytes belong together.
final class PlaylistObjects: Sendable {
    private struct State {
        /// The warnings that were printed.
        var said: Set<String> = []
        /// The versions of objects, by URL.
        var versions: [String: String] = [:]
        /// The watches, by server.
        var watches: [String: AnswerWatch] = [:]
    }

    /// The maximum length of a playlist or a key that a server sends as a whole.
    private static let maxShortByteCount = 16 << 20
    /// The maximum length of a segment that a server sends as a whole: ten seconds at 50 Mbit/s.
    private static let maxSegmentByteCount = 64 << 20
    /// The number of bytes at the end of each segment that are fetched when a playlist is opened.
    private static let lastByteCount = 4096
    /// The maximum length of a requested range. A playlist has many objects, and each could have ranges in flight.
    private static let maxRangeByteCount = 256 << 10

    private let remoteObject: RemoteObject
    private let sources: any NetworkSources
    private let state = Mutex(State())

    /// Makes no request yet.
    ///
    /// - Parameter remoteObject: The playlist on its server, with the options for requests.
    /// - Throws: `CommandFailure` in a build without an HTTP client.
    init(around remoteObject: RemoteObject) throws {
        sources = try Network.required()
        self.remoteObject = remoteObject
    }

    /// Opens an object; see `ServedResources.Opener`.
    func open(_ request: ServedRequest) throws(DecryptionError) -> ServedObject {
        var remoteObject = remoteObject
        remoteObject.url = request.url
        remoteObject.sharesConnections = true
        remoteObject.maxRangeByteCount = Self.maxRangeByteCount
        remoteObject.maxWholeByteCount = request.isShort ? Self.maxShortByteCount : Self.maxSegmentByteCount
        // Opening a segment needs only its length and its padding.
        if !request.isShort { (remoteObject.firstByteCount, remoteObject.lastByteCount) = (0, Self.lastByteCount) }
        // Some stores send gzip to every client, even if it does not accept that.
        remoteObject.takesGzip = request.isShort
        if !request.isOnFirstServer {
            remoteObject.authorization = nil
            remoteObject.tls.pins = []
            remoteObject.tls.allowances = []
        }
        say(sources.warnings(of: remoteObject))
        let object = try watch(of: request.url).open { () throws(DecryptionError) in try sources.open(remoteObject) }
        say(object.warnings)
        guard request.isShort else {
            try check(object, request.url)
            return ServedObject(source: object.source, url: object.url)
        }
        return ServedObject(source: try Self.unpacked(object.source, object.url), url: object.url)
    }

    /// The decompressed bytes of a source in gzip. Returns other sources unchanged.
    ///
    /// No playlist begins with the magic bytes of gzip. Source: RFC 1952, section 2.3.1.
    private static func unpacked(_ source: any ByteSource, _ url: String) throws(DecryptionError) -> any ByteSource {
        guard source.byteCount > 18, source.byteCount <= UInt64(maxShortByteCount) else { return source }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(source.byteCount), alignment: 16)
        defer { buffer.deallocate() }
        try source.fetch(at: 0, into: buffer)
        let bytes = Array(buffer)
        guard bytes.starts(with: [0x1F, 0x8B, 8]) else { return MemorySource(bytes) }
        guard let unpacked = Inflate.gzip(bytes, maxByteCount: maxShortByteCount) else {
            throw .io(
                operation: "read \(URLText.redacted(url))", code: 0,
                reason: "encodedBody: gzip that is cut, damaged or of more than 16 MiB: expected a playlist or a key")
        }
        return MemorySource(unpacked)
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
