import ArgumentParser
import ByteSources
import FormatKeys
import RandomAccess
import Support

/// `chunkwise key age`
struct AgeKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "age", abstract: "Unwraps the file key in the header of an age file.",
        discussion: helpText(
            """
            A passphrase takes as much memory as the file demands, up to 4 GiB. Identities are those of age-keygen, not
            encrypted; SSH keys and plug-ins are not supported. The header is checked when the file is decrypted.

            EXAMPLES
              chunkwise key age --identity key.txt --output k film.age
              chunkwise key age --password-file password film.age > k

            EXIT CODES
              0 the key is written; 64 usage; 65 no stanza opens, or it is not an age file; 66 a file is missing; 74 I/O
            """))

    @Option(help: .taking("file", "A file with identities, AGE-SECRET-KEY-1…"), completion: .file())
    var identity: String?

    @Option(help: .taking("file", "A file with the passphrase."), completion: .file())
    var passwordFile: String?

    @OptionGroup var key: DerivedKeyOptions

    @Argument(help: "The encrypted file.", completion: .file())
    var input: String

    func run() throws {
        try key.requirePlace()
        let start = try key.start(of: input)
        let header = try attempt(input) { try AgeHeader(start) }
        switch (identity, passwordFile) {
        case (let path?, nil):
            let identities = try key.secret(path, "identity file") { (text) throws(DecryptionError) in
                try AgeIdentities.keys(in: text)
            }
            try key.write(attempt(input) { try header.fileKey(identities: identities) })
        case (nil, let path?):
            let passphrase = try key.password(path)
            try key.write(attempt(input) { try header.fileKey(passphrase: passphrase) })
        default: throw CommandFailure(.usage, "expected either --identity or --password-file")
        }
    }
}

/// `chunkwise key rclone`
struct RcloneKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rclone", abstract: "Derives the key of an rclone crypt remote.",
        discussion: helpText(
            """
            All files of a remote have the same key. A wrong password gives a wrong key, which decrypt detects.

            EXAMPLES
              chunkwise key rclone --password-file password --output k
              chunkwise key rclone --password-file password --salt-file password2 --obscured --output k
              chunkwise decrypt --strategy rclone-crypt --key-file k film.mp4.bin film.mp4

            EXIT CODES
              0 the key is written; 64 usage; 65 a file has no password; 66 a file is missing; 74 I/O
            """))

    @Option(help: .taking("file", "A file with the remote's password."), completion: .file())
    var passwordFile: String

    @Option(
        help: .taking("file", "A file with the remote's password2. (default: rclone's own salt)"), completion: .file())
    var saltFile: String?

    @Flag(help: "The passwords are obscured, as in rclone.conf and as rclone obscure prints them.")
    var obscured = false

    @OptionGroup var key: DerivedKeyOptions

    func run() throws {
        try key.requirePlace()
        func password(_ path: String, _ name: String) throws -> SecretKey {
            let password = try key.password(path, name)
            return obscured ? try attempt("\(name) \(path)") { try RcloneKey.revealed(password) } : password
        }
        let first = try password(passwordFile, "password file")
        let second = try saltFile.map { path in try password(path, "salt file") }
        try key.write(attempt { try RcloneKey.key(password: first, secondPassword: second) })
    }
}

