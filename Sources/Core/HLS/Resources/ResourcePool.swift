import RandomAccess
import Synchronization

/// Resources that are opened when they are needed, of which few are open at a time.
///
/// A film of thousands of segments is thousands of files, and a process has some hundred descriptors.
final class ResourcePool: Sendable {
    private struct State {
        /// The open ones, the latest used last.
        var open: [(resource: Int, source: any ByteSource)] = []
        /// Which version each resource was of when it was opened first, and how long.
        var versions: [(name: String, byteCount: UInt64)?]
    }

    /// What a resource is opened under.
    private final class Opening: Sendable {
        let lock = Mutex(())
    }

    private let openings: [Opening]
    private let resources: any SegmentResources
    private let uris: [String]
    private let maxOpenCount: Int
    private let state: Mutex<State>

    /// Creates a pool.
    ///
    /// - Parameters:
    ///   - resources: Where resources come from.
    ///   - uris: Their URIs as written; a resource is an index into them.
    ///   - maxOpenCount: How many are kept open; cursors keep a few more.
    init(_ resources: any SegmentResources, uris: [String], maxOpenCount: Int) {
        openings = uris.map { _ in Opening() }
        self.resources = resources
        self.uris = uris
        self.maxOpenCount = maxOpenCount
        self.state = Mutex(State(versions: Array(repeating: nil, count: uris.count)))
    }

    /// A resource, opened if it is not.
    ///
    /// - Throws: `DecryptionError` of the resources; `.sourceChanged` if its length is not what it was at first, `.io` if
    ///   it is another version of the same length.
    func source(_ resource: Int) throws(DecryptionError) -> any ByteSource {
        if let source = state.withLock({ Self.touch(resource, &$0) }) { return source }
        // Threads that want the same resource wait for the one that opens it; those that want another do not.
        return try openings[resource].lock.withLock { _ throws(DecryptionError) in try open(resource) }
    }

    private func open(_ resource: Int) throws(DecryptionError) -> any ByteSource {
        if let source = state.withLock({ Self.touch(resource, &$0) }) { return source }
        let source = try resources.source(for: uris[resource])
        let version = (name: source.openedVersion, byteCount: source.byteCount)
        let before = state.withLock { state in
            let before = state.versions[resource] ?? version
            state.versions[resource] = before
            guard before == version else { return before }
            if state.open.count >= maxOpenCount { state.open.removeFirst() }
            state.open.append((resource, source))
            return before
        }
        if before == version { return source }
        guard before.byteCount == source.byteCount else {
            throw .sourceChanged(byteCount: source.byteCount, expected: before.byteCount)
        }
        throw .io(
            operation: "open \(URIReference(uris[resource]).redacted) again", code: 0,
            reason: "it was changed since it was opened first: expected one version from start to end")
    }

    /// How many are opened at once; see ``SegmentResources/openingsAtOnce``.
    var openingsAtOnce: Int? { resources.openingsAtOnce }

    private static func touch(_ resource: Int, _ state: inout State) -> (any ByteSource)? {
        guard let index = state.open.lastIndex(where: { $0.resource == resource }) else { return nil }
        let found = state.open.remove(at: index)
        state.open.append(found)
        return found.source
    }
}

/// The resources of a playlist, each once: a byte-range playlist has one for all its segments.
struct ResourceTable {
    /// Their URIs as written.
    private(set) var uris: [String] = []
    private var indices: [String: Int] = [:]

    /// Collects the URIs of all segments and initialization sections.
    init(_ playlist: MediaPlaylist) {
        for section in playlist.initializationSections { add(section.uri) }
        for segment in playlist.segments { add(segment.uri) }
    }

    /// The resource with a URI of the playlist.
    func index(of uri: String) -> Int { indices[uri] ?? 0 }

    private mutating func add(_ uri: String) {
        guard indices[uri] == nil else { return }
        indices[uri] = uris.count
        uris.append(uri)
    }
}
