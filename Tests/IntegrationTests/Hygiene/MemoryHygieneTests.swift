import BackendRegistry
import ByteSources
import Dispatch
import Foundation
import HLS
import Keys
import OpenSSLBackend
import SystemPackage
import TestSupport
import Testing

@testable import FormatKeys
@testable import RandomAccess

/// Keys and plaintext that are left in this process once everything is closed.
///
/// Each case has random secrets and a thread of its own, whose stack stays as the case left it until all of the memory
/// has been searched.
@Suite(
    "memory after keys and plaintext", .serialized,
    .enabled(
        if: ProcessInfo.processInfo.environment["CHUNKWISE_HYGIENE"] != nil,
        "it takes all of a process, which scripts/test gives it"))
struct MemoryHygieneTests {
    private static let strategies: [(strategy: Strategy, keyByteCount: Int)] =
        [
            (.cbcContinuous(iv: Block(bigEndianValue: 7), padding: .pkcs7), 16),
            (.cbcContinuous(iv: Block(bigEndianValue: 7), padding: .pkcs7), 24),
            (.cbcContinuous(iv: Block(bigEndianValue: 7), padding: .pkcs7), 32),
            (.cbcChunked(chunkByteCount: 4096, iv: Block(bigEndianValue: 7), ivRule: .sequence, padding: .pkcs7), 16),
            (.ctr(iv: Block(bigEndianValue: 9)), 16), (.ctr(iv: Block(bigEndianValue: 9)), 32),
            (.chunked(.cobblestone(keyByteCount: 16, context: [1])), 16),
            (.chunked(.cobblestone(keyByteCount: 32, context: [])), 32),
            (.chunked(.tinkAESGCMHKDF(associatedData: [2], segmentByteCount: 4096, derivedKeyByteCount: 32)), 32),
        ]
        // Keys in a header, codes of chunks, keys that are two of AES.
        + ["cryptomator-gcm", "cryptomator-ctrmac", "gocryptfs-aessiv", "rclone-crypt"].flatMap { name in
            Format.known.filter { $0.name == name }.map { (Strategy(sampling: $0), $0.keyByteCounts?.first ?? 32) }
        }
        // ChaCha20 and XChaCha20; XSalsa20 is rclone's.
        + given("chunk-nonce-ct-tag", ["aead": .text("chacha20-poly1305"), "chunkByteCount": .integer(4096)])
        + given("gocryptfs", ["mode": .text("xchacha")])
        // Two keys of AES in XTS.
        + [32, 64].flatMap { given("xts-sectors", ["sectorByteCount": .integer(4096)], keyByteCount: $0) }
        + ["aes-ocb", "aes-eax", "aes-gcm-siv"].flatMap { cipher in
            [16, 32].map { (Strategy(sealed, ["cipher": .text(cipher)]), $0) }
        }

    private static func given(
        _ name: String, _ inputs: [String: Value], keyByteCount: Int = 32
    ) -> [(Strategy, Int)] {
        Format.known.filter { $0.name == name }.map { (Strategy($0, inputs), keyByteCount) }
    }

    /// Chunks that the key itself encrypts. OpenPGP's writer takes GCM, the first mode of its header.
    private static let sealed: Format = {
        let text = """
            sealed:
              summary: chunks of a cipher
              inputs: {key: [16, 32], cipher: {oneOf: [aes-ocb, aes-eax, aes-gcm-siv]}}
              cipher: cipher
              chunk: 4096
              layout: [data, {tag: 16}]
              key: key
              nonce: be(i << 1 | last, 12)
            """
        do {
            return try Format.named("sealed", in: Array(text.utf8))
        } catch {
            preconditionFailure("\(error)")
        }
    }()

