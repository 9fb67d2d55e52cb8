import ByteSources
import HLS
import RandomAccess

/// Resources by URI as written.
struct NamedSources: SegmentResources {
    let sources: [String: any ByteSource]

    func source(for uri: String) throws(DecryptionError) -> any ByteSource {
        guard let source = sources[uri] else {
            // ENOENT.
            throw .io(operation: "open \(URIReference(uri).shown)", code: 2, reason: "there is no such resource")
        }
        return source
    }
}

/// The same source whatever the URI.
struct OneSource: SegmentResources {
    let source: any ByteSource

    func source(for uri: String) throws(DecryptionError) -> any ByteSource { source }
}

/// Resources behind a simulated link, or as they are without one.
struct RemoteResources: SegmentResources {
    let base: any SegmentResources
    let link: RemoteLink?

    func source(for uri: String) throws(DecryptionError) -> any ByteSource {
        let source = try base.source(for: uri)
        return link.map { RemoteSource(source, link: $0) } ?? source
    }
}

/// Resources of which is counted what is fetched, or as they are without a counter.
struct CountedResources: SegmentResources {
    let base: any SegmentResources
    let counter: ByteCounter?

    func source(for uri: String) throws(DecryptionError) -> any ByteSource {
        let source = try base.source(for: uri)
        return counter.map { CountedSource(base: source, counter: $0) } ?? source
    }
}

/// A source of which is counted what is fetched.
private struct CountedSource: ByteSource {
    let base: any ByteSource
    let counter: ByteCounter

    var byteCount: UInt64 { base.byteCount }

    func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        let count = try base.read(at: offset, into: buffers)
        counter.add(count)
        return count
    }

    func checkUnchanged() throws(DecryptionError) { try base.checkUnchanged() }
}
