import Foundation

/// A change of a file while it is read.
package enum FileChange: String, CaseIterable, Sendable {
    case truncated, grown
    /// Other bytes in the same place, as many as before.
    case rewritten
    /// Another file by the same name, as long as before.
    case replaced

    /// Changes a file, in another step of the system's clock than that of its latest change.
    package func apply(to path: String) throws {
        let (manager, url) = (FileManager.default, URL(filePath: path))
        let bytes = try Data(contentsOf: url)
        let (before, probe) = (try Self.change(of: path), path + ".probe")
        repeat { try Data().write(to: URL(filePath: probe)) } while try Self.change(of: probe) == before
        try manager.removeItem(atPath: probe)
        switch self {
        case .truncated: try Self.write(bytes.prefix(bytes.count / 2), to: url)
        case .grown: try Self.write(bytes + Data(count: 16), to: url)
        case .rewritten: try Self.write(Data(bytes.reversed()), to: url)
        case .replaced: try bytes.write(to: url, options: .atomic)
        }
    }

    /// Writes into the file that is there.
    private static func write(_ bytes: Data, to url: URL) throws {
        let file = try FileHandle(forWritingTo: url)
        try file.write(contentsOf: bytes)
        try file.truncate(atOffset: UInt64(bytes.count))
        try file.close()
    }

    /// When a file was changed last, as the system counts it.
    private static func change(of path: String) throws -> [Int] {
        var status = stat()
        guard stat(path, &status) == 0 else { throw CocoaError(.fileNoSuchFile) }
        return [status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
    }
}
