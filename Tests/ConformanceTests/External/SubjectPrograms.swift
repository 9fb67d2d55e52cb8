import Glibc
import Testing
import Vectors

/// The programs that tests start.
enum SubjectPrograms {
    /// The package's folder.
    static let package = String(#filePath.split(separator: "/").dropLast(4).reduce("") { $0 + "/" + $1 })

    /// The command line of a script in `Tests/Subjects`.
    static func hostile(_ mode: String) -> String {
        "python3 '\(package)/Tests/Subjects/hostile.py' \(mode)"
    }

    /// Whether a command ends well.
    static func succeeds(_ command: String) -> Bool { system("(\(command)) >/dev/null 2>&1") == 0 }

    static let hasPython = succeeds("python3 -c 'import cryptography'")
    static let hasNode = succeeds("node --version")
    static let hasJava = succeeds("java --version")
    static let hasOpenSSL = succeeds("openssl version")

    /// One padded CBC object of 19 bytes, and all its ranges.
    static let groups = VectorSet.exhaustive(blockCounts: 1...1).filter {
        $0.id.hasPrefix("exhaustive/cbc-continuous pkcs7") && $0.id.hasSuffix("/19")
    }
}
