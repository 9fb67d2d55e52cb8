package import ArgumentParser
import ByteSources
import HLS
package import RandomAccess
import SubjectProtocol
import Support
import SystemPackage

/// Where the key comes from.
package struct KeyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A file with the key: 16, 24 or 32 raw bytes, or twice as many hexadecimal digits.", valueName: "file"),
        completion: .file())
    package var keyFile: String?

    @Option(
        help: ArgumentHelp(
            "The key in hexadecimal. For tests: every process of this machine can read it.", valueName: "hex"))
    package var keyHex: String?

    @Flag(help: "Refuse a file with a key or a token that others than its owner can read, instead of a warning.")
    package var strict = false

    package init() {}

    /// Whether one of the options is there.
    package var isGiven: Bool { keyFile != nil || keyHex != nil }

    /// Reads the key.
    package func key() throws -> SecretKey {
        switch (keyFile, keyHex) {
        case (let file?, nil):
            if [32, 48, 64].contains(file.utf8.count), Hexadecimal.decode(file, allowsUpperCase: true) != nil {
                throw CommandFailure(
                    .usage, "--key-file was given what looks like a key, not shown here: expected a file's name")
            }
            return try attemptInput {
                try KeyFile.read(file) { (permissions) throws(DecryptionError) in
                    guard !strict else {
                        throw .openToOthers(path: "key file \(file)", permissions: permissions, expected: 0o600)
                    }
                    let warning = KeyWarning.readableByOthers(path: file, permissions: permissions)
                    Terminal.writeError("chunkwise: warning: \(warning)")
                }
            }
        case (nil, let hex?):
            Terminal.writeError("chunkwise: warning: --key-hex shows the key to every process; prefer --key-file")
            guard let bytes = Hexadecimal.decode(hex, allowsUpperCase: true) else {
                throw CommandFailure(.usage, "--key-hex is not hexadecimal: expected 32, 48 or 64 digits")
            }
            return try attempt("--key-hex") { try SecretKey(bytes) }
        case (nil, nil):
            throw CommandFailure(.usage, "no key: expected --key-file FILE")
        case (_?, _?):
            throw CommandFailure(.usage, "two keys: expected either --key-file or --key-hex")
        }
    }
}
