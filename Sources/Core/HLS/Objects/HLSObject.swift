import ByteSources
public import RandomAccess
internal import Support
import Synchronization

/// The segments of a media playlist as one plaintext that can be read from the middle: the strategy `hls-aes128`.
///
/// The plaintext is, for each segment in order, its initialization section if that differs from the one before it, then
/// the segment (PROTOCOL.md, "open"). Immutable, and shared by any number of cursors on any number of threads.
///
/// Opening looks at every segment: where the next one's plaintext starts is known only when this one's padding is. That
/// is one open file and 32 bytes for each, and what is kept of it is some hundred bytes; a plaintext whose length were
/// found while it is read would have no `plaintextByteCount`, and reads would depend on earlier ones. A few resources are
/// kept open (``maxOpenResources``), whatever the number of segments.
///
/// What cannot be read, for a reason in the playlist, a key that is missing, or a resource that is, does not keep the
/// rest from being read: it is listed in ``problems``, and keeps a range of the plaintext, of which every read fails. That is
/// one byte less than its ciphertext, or one byte where that is not known, so that no read passes over it in silence;
/// unless it is to be left out.
public final class HLSObject: Sendable {
    /// The playlist.
    public let playlist: MediaPlaylist

    package let parts: [HLSPart]
    let pool: ResourcePool
    let backend: any CipherBackend
    let advice = Mutex(Advice())

    /// What is going to be read.
    struct Advice {
        /// Plaintext bytes.
        var range: Range<UInt64> = 0..<0
        /// The parts whose sources were told.
        var told: Set<Int> = []
        /// The parts up to here were opened ahead, or are being opened.
        var openedAhead = 0
    }

    /// How many parts are opened ahead of the one that is read, and how many bytes of theirs: as much as a fast link brings
    /// in some round trips.
    private static let maxPartsAhead = 8
    private static let maxBytesAhead: UInt64 = 8 << 20

    /// How many resources an object keeps open beside those that its cursors read.
    public static let maxOpenResources = 32

    /// Opens the segments of a playlist.
    ///
    /// - Parameters:
    ///   - playlist: The playlist.
    ///   - resources: Where segments come from.
    ///   - keys: Where keys come from.
    ///   - backend: The library that decrypts.
    ///   - leavesOutBroken: Whether what cannot be read has no place in the plaintext, so that the rest can be read in one
    ///     go; it is among ``problems`` all the same.
    /// - Throws: `DecryptionError.unsupported` if the backend has no AES-128 in CBC mode. What is wrong with single
    ///   segments is not thrown: see ``problems`` and ``requireAll()``.
    public init(
        playlist: MediaPlaylist, resources: any SegmentResources, keys: KeyRing, backend: any CipherBackend,
        leavesOutBroken: Bool = false
    ) throws(DecryptionError) {
        guard backend.supports(.aesCBC, keyByteCount: 16) else {
            throw .unsupported("hls-aes128 with the backend \(backend.name): expected one that has AES-128 in CBC mode")
        }
        keys.expect(playlist.keyURIs)
        let table = ResourceTable(playlist)
        let pool = ResourcePool(resources, uris: table.uris, maxOpenCount: Self.maxOpenResources)
        let opening = PartOpening(
            table: table, pool: pool, keys: keys, backend: backend, leavesOutBroken: leavesOutBroken)
        self.playlist = playlist
        self.pool = pool
        self.backend = backend
        self.parts = opening.parts(of: playlist)
    }

    /// The plaintext's length in bytes, what cannot be read included.
    public var plaintextByteCount: UInt64 { parts.last?.plaintext.upperBound ?? 0 }

