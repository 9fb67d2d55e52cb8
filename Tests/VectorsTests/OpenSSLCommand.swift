import Foundation

/// Where the repository's vector file is.
let vectorFilePath = URL(filePath: #filePath).appending(path: "../../../data/vectors/sp800-38a.json").standardized
    .path(percentEncoded: false)

/// The `openssl` command: an implementation that has nothing to do with this project.
enum OpenSSLCommand {
    static let path = "/usr/bin/openssl"
    static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: path) }

    /// Runs `openssl enc -d` on a few bytes (less than a pipe holds), without padding.
    static func decrypt(_ cipher: String, key: [UInt8], iv: [UInt8], _ input: [UInt8]) throws -> [UInt8] {
        func hex(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = ["enc", "-d", "-nopad", "-\(cipher)", "-K", hex(key), "-iv", hex(iv)]
        let (standardInput, standardOutput) = (Pipe(), Pipe())
        process.standardInput = standardInput
        process.standardOutput = standardOutput
        try process.run()
        try standardInput.fileHandleForWriting.write(contentsOf: Data(input))
        try standardInput.fileHandleForWriting.close()
        let output = try standardOutput.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return process.terminationStatus == 0 ? Array(output) : []
    }
}
