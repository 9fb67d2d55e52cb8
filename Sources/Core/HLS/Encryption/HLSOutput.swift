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
}

/// Writes resources as files of a folder; each appears when it is complete.
public final class FolderOutput: HLSOutput {
    private let folder: FilePath
    private var sink: FileSink?
    private var offset: UInt64 = 0

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

    /// Gives the file its name; see ``HLSOutput/end()``.
    public func end() throws(DecryptionError) {
        try sink?.commit()
        sink = nil
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
