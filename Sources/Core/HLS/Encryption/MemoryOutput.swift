internal import ByteSources
public import RandomAccess

/// Keeps resources in memory, by name.
public final class MemoryOutput: HLSOutput {
    /// What was written.
    public private(set) var resources: [String: [UInt8]] = [:]
    private var name = ""

    /// Creates an output with nothing in it.
    public init() {}

    /// Starts a resource; see ``HLSOutput/begin(_:isSecret:)``.
    public func begin(_ name: String, isSecret: Bool) throws(DecryptionError) {
        self.name = name
        resources[name] = []
    }

    /// Adds bytes; see ``HLSOutput/write(_:)``.
    public func write(_ bytes: UnsafeRawBufferPointer) throws(DecryptionError) {
        resources[name, default: []] += bytes
    }

    /// Ends the resource; see ``HLSOutput/end()``.
    public func end() throws(DecryptionError) {}
}

/// Resources in memory, by their URIs as a playlist has them.
public struct MemoryResources: SegmentResources {
    private let resources: [String: [UInt8]]

    /// Holds resources.
    public init(_ resources: [String: [UInt8]]) {
        self.resources = resources
    }

    /// Finds a resource; see ``SegmentResources/source(for:)``.
    public func source(for uri: String) throws(DecryptionError) -> any ByteSource {
        guard let bytes = resources[uri] else {
            // ENOENT.
            throw .io(operation: "open \(URIReference(uri).shown)", code: 2, reason: "there is no such resource")
        }
        return MemorySource(bytes)
    }
}
