import Foundation

/// The `openssl` command, as a writer and reader that has nothing to do with this project.
enum OpenSSLCommand {
    static let path = "/usr/bin/openssl"
    static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: path) }

    /// Runs `openssl enc` on a few bytes (less than a pipe holds).
    static func enc(_ cipher: String, key: [UInt8], iv: [UInt8], padding: Bool, _ input: [UInt8]) throws -> [UInt8] {
        func hex(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = ["enc", "-e", "-\(cipher)", "-K", hex(key), "-iv", hex(iv)] + (padding ? [] : ["-nopad"])
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
