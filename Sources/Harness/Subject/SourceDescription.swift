import ByteSources
import RandomAccess
import SubjectProtocol
import Support
import SystemPackage
import Vectors

/// The sources that our readers open by themselves.
enum SourceDescription {
    /// Opens the source that the member `source` of a request describes.
    ///
    /// - Returns: A file, read, mapped or read past the page cache, a generated object, or an object on a server.
    /// - Throws: `DecryptionError.invalidParameter` if it describes none of them, `.io` if it cannot be opened,
    ///   `.unsupported` for a server without `network` to reach it.
    static func open(
        _ description: JSONValue, parameters: OpenParameters, network: (any NetworkSources)?
    ) throws(DecryptionError) -> any ByteSource {
        if let remoteObject = RemoteObject(description) {
            guard let network else { throw .unsupported("objects on servers") }
            return try network.open(remoteObject.opening(parameters.strategy)).source
        }
        if let generated = description["generated"], let byteCount = generated["plaintextByteCount"]?.integer,
            let seed = generated["seed"]?.integer
        {
            return try GeneratedObject(
                strategy: parameters.strategy, key: parameters.key, plaintextByteCount: byteCount, seed: seed
            ).source
        }
        guard let path = description["path"]?.string, !path.contains("\0"), !path.isEmpty else {
            throw .missing("source", "a path or a byteCount")
        }
        if let engine = description["reads"]?.string.flatMap(DirectSource.Engine.init) {
            return try DirectSource(path: FilePath(path), engine: engine)
        }
        guard description["mapped"]?.bool == true else { return try FileSource(path: FilePath(path)) }
        return try MappedSource(path: FilePath(path))
    }
}

extension AccessPolicy {
    /// The smallest unit that a reader fetches, in the protocol's words.
    var granularity: JSONValue { readsWholeChunks ? "chunk" : "block" }
}
