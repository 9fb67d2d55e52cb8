import ByteSources
public import RandomAccess
public import SystemPackage

/// Where an encryptor writes its playlist, segments and keys: one resource after the other.
public protocol HLSOutput: AnyObject {
    /// Starts a resource; the one before has ended.
    ///
    /// - Parameters:
    ///   - name: A name that any file can have.
    ///   - isSecret: Whether it is a key, which only its owner may read.
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

    /// Puts all resources in place, in the order in which they began, once all have ended.
    ///
    /// - Throws: `DecryptionError.io`.
    func finish() throws(DecryptionError)
}

extension HLSOutput {
    /// Does nothing: resources are in place when they end.
    public func finish() throws(DecryptionError) {}
}

/// Writes resources as files of a folder, which replace those of the same names when all are complete: what fails before
/// leaves an earlier playlist with its segments and keys as they were.
public final class FolderOutput: HLSOutput {
    private let folder: FilePath
    private var sink: FileSink?
    private var offset: UInt64 = 0
    private var prepared: [PreparedFile] = []

    /// Creates the folder if it is not there.
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
    private let resources: NamedSources

    /// Holds resources.
    public init(_ resources: [String: [UInt8]]) {
        self.resources = NamedSources(resources.mapValues { MemorySource($0) })
    }

    /// Finds a resource; see ``SegmentResources/source(for:)``.
    public func source(for uri: String) throws(DecryptionError) -> any ByteSource {
        try resources.source(for: uri)
    }
}
