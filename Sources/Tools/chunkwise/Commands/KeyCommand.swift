import ArgumentParser
import ByteSources
import FormatKeys
import Glibc
import RandomAccess
import Support
import SystemPackage

/// `chunkwise key`
struct KeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Derives the key of a file from a password or an identity, as the file's own tool does.",
        discussion: helpText(
            """
            Other commands take the key as --key-file. Without --output, key prints it in hexadecimal to a pipe or a
            file, never to a terminal. A password file has one line, whose line break does not count.

            EXAMPLES
              chunkwise key age --identity key.txt --output k film.age
              chunkwise decrypt --strategy age --key-file k film.age film.mp4
              chunkwise key rclone --password-file password --output k
              chunkwise key openssl --password-file password --output k film.enc
              chunkwise key gocryptfs --configuration gocryptfs.conf --password-file password --output k

            EXIT CODES
              0 the key is written; 64 usage; 65 the password, the identity or the file is wrong; 66 a file is missing;
              74 I/O
            """),
        subcommands: [
            AgeKeyCommand.self, RcloneKeyCommand.self, OpenSSLKeyCommand.self, GocryptfsKeyCommand.self,
        ])
}

/// The options for the output of a derived key and for files with secrets.
struct DerivedKeyOptions: ParsableArguments {
    @Option(
        help: .taking(
            "file",
            "A new file for the key's bytes, which only its owner can read. (default: -, digits on standard output)"
        ))
    var output: String?

    @Flag(help: "Refuse a file with a secret that users other than its owner can read, instead of warning.")
    var strict = false

    /// Checks that the key can be written, before any work.
    func requirePlace() throws {
        CoreDumps.disable()
        if let output = file {
            var status = stat()
            try require(lstat(output, &status) != 0, Self.taken(output))
        } else {
            try require(isatty(1) == 0, "standard output is a terminal: expected --output, or a pipe for the key")
        }
    }

    /// Writes the key.
    func write(_ key: SecretKey) throws {
        guard let output = file else {
            let digits = Array("0123456789abcdef".utf8)
            let text = try attempt {
                try SecretKey(byteCount: 2 * key.byteCount + 1) { text in
                    key.withUnsafeBytes { bytes in
                        for (index, byte) in bytes.enumerated() {
                            (text[2 * index], text[2 * index + 1]) = (digits[Int(byte >> 4)], digits[Int(byte & 15)])
                        }
                    }
                    text[text.count - 1] = 0x0A
                }
            }
            let sink = StreamSink(descriptor: .standardOutput, name: "standard output", closesAtEnd: false)
            return try attempt { try text.withUnsafeBytes { bytes in try sink.write(bytes, at: 0) } }
        }
        do {
            let file = try FileDescriptor.open(
                FilePath(output), .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec],
                permissions: .ownerReadWrite)
            let sink = StreamSink(descriptor: file, name: output, closesAtEnd: true)
            do {
                try key.withUnsafeBytes { bytes in try sink.write(bytes, at: 0) }
                try SystemCall.sync("sync \(output)") { fsync(file.rawValue) }
            } catch {
                unlink(output)
                throw error
            }
        } catch Errno.fileExists {
            throw CommandFailure(.usage, Self.taken(output))
        } catch let error as Errno {
            throw CommandFailure(.io, "create \(output) failed: \(error): expected a folder that can be written")
        } catch {
            throw CommandFailure(.init(error), "\(error)")
        }
    }

    /// The file; `nil` for standard output.
    private var file: String? { output == "-" ? nil : output }

    private static func taken(_ output: String) -> String {
        "--output \(output) exists: expected a new file, for a key in it would be lost"
    }

    /// Reads at most the first MiB of a file that holds no secret.
    func start(of path: String) throws -> [UInt8] {
        try attemptInput {
            let file = try FileSource(path: FilePath(path))
            var bytes = [UInt8](repeating: 0, count: Int(min(file.byteCount, 1 << 20)))
            try bytes.withUnsafeMutableBytes { try file.fetch(at: 0, into: $0) }
            return bytes
        }
    }

    /// Reads a password: the only line of a file.
    func password(_ path: String, _ name: String = "password file") throws -> SecretKey {
        try secret(path, name) { (bytes) throws(DecryptionError) in try Password.key(in: bytes) }
    }

    /// Reads a file with a secret of at most 64 KiB. Errors name the file.
    func secret<Result>(
        _ path: String, _ name: String, _ body: (UnsafeRawBufferPointer) throws(DecryptionError) -> Result
    ) throws -> Result {
        let maxByteCount = 64 << 10
        let result = try attemptInput {
            try KeyFile.withContents(
                of: path, name, maxByteCount: maxByteCount,
                isShared: SmallFile.sharing(path, name, isStrict: strict),
                { (bytes) throws(DecryptionError) in
                    Swift.Result { () throws(DecryptionError) in
                        guard bytes.count <= maxByteCount else {
                            throw .invalidKeyMaterial(byteCount: bytes.count, expected: "at most \(maxByteCount)")
                        }
                        return try body(bytes)
                    }
                })
        }
        return try attempt("\(name) \(path)") { try result.get() }
    }
}
