import Synchronization

/// Sources that are opened on demand, with a limit on the number of open ones.
///
/// A film of thousands of segments has thousands of files, and a process has only some hundred descriptors.
final class SourcePool: Sendable {
    private struct State {
        /// The open sources, the last used one at the end.
        var open: [(number: Int, source: any ByteSource)] = []
        /// The version and the length of each source when it was first opened.
        var versions: [(name: String, byteCount: UInt64)?]
    }

    /// The lock for opening a source.
    private final class Opening: Sendable {
        let lock = Mutex(())
    }

    private let list: any PieceList
    private let openings: [Opening]
    private let maxOpenCount: Int
    private let state: Mutex<State>

    /// A pool of a list's sources.
    ///
    /// - Parameters:
    ///   - list: The list that opens them.
    ///   - maxOpenCount: The max number to keep open; cursors keep a few more.
    init(_ list: any PieceList, maxOpenCount: Int) {
        self.list = list
        self.maxOpenCount = maxOpenCount
        openings = (0..<list.sourceCount).map { _ in Opening() }
        state = Mutex(State(versions: Array(repeating: nil, count: list.sourceCount)))
    }

    /// Returns a source, and opens it if necessary.
    ///
    /// - Throws: `DecryptionError` of the list; `.sourceChanged` if its length has changed, `.io` if it has another
    ///   version of the same length.
    func source(_ number: Int) throws(DecryptionError) -> any ByteSource {
        if let source = state.withLock({ Self.touch(number, &$0) }) { return source }
        // Threads that need the same source wait for the one that opens it; other threads do not wait.
        return try openings[number].lock.withLock { _ throws(DecryptionError) in try open(number) }
    }

    private func open(_ number: Int) throws(DecryptionError) -> any ByteSource {
        if let source = state.withLock({ Self.touch(number, &$0) }) { return source }
        let source = try list.openSource(number)
        let version = (name: source.openedVersion, byteCount: source.byteCount)
        let before = state.withLock { state in
            let before = state.versions[number] ?? version
            state.versions[number] = before
            guard before == version else { return before }
            if state.open.count >= maxOpenCount { state.open.removeFirst() }
            state.open.append((number, source))
            return before
        }
        if before == version { return source }
        guard before.byteCount == source.byteCount else {
            throw .sourceChanged(byteCount: source.byteCount, expected: before.byteCount)
        }
        throw .io(
            operation: "open the source again", code: 0,
            reason: "it was changed since it was opened first: expected one version from start to end")
    }

    private static func touch(_ number: Int, _ state: inout State) -> (any ByteSource)? {
        guard let index = state.open.lastIndex(where: { $0.number == number }) else { return nil }
        let found = state.open.remove(at: index)
        state.open.append(found)
        return found.source
    }
}