/// `chunkwise key openssl`
struct OpenSSLKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "openssl", abstract: "Derives the key, or the IV, of a file that openssl enc encrypted.",
        discussion: helpText(
            """
            The salt is in the file, but cipher, digest and iterations are not: give the ones that the file was
            encrypted with. A wrong password gives a wrong key, which decrypt may not detect.

            EXAMPLES
              chunkwise key openssl --password-file password --output k film.enc
              chunkwise key openssl --password-file password --iv film.enc > iv
              chunkwise decrypt --strategy openssl-enc-cbc --key-file k --iv $(cat iv) film.enc film.mp4
              chunkwise key openssl --password-file password --digest md5 --bytes-to-key --bits 128 old.enc > k

            EXIT CODES
              0 the key is written; 64 usage; 65 the file has no salt; 66 a file is missing; 74 I/O
            """))

    @Option(help: .taking("file", "A file with the password."), completion: .file())
    var passwordFile: String

    @Option(help: .taking("name", "The hash function, openssl's -md: md5 before OpenSSL 1.1.0."))
    var digest = "sha256"

    @Option(help: .taking("count", "The number of iterations of PBKDF2, openssl's -iter. (default: 10000)"))
    var iterations: Int32?

    @Flag(help: "Derive the key with EVP_BytesToKey, as openssl does without -pbkdf2 and -iter.")
    var bytesToKey = false

    @Option(help: .taking("number", "The number of bits of the key: 128, 192 or 256."))
    var bits = 256

    @Flag(help: "Print the IV instead of the key, in the form that --iv of other commands takes.")
    var iv = false

    @OptionGroup var key: DerivedKeyOptions

    @Argument(help: "The encrypted file.", completion: .file())
    var input: String

    func run() throws {
        if iv {
            CoreDumps.disable()
            try require(key.output == nil, "--iv: expected no --output, since the IV goes to standard output")
        } else {
            try key.requirePlace()
        }
        try require([128, 192, 256].contains(bits), "--bits \(bits): expected 128, 192 or 256")
        try require(iterations.map { $0 > 0 } ?? true, "--iterations \(iterations ?? 0): expected 1 or more")
        try require(!bytesToKey || iterations == nil, "--bytes-to-key: expected no --iterations beside it")
        let start = try key.start(of: input)
        let password = try key.password(passwordFile)
        let derived = try attempt(input) {
            try OpenSSLEncKey(
                start: start, password: password, digest: digest,
                iterationCount: bytesToKey ? nil : iterations ?? 10_000,
                keyByteCount: bits / 8)
        }
        if iv { print(Hexadecimal.encode(derived.iv)) } else { try key.write(derived.key) }
    }
}

/// `chunkwise key gocryptfs`
struct GocryptfsKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gocryptfs", abstract: "Finds the master key of a gocryptfs file system.",
        discussion: helpText(
            """
            The master key is the key of all files. It is in gocryptfs.conf, encrypted with a password; or in the output
            of gocryptfs when it created the file system; or it is 32 zeros.

            EXAMPLES
              chunkwise key gocryptfs --configuration gocryptfs.conf --password-file password --output k
              chunkwise key gocryptfs --master-key-file printed --output k
              chunkwise key gocryptfs --zero > k
              chunkwise decrypt --strategy gocryptfs --key-file k cipher/film.mp4 film.mp4

            EXIT CODES
              0 the key is written; 64 usage; 65 the password or a file is wrong; 66 a file is missing; 74 I/O
            """))

    @Option(help: .taking("file", "The file system's gocryptfs.conf, with --password-file."), completion: .file())
    var configuration: String?

    @Option(help: .taking("file", "A file with the password."), completion: .file())
    var passwordFile: String?

    @Option(
        help: .taking("file", "A file with the master key in hexadecimal, as -masterkey takes it."), completion: .file()
    )
    var masterKeyFile: String?

    @Flag(help: "Use the key of 32 zeros, as with -zerokey, for tests.")
    var zero = false

    @OptionGroup var key: DerivedKeyOptions

    func run() throws {
        try key.requirePlace()
        switch (configuration, passwordFile, masterKeyFile, zero) {
        case (let path?, let passwordFile?, nil, false):
            let text = try key.start(of: path)
            let password = try key.password(passwordFile)
            try key.write(attempt(path) { try GocryptfsKey.key(configuration: text, password: password) })
        case (nil, nil, let path?, false):
            try key.write(
                key.secret(path, "master key file") { (text) throws(DecryptionError) in
                    try GocryptfsKey.key(in: text)
                })
        case (nil, nil, nil, true): try key.write(attempt { try GocryptfsKey.zero() })
        default:
            throw CommandFailure(
                .usage, "expected --configuration with --password-file, --master-key-file, or --zero, and no other")
        }
    }
}
