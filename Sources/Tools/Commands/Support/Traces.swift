import ByteSources
import Measurement
import Support
import SystemPackage

/// The project's player traces.
enum Traces {
    /// Whether a text means a file of the user's, and no name in `data/traces`.
    static func isPath(_ text: String) -> Bool { text.contains("/") || text.hasSuffix(".json") }

    /// Reads a file of the user's, such as one that `chunkwise serve --record` wrote.
    ///
    /// - Throws: `TraceError`, `DecryptionError.io`.
    static func read(_ path: String) throws -> PlayerTrace {
        try PlayerTrace(JSONValue.parse(Array(try TextFile.read(path).utf8)), file: path)
    }

    /// Reads `data/traces/NAME.json`.
    ///
    /// - Parameter name: The trace's name, which has no slash.
    /// - Returns: The trace, or `nil` if there is no such file.
    /// - Throws: `TraceError`, `DecryptionError.io`.
    static func find(_ name: String) throws -> PlayerTrace? {
        guard let path = DataFolder.find("data/traces/\(name).json") else { return nil }
        return try PlayerTrace(JSONValue.parse(Array(try TextFile.read(path.string).utf8)), file: path.string)
    }
}
