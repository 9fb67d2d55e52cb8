import ByteSources
public import RandomAccess
public import SystemPackage

/// The destination of an encryptor's playlist, segments and keys, written one after the other.
public protocol HLSOutput: AnyObject {
    /// Starts a resource; the previous one has ended.
    ///
    /// - Parameters:
    ///   - name: A valid file name.
    ///   - isSecret: True for a key, which only its owner may read.
    /// - Throws: `DecryptionError.io`.
    func begin(_ name: String, isSecret: Bool) throws(DecryptionError)

    /// Adds bytes to the resource.
    ///
    /// - Throws: `DecryptionError.io`.
    func write(_ bytes: UnsafeRawBufferPointer) throws(DecryptionError)

    /// Ends the resource.
    ///
    /// - Throws: `DecryptionError.io`.
    func end() throws(DecryptionError)

    /// Publishes all resources, in the order in which they began, once all have ended.
    ///
    /// - Throws: `DecryptionError.io`.
    func finish() throws(DecryptionError)
}

extension HLSOutput {
    /// Does nothing: resources are published when they end.
    public func finish() throws(DecryptionError) {}
}

/// Writes resources as files of a folder. They replace files of the same names once all are complete. If writing fails
/// earlier, an existing playlist keeps its segments and keys.
public final class FolderOutput: HLSOutput {
    private let folder: FilePath
    private var sink: FileSink?
    private var offset: UInt64 = 0
    private var prepared: [PreparedFile] = []

    /// An output to a folder, which is created unless it exists.
    ///
    /// - Throws: `DecryptionError.io`.
    public init(folder: FilePath) throws(DecryptionError) {
        try Folder.create(folder)
        self.folder = folder
    }

    /// Starts a file; see ``HLSOutput/begin(_:isSecret:)``.
    public func begin(_ name: String, isSecret: Bool) throws(DecryptionError) {
        sink = try FileSink(path: folder.appending(name), isSecret: isSecret)
        offset = 0
    }

    /// Adds bytes; see ``HLSOutput/write(_:)``.
    public func write(_ bytes: UnsafeRawBufferPointer) throws(DecryptionError) {
        try sink?.write(bytes, at: offset)
        offset += UInt64(bytes.count)
    }

    /// Completes the file under a hidden name; see ``HLSOutput/end()``.
    public func end() throws(DecryptionError) {
        if let file = try sink?.prepare() { prepared.append(file) }
        sink = nil
    }

    /// Gives the files their names; see ``HLSOutput/finish()``.
    public func finish() throws(DecryptionError) {
        for file in prepared { try file.rename() }
        prepared = []
    }
}

/// Collects resources in memory, by name.
public final class MemoryOutput: HLSOutput {
    /// The resources written so far.
    public private(set) var resources: [String: [UInt8]] = [:]
    private var name = ""

    /// An empty output.
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

/// Resources in memory, by their URIs as in the playlist.
public struct MemoryResources: SegmentResources {
    private let resources: NamedSources

    /// The given resources.
    public init(_ resources: [String: [UInt8]]) {
        self.resources = NamedSources(resources.mapValues { MemorySource($0) })
    }

    /// Finds a resource; see ``SegmentResources/source(for:)``.
    public func source(for uri: String) throws(DecryptionError) -> any ByteSource {
        try resources.source(for: uri)
    }
}