    /// Where a segment lies in the plaintext, its initialization section not counted.
    ///
    /// - Complexity: O(log n) in the segments.
    public func plaintextRange(ofSegment index: Int) -> Range<UInt64> {
        precondition(playlist.segments.indices.contains(index), "segment \(index) of \(playlist.segments.count)")
        var (low, high) = (0, parts.count)
        while low < high {
            let middle = (low + high) / 2
            let part = parts[middle]
            if part.segment < index || part.segment == index && part.isInitialization {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return parts[low].plaintext
    }

    /// What cannot be read, and why, in the order of the plaintext.
    public var problems: [(range: Range<UInt64>, error: DecryptionError)] {
        parts.compactMap { part in
            guard case .broken(let error) = part.content else { return nil }
            return (part.plaintext, .inPart(name(of: part), error))
        }
    }

    /// Makes sure that all of the plaintext can be read.
    ///
    /// - Throws: Of ``problems``, the first of those that come first in the subject protocol's order of checks: what the
    ///   playlist says, then keys, then resources, their lengths, and their padding.
    public func requireAll() throws(DecryptionError) {
        let order = ["invalidRequest", "unsupported", "invalidKey", "io", "truncatedCiphertext", "invalidPadding"]
        func rank(_ error: DecryptionError) -> Int { order.firstIndex(of: error.protocolName) ?? order.count }
        if let worst = problems.min(by: { rank($0.error) < rank($1.error) }) { throw worst.error }
    }

    /// Makes a reader for one thread.
    ///
    /// - Parameter windowByteCount: The max number of plaintext bytes that are decrypted in one step, at least 1.
    /// - Returns: A cursor without a position of its own.
    /// - Throws: `DecryptionError.invalidParameter`.
    public func makeCursor(windowByteCount: Int = .max) throws(DecryptionError) -> HLSCursor {
        guard windowByteCount > 0 else {
            throw .invalidParameter(name: "window", value: "\(windowByteCount)", expected: "at least 1 byte")
        }
        return HLSCursor(object: self, windowByteCount: windowByteCount)
    }

    /// A part as a message names it.
    package func name(of part: HLSPart) -> String {
        let segment = playlist.segments[part.segment]
        guard part.isInitialization, let index = segment.initializationSection else {
            return "segment \(part.segment + 1) (line \(segment.line), \(URIReference(segment.uri).redacted))"
        }
        let section = playlist.initializationSections[index]
        return "initialization section (line \(section.line), \(URIReference(section.uri).redacted))"
    }

    /// Opens a part's resource again, if need be.
    ///
    /// Tells it that the part is going to be read whole, if it is, and once. Of a resource that has other parts as well,
    /// several are read side by side, which a source cannot be told.
    ///
    /// - Returns: The part's bytes as they are.
    /// - Throws: `DecryptionError` for a part that is broken, or whose resource is gone or another one by now.
    func source(of index: Int) throws(DecryptionError) -> SlicedSource {
        let (resource, range) = try parts[index].content.place
        let source = try pool.source(resource)
        if range == 0..<source.byteCount {
            // Under the lock, so that no thread reads before the source knows.
            advice.withLock { advice in
                guard advice.holds(parts[index]), advice.told.insert(index).inserted else { return }
                source.adviseSequential(range)
            }
        }
        return try SlicedSource(source, range)
    }

    /// Opens the parts after one that is going to be read, on threads of their own, where each waits for a round trip.
    func openAhead(of index: Int) {
        guard pool.openingsAtOnce != nil else { return }
        let ahead = advice.withLock { advice -> Range<Int> in
            let start = max(index + 1, advice.openedAhead)
            var (end, byteCount) = (index + 1, UInt64(0))
            while end < parts.count, end - index <= Self.maxPartsAhead, byteCount < Self.maxBytesAhead,
                advice.holds(parts[end])
            {
                byteCount += UInt64(parts[end].plaintext.count)
                end += 1
            }
            advice.openedAhead = max(end, advice.openedAhead)
            return start..<max(start, end)
        }
        for index in ahead {
            // What fails here is said to the one who reads the part.
            WaitingThread.start { [self] in _ = try? source(of: index) }
        }
    }

    /// The index of the part that holds the plaintext byte at `offset`, which must lie in the plaintext.
    package func partIndex(at offset: UInt64) -> Int {
        var (low, high) = (0, parts.count)
        while low < high {
            let middle = (low + high) / 2
            // Empty parts have their end at or before any byte behind them.
            if parts[middle].plaintext.upperBound <= offset { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The URI of the key that a part is encrypted with.
    package func keyURI(of part: HLSPart) -> String? {
        let segment = playlist.segments[part.segment]
        guard part.isInitialization, let index = segment.initializationSection else { return segment.encryption.keyURI }
        return playlist.initializationSections[index].encryption.keyURI
    }

    /// The URIs of the keys that a range of the plaintext is encrypted with, each once, in order.
    ///
    /// - Parameter range: Plaintext offsets; what lies past the end has no key.
    /// - Returns: The URIs as the playlist has them.
    public func keyURIs(in range: Range<UInt64>) -> [String] {
        var uris: [String] = []
        var index = partIndex(at: range.lowerBound)
        while index < parts.count, parts[index].plaintext.lowerBound < range.upperBound {
            if let uri = keyURI(of: parts[index]), !uris.contains(uri) { uris.append(uri) }
            index += 1
        }
        return uris
    }
}

extension HLSObject: TransferableObject {
    /// Makes a cursor; see `TransferableObject.makeReader(windowByteCount:)`.
    package func makeReader(windowByteCount: Int) throws(DecryptionError) -> any RandomAccessDecryptor {
        try makeCursor(windowByteCount: windowByteCount)
    }

    /// Does nothing: each request for bytes of a segment looks at its version, and so does opening it again.
    package func checkVersion() {}

    /// Remembers the range, for the segments that are opened from now on.
    package func adviseSequential(_ range: Range<UInt64>) {
        advice.withLock { $0 = Advice(range: range) }
    }
}

extension HLSObject.Advice {
    /// Whether all of a part is going to be read.
    func holds(_ part: HLSPart) -> Bool {
        range.lowerBound <= part.plaintext.lowerBound && part.plaintext.upperBound <= range.upperBound
    }
}

/// A segment or initialization section in the plaintext.
package struct HLSPart: Sendable {
    /// What the part takes to be read.
    enum Content: Sendable {
        /// Bytes of a resource as they are.
        case plain(resource: Int, range: Range<UInt64>)
        /// A chain of CBC, or a part of one.
        case aes128(resource: Int, SegmentCiphertext, key: SecretKey)
        /// Nothing: it cannot be read, for this reason.
        case broken(DecryptionError)

        /// Where its bytes lie.
        var place: (resource: Int, range: Range<UInt64>) {
            get throws(DecryptionError) {
                switch self {
                case .plain(let resource, let range): return (resource, range)
                case .aes128(let resource, let ciphertext, _): return (resource, ciphertext.range)
                case .broken(let error): throw error
                }
            }
        }
    }

    /// Where the part's plaintext lies in the object's.
    package let plaintext: Range<UInt64>
    /// The index of the segment that the part is, or that its initialization section is for.
    package let segment: Int
    /// Whether it is an initialization section.
    package let isInitialization: Bool
    /// What it takes to be read.
    let content: Content
}
