import JSON
import Measurement
import SystemPackage
import Transfer

/// The project's player traces.
enum Traces {
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
