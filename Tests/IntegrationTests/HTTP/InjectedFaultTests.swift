import ByteSources
import Foundation
import HTTPSources
import OpenSSLBackend
import RandomAccess
import TestSupport
import Testing

@Suite(
    "a thousand faults in the exchange",
    .enabled(if: Peers.areThere, "nginx, openssl, or python3 with cryptography is not installed"), .serialized)
struct InjectedFaultTests {
    /// The number of faults injected over plain HTTP, and over TLS.
    private static let faultCount = 500
    private static let plaintextByteCount = 65_000
    /// The names that failures have.
    private static let names: Set<String> = [
        "unreachable", "noAnswer", "late", "closedBeforeAnswer", "closedInBody", "badStatus", "redirected",
        "rangeIgnored",
        "multipartBody", "encodedBody", "wrongRange", "wrongLength", "bodyTooLong", "unknownLength", "tooLarge",
        "objectChanged",
        "invalidAnswer", "notTLS", "oldVersion", "alert", "handshakeFailed", "closedInHandshake", "selfSigned",
        "unknownRoot", "expired", "notYetValid", "wrongName", "incompleteChain", "brokenChain", "unreadableCertificate",
        "noCertificate", "wrongUsage", "weakSignature", "weakKey",
    ]

    private static func options(_ site: FaultSite) -> HTTPSource.Options {
        var options = HTTPSource.Options()
        options.policy = TLSPolicy(roots: .file(site.peer.rootPath))
        options.idleTimeout = .milliseconds(400)
        options.deadline = .seconds(10)
        options.firstByteCount = 4096
        options.largestBlockByteCount = 16 << 10
        return options
    }

    /// Opens the object and reads all of it in order, which the source is told before, or not.
    private static func read(_ site: FaultSite, isAdvised: Bool) throws -> [UInt8] {
        let source = try HTTPSource(site.url, options: options(site))
        if isAdvised { source.adviseSequential(0..<source.byteCount) }
        let object = try EncryptedObject(
            source: source, strategy: FaultSite.strategy, backend: OpenSSL(), key: SecretKey(FaultSite.key))
        let cursor = try object.makeCursor(windowByteCount: 10_000)
        var bytes: [UInt8] = []
        while bytes.count < object.plaintextByteCount {
            bytes += try cursor.read(at: UInt64(bytes.count), count: 10_000)
        }
        return bytes
    }

    @Test("each ends in the right bytes or in an error with a name", arguments: [false, true])
    func faults(hasTLS: Bool) throws {
        let site = try FaultSite(hasTLS: hasTLS)
        var (fired, right) = (0, 0)
        var failures: [String: Int] = [:]
        var seed = hasTLS ? 1_000_000 : 1
        let last = seed + 3 * Self.faultCount
        try site.announce(seed)
        while fired < Self.faultCount, seed < last {
            var name: String?
            do {
                let bytes = try Self.read(site, isAdvised: seed.isMultiple(of: 2))
                #expect(Samples.difference(bytes, site.plaintext) == nil, "seed \(seed): wrong bytes")
            } catch {
                #expect(!site.isSecret("\(error)"), "seed \(seed)")
                name = Self.name(error)
                #expect(name != nil, "seed \(seed): \(String("\(error)".prefix(300)))")
            }
            seed += 1
            let status = try site.announce(seed)
            // A fault in a place that the exchange did not come to is none.
            guard status.hasPrefix("fired") else {
                // A busy machine may be later than the short time that is given here.
                #expect(
                    name == nil || name == "noAnswer" || name == "late",
                    "seed \(seed - 1): \(name ?? "") without a fault")
                continue
            }
            fired += 1
            if let name { failures[name, default: 0] += 1 } else { right += 1 }
        }
        #expect(fired == Self.faultCount)
        // If all ended alike, faults would not be where they are meant to be.
        #expect(right >= 50 && failures.count >= 5, "\(right) right, \(failures)")
        print(
            "faults, TLS \(hasTLS): \(fired) injected, \(right) right in the end, \(failures.sorted { $0.key < $1.key })"
        )
    }

    /// The failure's name; `nil` for an error that says nothing.
    private static func name(_ error: any Error) -> String? {
        guard let error = error as? DecryptionError else { return nil }
        switch error {
        case .io(_, _, let reason):
            let name = reason.split(separator: ":").first.map(String.init) ?? ""
            return names.contains(name) ? name : nil
        case .authenticationFailed: return "authenticationFailed"
        case .headerRejected: return "headerRejected"
        case .invalidHeader: return "invalidHeader"
        case .truncatedCiphertext: return "truncatedCiphertext"
        default: return nil
        }
    }

    @Test("no key and no plaintext is in a log, a core or a temporary file", arguments: [false, true])
    func traces(hasTLS: Bool) throws {
        let site = try FaultSite(hasTLS: hasTLS)
        let scratch = try TemporaryFolder()
        let keys = try TemporaryFolder()
        let key = try keys.file("key", FaultSite.key)
        var failed = 0
        for seed in 1...20 {
            try site.announce(hasTLS ? 2_000_000 + seed : 3_000_000 + seed)
            // A core would be where the process runs; temporary files go where they are told to.
            let script = """
                ulimit -c unlimited; cd "$1"; TMPDIR="$1"; export TMPDIR; shift
                exec "$@" >"$OUT" 2>>log
                """
            let arguments = [
                "-c", "OUT=\(keys.path("out")); export OUT; \(script)", "sh", scratch.path,
                Programs.chunkwise, "decrypt", "--strategy", "cobblestone-128:context=", "--key-file", key,
                "--idle-timeout", "0.4", site.url, "-",
            ]
            let run = try CommandRun.run("/bin/sh", arguments + (hasTLS ? ["--ca-file", site.peer.rootPath] : []))
            if run.status == 0 {
                #expect(Samples.difference(keys.bytes("out") ?? [], site.plaintext) == nil, "seed \(seed)")
            } else {
                #expect([65, 74].contains(run.status), "seed \(seed): \(run.status)")
                failed += 1
            }
        }
        #expect(failed > 2)
        #expect(!(try FileManager.default.contentsOfDirectory(atPath: scratch.path)).contains { $0.contains("core") })
        var searched = 0
        for case let name as String in try #require(FileManager.default.enumerator(atPath: scratch.path)) {
            guard let bytes = scratch.bytes(name) else { continue }
            searched += 1
            #expect(!site.isSecret(bytes), "\(name)")
        }
        // The log, at least.
        #expect(searched > 0)
    }
}
