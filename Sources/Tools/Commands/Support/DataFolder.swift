import CommandOptions
import Glibc
import SystemPackage
import Vectors

/// The project's `data` and `Benchmarks` folders: beside the program's package, or where the user is.
enum DataFolder {
    /// Finds a file of the project.
    ///
    /// - Parameter name: Its path inside the project, such as `data/vectors/sp800-38a.json`.
    /// - Returns: Its path, or `nil`.
    static func find(_ name: String) -> FilePath? {
        var candidates = [FilePath(name)]
        var folder = FilePath(Program.path)
        while folder.removeLastComponent(), !folder.components.isEmpty {
            candidates.append(folder.pushing(FilePath(name)))
        }
        return candidates.first { access($0.string, R_OK) == 0 }
    }
}

/// The vectors that are run where none are named.
enum DefaultVectors {
    /// The files of published known answers.
    static let knownAnswers = ["sp800-38a.json", "nist-cbc.json", "nist-ctr.json"]

    /// Their paths, as far as they are found.
    static var files: [String] {
        knownAnswers.compactMap { DataFolder.find("data/vectors/" + $0)?.string }
    }

    /// The published known answers and the generated range reads; these are what the other files in `data/vectors` hold.
    static func groups() throws -> [VectorGroup] {
        try publishedGroups() + VectorSet.standard()
    }

    /// The published known answers.
    static func publishedGroups() throws -> [VectorGroup] {
        var groups: [VectorGroup] = []
        for name in knownAnswers.map({ "data/vectors/" + $0 }) {
            guard let path = DataFolder.find(name) else {
                throw CommandFailure(
                    .missingInput, "no file \(name): expected it in this folder or above the program's")
            }
            groups += try attempt { try VectorFile(path: path.string) }.groups
        }
        return groups
    }
}
