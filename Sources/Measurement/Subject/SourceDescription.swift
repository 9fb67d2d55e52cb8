import ByteSources
import JSON
import RandomAccess
import SubjectProtocol
import SystemPackage
import Vectors

/// The sources that our readers open by themselves.
enum SourceDescription {
    /// Opens what the member `source` of a request describes.
    ///
    /// - Returns: A file, read or mapped, or a generated object.
    /// - Throws: `DecryptionError.invalidParameter` if it describes neither, `.io` if the file cannot be opened.
    static func open(
        _ description: JSONValue, parameters: OpenParameters
    ) throws(DecryptionError) -> any ByteSource {
        if let generated = description["generated"], let byteCount = generated["plaintextByteCount"]?.integer,
            let seed = generated["seed"]?.integer
        {
            return try GeneratedObject(
                strategy: parameters.strategy, key: parameters.key, plaintextByteCount: byteCount, seed: seed
            ).source
        }
        guard let path = description["path"]?.string, !path.contains("\0"), !path.isEmpty else {
            throw .invalidParameter(name: "member", value: "\"source\"", expected: "a path or a byteCount")
        }
        guard description["mapped"]?.bool == true else { return try FileSource(path: FilePath(path)) }
        return try MappedSource(path: FilePath(path))
    }
}

extension AccessPolicy {
    /// The least that a reader fetches, in the protocol's words.
    var granularity: JSONValue {
        switch self {
        case .block, .freshBuffers: "block"
        case .chunkCache, .wholeChunk: "chunk"
        }
    }
}