    @Test("a key that is kept is found, in memory, on a stack, and behind other forms; one that goes is not")
    func control() throws {
        let scan = SecretScan()
        let kept = try HygieneSecrets("kept", keyByteCount: 32, to: scan)
        let gone = try HygieneSecrets("gone", keyByteCount: 16, to: scan)
        let onStack = try HygieneSecrets("on a stack", keyByteCount: 16, to: scan)
        let backend = try BackendRegistry.backend(named: "swift-bitsliced")
        var key: SecretKey? = try kept.key()
        var context: (any CipherContext)? = try backend.makeContext(
            .aesCTR, .decrypt, key: try #require(key))
        let thread = try HeldThread {
            _ = try gone.key()
            onStack.withKeyBytes { bytes in
                // A copy in memory that is not used any more.
                var copy = bytes.loadUnaligned(as: UInt128.self)
                withUnsafeMutableBytes(of: &copy) { _ = $0.baseAddress }
            }
        }
        let found = scan.found()
        #expect(found["kept: key"] ?? 0 >= 4 && found["kept: bit planes"] ?? 0 >= 2, "\(found)")
        #expect(found["on a stack: key"] ?? 0 > 0, "\(found)")
        thread.end()
        withExtendedLifetime((key, context)) {}
        (key, context) = (nil, nil)
        let foundLater = scan.found()
        #expect(foundLater.isEmpty, "\(foundLater)")
    }

    @Test("objects and cursors leave nothing", arguments: BackendRegistry.availableNames)
    func objects(_ name: String) throws {
        let backend = try BackendRegistry.backend(named: name)
        let scan = SecretScan()
        var threads: [HeldThread] = []
        defer { for thread in threads { thread.end() } }
        for (strategy, keyByteCount) in Self.strategies where backend.supports(strategy) {
            let title = "\(strategy.cipher.rawValue) in \(strategy.name)/\(8 * keyByteCount)"
            // Disks have whole sectors.
            let secrets = try HygieneSecrets(
                title, keyByteCount: keyByteCount, plaintextByteCount: strategy.cipher == .aesXTS ? 40_960 : 40_007,
                to: scan)
            let box = CiphertextBox()
            threads.append(
                try HeldThread { box.bytes = try Self.encrypt(secrets, strategy, backend) })
            try Self.addDerivedKey(title, secrets, strategy, backend, box.bytes, to: scan)
            threads.append(try HeldThread { try Self.read(box.bytes, secrets, strategy, backend) })
        }
        expectNothing(in: scan.found(), of: name)
    }

    @Test("playlists leave nothing", arguments: BackendRegistry.availableNames(having: .aesCBC))
    func playlists(_ name: String) throws {
        let backend = try BackendRegistry.backend(named: name)
        let scan = SecretScan()
        let secrets = try HygieneSecrets("playlist", keyByteCount: 16, to: scan)
        let box = CiphertextBox()
        let writing = try HeldThread { box.bytes = try Self.encrypt(secrets, Self.segment, backend) }
        let reading = try HeldThread {
            let ring = KeyRing(HandlerKeys { _ in try secrets.key() })
            let object = try HLSObject(
                playlist: try MediaPlaylist(text: Self.playlist),
                resources: NamedSources(["s.ts": MemorySource(box.bytes)]), keys: ring, backend: backend)
            try Self.read(try object.makeCursor(windowByteCount: 4096), secrets)
        }
        expectNothing(in: scan.found(), of: name)
        writing.end()
        reading.end()
    }

    /// Stored keys are sealed with AES-GCM.
    private static let sealingNames = BackendRegistry.availableNames(having: .aesGCM)

    @Test("sessions with stored keys leave nothing", arguments: sealingNames)
    func sessions(_ name: String) throws {
        let backend = try BackendRegistry.backend(named: name)
        let scan = SecretScan()
        let secrets = try HygieneSecrets("session", keyByteCount: 16, to: scan)
        let sealing = try HygieneSecrets("sealing", keyByteCount: 32, to: scan)
        let folder = try TemporaryFolder()
        let keys = FilePath(folder.path("keys"))
        let ciphertext = try Self.encrypt(secrets, Self.segment, backend)
        let thread = try HeldThread {
            for seed in 1...2 as ClosedRange<UInt64> {
                let done = DispatchSemaphore(value: 0)
                Task {
                    defer { done.signal() }
                    try await Self.readWithSession(ciphertext, secrets, sealing, keys, backend, seed: seed)
                }
                done.wait()
            }
        }
        expectNothing(in: scan.found(), of: name)
        thread.end()
    }

    @Test("keys from passwords and identities leave nothing, and neither do the passwords")
    func formatKeys() throws {
        let scan = SecretScan()
        let password = try HygieneSecrets("password", keyByteCount: 32, to: scan)
        let second = try HygieneSecrets("second password", keyByteCount: 32, to: scan)
        let fileKey = try HygieneSecrets("file key", keyByteCount: 16, to: scan)
        let masterKey = try HygieneSecrets("master key", keyByteCount: 32, to: scan)
        let files = KeyFiles()
        try HeldThread.run {
            let cost = try ScryptCost(n: 1 << 10, r: 8, p: 1)
            let salt = [UInt8](repeating: 7, count: 16)
            let ageSalt = Array("age-encryption.org/v1/scrypt".utf8) + salt
            let wrapKey = try password.key().scrypt(salt: ageSalt, cost, byteCount: 32)
            files.passphrase = Self.ageHeader(
                "scrypt \(Self.base64(salt)) 10", try Self.wrapped(fileKey, wrapKey, .chaCha20Poly1305))
            let ephemeral = try SecretKey(salt + salt)
            let (share, recipient) = (X25519.publicKey(of: ephemeral), X25519.publicKey(of: try second.key()))
            let shared = try #require(try X25519.secret(of: ephemeral, with: recipient))
            let shareKey = try shared.derived(
                salt: share + recipient, info: "age-encryption.org/v1/X25519", byteCount: 32)
            files.identity = Self.ageHeader(
                "X25519 \(Self.base64(share))", try Self.wrapped(fileKey, shareKey, .chaCha20Poly1305))
            let masterWrapKey = try password.key().scrypt(salt: salt, cost, byteCount: 32)
            let sealed = try Self.wrapped(masterKey, masterWrapKey, .aesGCM, aadByteCount: 8)
            let encrypted = [UInt8](repeating: 0, count: 12) + sealed
            files.configuration = Array(
                """
                {"EncryptedKey": "\(Data(encrypted).base64EncodedString())", "ScryptObject": {
                "Salt": "\(Data(salt).base64EncodedString())", "N": 1024, "R": 8, "P": 1, "KeyLen": 32}}
                """.utf8)
            for key in [wrapKey, shared, shareKey, masterWrapKey] {
                key.withUnsafeBytes { scan.add("wrapping key", $0) }
            }
        }
        var threads: [HeldThread] = []
        defer { threads.forEach { $0.end() } }
        func derive(_ name: String, _ body: @escaping () throws -> SecretKey) throws {
            try HeldThread.run { try body().withUnsafeBytes { scan.add("\(name): derived key", $0) } }
            threads.append(try HeldThread { _ = try body() })
        }
        try derive("rclone") { try RcloneKey.key(password: password.key(), secondPassword: second.key()) }
        for iterationCount in [10, nil] as [Int32?] {
            try derive("openssl") {
                try OpenSSLEncKey(
                    start: Array("Salted__12345678".utf8), password: password.key(), digest: "sha256",
                    iterationCount: iterationCount, keyByteCount: 32
                ).key
            }
        }
        try derive("age, passphrase") { try AgeHeader(files.passphrase).fileKey(passphrase: password.key()) }
        try derive("age, identity") { try AgeHeader(files.identity).fileKey(identities: [second.key()]) }
        try derive("gocryptfs") {
            try GocryptfsKey.key(configuration: files.configuration, password: password.key())
        }
        expectNothing(in: scan.found(), of: "libraries for keys")
    }

    /// Files with a wrapped key.
    private final class KeyFiles: @unchecked Sendable {
        var (passphrase, identity, configuration) = ([UInt8](), [UInt8](), [UInt8]())
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("=", with: "")
    }

    private static func ageHeader(_ arguments: String, _ body: [UInt8]) -> [UInt8] {
        Array("age-encryption.org/v1\n-> \(arguments)\n\(base64(body))\n--- \n".utf8)
    }

    /// Returns a key, encrypted with another one, and the tag. The nonce is zeros, and so is the associated data.
    private static func wrapped(
        _ key: HygieneSecrets, _ wrapKey: SecretKey, _ cipher: Cipher, aadByteCount: Int = 0
    ) throws -> [UInt8] {
        let context = try OpenSSL().makeContext(cipher, .encrypt, key: wrapKey)
        var output = [UInt8](repeating: 0, count: key.keyByteCount + cipher.tagByteCount)
        let zeros = [UInt8](repeating: 0, count: 12)
        try output.withUnsafeMutableBytes { output in
            try zeros.withUnsafeBytes { zeros in
                try key.withKeyBytes { key in
                    let start = try #require(output.baseAddress)
                    _ = try context.process(
                        UnsafeRawBufferPointer(key), into: start, nonce: zeros,
                        associatedData: UnsafeRawBufferPointer(rebasing: zeros[..<aadByteCount]))
                }
            }
        }
        return output
    }

    /// A file that was asked for is known for a second, with readers that have key schedules; they are waited for.
    /// Windows are used again, and the channel may still hold them when they are given back: the plaintext of the last
    /// ones stays until others take their place. Round keys of the last answer may be on the stack of the thread that
    /// read, which is not the one that closed.
    @Test("a server that waits for the next client has its key in one place")
    func server() throws {
        let scan = SecretScan()
        let secrets = try HygieneSecrets("server", keyByteCount: 16, to: scan)
        let folder = try TemporaryFolder()
        try folder.file("film", try Self.encrypt(secrets, Self.segment, BackendRegistry.backend(named: "openssl")))
        _ = try secrets.withKeyBytes { try folder.file("key", Array($0), isSecret: true) }
        let iv = String(repeating: "0", count: 31) + "7"
        let server = try ServerProcess(
            folder, ["film"], options: ["--key-file", "key", "--iv", iv, "--port", "0", "--no-token"])
        for range in ["0-", "5-4100", "16380-16396"] {
            let response = try server.get("/film", ["Range: bytes=\(range)"])
            #expect(response.status == 206)
        }
        var found = scan.found(in: server.process.processIdentifier)
        // Two pieces of eight bytes.
        for _ in 0..<100 where found["server: key"] != 2 {
            usleep(100_000)
            found = scan.found(in: server.process.processIdentifier)
        }
        #expect(found["server: key"] == 2, "\(found)")
        let others = Set(found.keys).subtracting(["server: key", "server: round key", "server: plaintext"])
        #expect(others.isEmpty, "\(found)")
    }

    @Test("a key server keeps no key that it gave away, in the clear or in another form")
    func keyServer() async throws {
        let scan = SecretScan()
        let secrets = try HygieneSecrets("key server", keyByteCount: 16, to: scan)
        let folder = try KeyServerProcess.makeFolder()
        _ = try secrets.withKeyBytes { try folder.file("keys/film", Array($0), isSecret: true) }
        let server = try KeyServerProcess(folder: folder)
        for _ in 0..<3 {
            let query = KeyQuery(
                exchange: 1, identifiers: ["film", "a", "none"], route: .local, wantsPersistable: false)
            let isGiven = try await server.exchange().answer(query).map { (try? $0.key.get()) != nil }
            #expect(isGiven == [true, true, false])
        }
        let found = scan.found(in: server.server.process.processIdentifier)
        #expect(found.isEmpty, "\(found)")
    }

    /// Secrets that libraries keep: the start and the end of such a finding's name, and why we cannot erase them.
    private static let keptByLibraries: [(backend: String, ciphers: [String], forms: [String], reason: String)] = [
        (
            "boringssl", [""], ["plaintext"],
            "swift-crypto collects what it decrypts in an array of its own, and frees it as it is"
        ),
        (
            "boringssl", ["aes-gcm in", "aes-gcm-siv in", "chacha20-poly1305 in", "sealing"],
            ["key", "derived key", "round key"],
            "swift-crypto has the key schedule in an object of its own for each call, and frees it as it is"
        ),
    ]

    private func expectNothing(in found: [String: Int], of backend: String) {
        let kept = Self.keptByLibraries.filter { $0.backend == backend }
        let ours = found.filter { finding in
            !kept.contains { kept in
                kept.ciphers.contains { finding.key.hasPrefix($0) }
                    && kept.forms.contains { finding.key.hasSuffix(": \($0)") }
            }
        }
        #expect(ours.isEmpty, "\(found.sorted { $0.key < $1.key }.map { "\n\($0.key): \($0.value)" }.joined())")
    }

    private final class CiphertextBox: @unchecked Sendable {
        var bytes: [UInt8] = []
    }

    private static let segment = Strategy.cbcContinuous(iv: Block(bigEndianValue: 7), padding: .pkcs7)
    private static let playlist = """
        #EXTM3U
        #EXT-X-VERSION:3
        #EXT-X-TARGETDURATION:6
        #EXT-X-KEY:METHOD=AES-128,URI="mykey://film",IV=0x\(String(repeating: "0", count: 31))7
        #EXTINF:6,
        s.ts
        #EXT-X-ENDLIST

        """

    /// The first session gets a key, and stores it; the second one finds it.
    private static func readWithSession(
        _ ciphertext: [UInt8], _ secrets: HygieneSecrets, _ sealing: HygieneSecrets, _ folder: FilePath,
        _ backend: any CipherBackend, seed: UInt64
    ) async throws {
        let terms = KeyTerms.persistable(storage: .seconds(86_400), playback: .seconds(86_400))
        let session = KeySession(
            exchange: ProvidedKeys(
                HandlerKeys { _ in
                    guard seed == 1 else { throw KeyError.noKey(reason: "there is one already") }
                    return try secrets.key()
                }, terms: terms),
            device: "d", seed: seed, clock: SystemKeyClock(),
            storage: SealedKeyStore(
                storage: try SealedKeyFolder(path: folder),
                sealer: try GCMSealer(backend: backend, key: try sealing.key())))
        if seed == 1 { await session.persist(["mykey://film"]) }
        let object = try await HLSObject.open(
            try MediaPlaylist(text: Self.playlist),
            resources: NamedSources(["s.ts": MemorySource(ciphertext)]), session: session, backend: backend)
        try object.requireAll()
        let lease = try await session.beginRead(with: "mykey://film")
        try read(try object.makeCursor(leases: ["mykey://film": lease]), secrets)
        await session.endRead(lease)
        await session.close()
    }

    private static func encrypt(
        _ secrets: HygieneSecrets, _ strategy: Strategy, _ backend: any CipherBackend
    ) throws -> [UInt8] {
        let encryptor = try ObjectEncryptor(
            strategy: strategy, backend: backend, key: try secrets.key(), windowByteCount: 8192)
        var ciphertext: [UInt8] = []
        try secrets.withPlaintext { plaintext in
            try encryptor.append(UnsafeRawBufferPointer(plaintext)) { ciphertext += $0 }
        }
        try encryptor.finish { ciphertext += $0 }
        return ciphertext
    }

    /// Reads in small and in large pieces, at edges and over them, into memory that is erased after each read.
    private static func read(
        _ ciphertext: [UInt8], _ secrets: HygieneSecrets, _ strategy: Strategy, _ backend: any CipherBackend
    ) throws {
        let object = try EncryptedObject(
            source: MemorySource(ciphertext), strategy: strategy, backend: backend, key: try secrets.key())
        for window in [1, 4096, Int.max] {
            let cursor = try object.makeCursor(windowByteCount: window)
            try read(cursor, secrets)
        }
    }

    private static func read(_ cursor: any RandomAccessDecryptor, _ secrets: HygieneSecrets) throws {
        let pages = ErasedPages.allocate(byteCount: secrets.plaintextByteCount)
        defer { ErasedPages.free(pages) }
        let reads = [(0, 100), (5, 4096), (4000, 200), (16_380, 17), (0, 40_007), (39_990, 100), (3, 20_000)]
        for (offset, count) in reads {
            let buffer = UnsafeMutableRawBufferPointer(rebasing: pages[..<count])
            let delivered = try cursor.read(at: UInt64(offset), into: buffer)
            let isRight = secrets.withPlaintext { $0[offset..<offset + delivered].elementsEqual(buffer[..<delivered]) }
            #expect(isRight && delivered == min(count, secrets.plaintextByteCount - offset))
            eraseBytes(buffer)
        }
    }

    private static func addDerivedKey(
        _ title: String, _ secrets: HygieneSecrets, _ strategy: Strategy, _ backend: any CipherBackend,
        _ ciphertext: [UInt8], to scan: SecretScan
    ) throws {
        guard strategy.isAuthenticated else { return }
        try HeldThread.run {
            let header = try ObjectHeader(
                reading: MemorySource(ciphertext), strategy, key: secrets.key(), backend: backend)
            guard
                case .fixed(let key) = try ObjectKey(strategy.format, header.names(chunkCount: 1), parts: PartRanges())
            else {
                return
            }
            key.withUnsafeBytes { scan.add("\(title): derived key", $0) }
            try HygieneSecrets.addSchedules(of: key, "\(title), derived", to: scan)
        }
    }
}
