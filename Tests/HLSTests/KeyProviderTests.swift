import Foundation
import Glibc
import HLS
import RandomAccess
import SystemPackage
import TestSupport
import Testing

private func bytes(_ key: SecretKey) -> [UInt8] { key.withUnsafeBytes { Array($0) } }

@Suite("keys")
struct KeyProviderTests {
    private let folder: TemporaryFolder
    private let secret = Samples.bytes(16, seed: 99)

    init() throws {
        folder = try TemporaryFolder()
        try folder.file("film 1.key", secret)
        chmod(folder.path("film 1.key"), 0o600)
    }

    @Test("a file's 16 bytes are the key for any URI")
    func file() throws {
        let provided = try FileKeys(path: FilePath(folder.path("film 1.key"))).key(for: "skd://any")
        #expect(bytes(provided.key) == secret)
        #expect(provided.warnings.isEmpty)
    }

    @Test("a key file that others may read is worth a warning", arguments: [0o644, 0o640, 0o604] as [mode_t])
    func permissions(_ mode: mode_t) throws {
        chmod(folder.path("film 1.key"), mode)
        let ring = KeyRing(FolderKeys(folder: FilePath(folder.path)))
        _ = try ring.key(for: "film%201.key")
        _ = try ring.key(for: "x/film%201.key")
        #expect(ring.warnings == [.readableByOthers(path: folder.path("film 1.key"), permissions: UInt32(mode))])
    }

    @Test(
        "a key of another length is an error that says how long it is, and nothing of it",
        arguments: [0, 1, 15, 17, 32, 1023, 1024, 5000])
    func lengths(_ count: Int) throws {
        try folder.file("k", Array("SECRET".utf8 + [UInt8](repeating: 0x58, count: 5000)).prefix(count).map { $0 })
        let error = #expect(throws: KeyError.self) { try FileKeys(path: FilePath(folder.path("k"))).key(for: "k") }
        let text = error.map { "\($0)" } ?? ""
        #expect(
            text.contains(count == 0 ? "has no bytes" : count < 1024 ? "has \(count) bytes" : "has 1024 or more bytes"))
        #expect(text.contains("expected 16"))
        #expect(!text.contains("SEC"))
    }

    @Test("a key file that comes later, or is replaced, is seen")
    func replaced() throws {
        let ring = KeyRing(SchemeKeys(["": FolderKeys(folder: FilePath(folder.path))]))
        #expect(throws: DecryptionError.self) { try ring.key(for: "late") }
        #expect(ring.version(for: "late") == nil)
        try folder.file("late", secret)
        #expect(try bytes(ring.key(for: "late")) == secret)
        let version = ring.version(for: "late")
        let other = Samples.bytes(16, seed: 100)
        // Another file under the name, as programs do that leave no half of one.
        try folder.file("new", other)
        #expect(rename(folder.path("new"), folder.path("late")) == 0)
        #expect(try bytes(ring.key(for: "late")) == other && ring.version(for: "late") != version)
    }

    @Test("a pipe that a playlist names is no key, and no read waits for it")
    func pipe() throws {
        #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
        let error = #expect(throws: KeyError.self) { try FolderKeys(folder: FilePath(folder.path)).key(for: "pipe") }
        #expect("\(try #require(error))".contains("expected a file"))
    }

    @Test("a key in hexadecimal is told apart")
    func hexadecimal() throws {
        try folder.file("k", "00112233445566778899aabbccddeeff\n")
        let error = #expect(throws: KeyError.self) { try FileKeys(path: FilePath(folder.path("k"))).key(for: "k") }
        #expect("\(try #require(error))".contains("has 33 bytes: expected 16 raw ones, not hexadecimal digits"))
    }

    @Test(
        "a folder's keys are found by the last part of the URI's path",
        arguments: [
            "film%201.key", "mykey://host/a/film%201.key?token=1#x", "https://h/film%201.key", "mykey:film%201.key",
            "mykey://film%201.key", "../../film 1.key",
        ])
    func inFolder(uri: String) throws {
        #expect(bytes(try FolderKeys(folder: FilePath(folder.path)).key(for: uri).key) == secret)
    }

    @Test("a file that lies where the whole URI says comes before one that is named like its end")
    func wholeURI() throws {
        let keys = FolderKeys(folder: FilePath(folder.path))
        let exact = FolderKeys(folder: FilePath(folder.path), isExact: true)
        let uri = "mykey://host/a/film%201.key?token=1#x"
        #expect(bytes(try keys.key(for: uri).key) == secret)
        #expect(throws: KeyError.self) { try exact.key(for: uri) }
        #expect(exact.version(for: uri) == nil && keys.version(for: uri) != nil)
        let other = Samples.bytes(16, seed: 98)
        try FileManager.default.createDirectory(
            atPath: folder.path("mykey/host/a"), withIntermediateDirectories: true)
        try folder.file("mykey/host/a/film 1.key", other, isSecret: true)
        for keys in [keys, exact] {
            #expect(bytes(try keys.key(for: uri).key) == other)
            #expect(bytes(try keys.key(for: "mykey://host/a/%66ilm 1.key").key) == other)
        }
        #expect(exact.version(for: uri) == keys.version(for: uri) && exact.version(for: uri) != nil)
        for uri in [
            "mykey://host/b/film%201.key", "mykey://other/a/film%201.key", "skd://host/a/film%201.key",
            "mykey://host/b/../a/film%201.key", "mykey://host//a/film%201.key", "mykey://host/a%2Ffilm%201.key",
            "/mykey/host/a/film%201.key", "mykey://host/%2E%2E/host/a/film%201.key", "mykey://host/a",
        ] {
            #expect(throws: KeyError.self, "\(uri)") { try exact.key(for: uri) }
        }
    }

    @Test("a folder's map comes first")
    func map() throws {
        let keys = FolderKeys(folder: FilePath(folder.path), names: ["skd://7": "film 1.key"])
        #expect(bytes(try keys.key(for: "skd://7").key) == secret)
    }

    @Test(
        "what no file of the folder can be is missing, and nothing outside is read",
        arguments: [
            "other.key", "..", "a/..", "%2e%2e", "..%2Ffilm%201.key", "", "/", "a%", "skd://", "film%201.key%00",
        ])
    func missing(uri: String) {
        #expect {
            try FolderKeys(folder: FilePath(folder.path)).key(for: uri)
        } throws: {
            guard case .missing = $0 as? KeyError else { return false }
            return true
        }
    }

    @Test("a scheme that no provider handles is named, with those that are handled")
    func schemes() throws {
        let keys = SchemeKeys([
            "mykey": FileKeys(path: FilePath(folder.path("film 1.key"))), "Other": FileKeys(path: "/nowhere"),
        ])
        #expect(bytes(try keys.key(for: "MyKey://film").key) == secret)
        let ring = KeyRing(keys)
        let error = #expect(throws: DecryptionError.self) { try ring.key(for: "https://user:pw@h/k?token=5") }
        #expect(
            "\(try #require(error))"
                == "no key for https://…@h/k?…: no provider handles the scheme \"https\": expected \"mykey\" or \"other\""
        )
        #expect(throws: KeyError.unhandledScheme("", handled: ["mykey", "other"])) { try keys.key(for: "relative.key") }
        let data = #expect(throws: DecryptionError.self) { try ring.key(for: "data:;base64,U0VDUkVU") }
        #expect(!"\(try #require(data))".contains("U0VDUkVU"))
    }

    @Test("other URIs go to the fallback")
    func fallback() throws {
        let keys = SchemeKeys(["x": FileKeys(path: "/nowhere")], fallback: FolderKeys(folder: FilePath(folder.path)))
        #expect(bytes(try keys.key(for: "film%201.key").key) == secret)
    }

    @Test("a program's own handler is asked with the URI, and its failures are named")
    func handler() throws {
        struct Refusal: Error, CustomStringConvertible { let description = "not paid" }
        let keys = SchemeKeys([
            "mykey": HandlerKeys { uri in
                switch uri {
                case "mykey://ok": try testKey(5)
                case "mykey://short": try SecretKey([UInt8](repeating: 1, count: 3))
                case "mykey://empty": try SecretKey([UInt8]())
                case "mykey://long": try SecretKey([UInt8](repeating: 1, count: 32))
                default: throw Refusal()
                }
            }
        ])
        let ring = KeyRing(keys)
        #expect(bytes(try ring.key(for: "mykey://ok")) == [UInt8](repeating: 5, count: 16))
        for (name, words) in [
            ("short", "has 3 bytes"), ("empty", "has no bytes"), ("long", "has 32 bytes"), ("x", "not paid"),
        ] {
            let error = #expect(throws: DecryptionError.self) { try ring.key(for: "mykey://\(name)") }
            #expect("\(try #require(error))".contains(words))
            #expect(error?.protocolName == "invalidKey")
        }
    }

    @Test("a ring asks once for each URI, whether there is a key or not")
    func once() {
        let keys = CountingKeys()
        let ring = KeyRing(keys)
        for _ in 0..<3 {
            _ = try? ring.key(for: "key1")
            _ = try? ring.key(for: "none")
        }
        #expect(keys.asked == ["key1": 1, "none": 1])
    }

    @Test("keys beside the playlist, and nowhere else")
    func besidePlaylist() throws {
        let resources = try FolderResources(
            playlist: FilePath(folder.path("sub/list.m3u8")), root: FilePath(folder.path))
        let keys = PlaylistKeys(resources)
        #expect(bytes(try keys.key(for: "../film%201.key").key) == secret)
        #expect(throws: KeyError.unhandledScheme("mykey", handled: ["", "file"])) { try keys.key(for: "mykey://x") }
        for uri in ["../none", "/etc/passwd"] {
            #expect(throws: KeyError.self) { try keys.key(for: uri) }
        }
    }

    @Test("no description of a ring or key holds the key")
    func silence() throws {
        let ring = KeyRing(FileKeys(path: FilePath(folder.path("film 1.key"))))
        let key = try ring.key(for: "k")
        var text = "\(key) \(ring)"
        dump(ProvidedKey(key), to: &text)
        #expect(!text.contains("\(secret[0]), \(secret[1])"))
        #expect(text.contains("SecretKey(16 bytes)"))
    }
}

@Suite("key commands")
struct CommandKeysTests {
    private func run(_ script: String, deadline: Duration = .seconds(60), uri: String = "mykey://a b") throws
        -> [UInt8]
    {
        bytes(try CommandKeys(command: ["sh", "-c", script, "sh"], deadline: deadline).key(for: uri).key)
    }

    @Test("the URI is the last argument, and standard output the key")
    func output() throws {
        #expect(try run("printf %s \"${1}abcde\"", uri: "mykey://a b") == Array("mykey://a babcde".utf8))
        #expect(try run("cat; printf 0123456789abcdef") == Array("0123456789abcdef".utf8))
        #expect(try run("printf 01234567; sleep 0.1; printf 89abcdef") == Array("0123456789abcdef".utf8))
    }

    @Test("a URI that begins like an option is refused, unless the command knows that no option follows")
    func options() throws {
        for uri in ["-o", "--config=x", "-"] {
            #expect {
                try run("printf 0123456789abcdef", uri: uri)
            } throws: {
                guard case .commandFailed = $0 as? KeyError else { return false }
                return true
            }
            let command = ["sh", "-c", "printf %16s \"$2\"", "sh", "--"]
            let key = bytes(try CommandKeys(command: command, deadline: .seconds(60)).key(for: uri).key)
            #expect(key.suffix(uri.utf8.count) == Array(uri.utf8)[...])
        }
        #expect(try run("printf 0123456789abcdef", uri: "mykey://-o").count == 16)
    }

    @Test(
        "a command that fails is named, with how it ended",
        arguments: [
            ("printf 0123456789abcdef; exit 3", "ended with status 3"), ("kill -9 $$", "was ended by signal 9"),
            (":", "has no bytes"), ("printf 0123456789abcde", "has 15 bytes"),
            ("printf 0123456789abcdefg", "has 17 bytes"),
            ("while :; do printf 0123456789abcdef; done", "has 1024 or more bytes"),
        ])
    func failures(script: String, words: String) throws {
        let error = #expect(throws: KeyError.self) { try run(script) }
        let text = "\(try #require(error))"
        #expect(text.contains(words))
        #expect(!text.contains("01234"))
    }

    @Test(
        "a command that takes too long is killed, whether its output is open or not",
        arguments: ["sleep 1000", "exec >&-; sleep 1000"])
    func deadline(script: String) throws {
        let error = #expect(throws: KeyError.self) { try run(script, deadline: .milliseconds(50)) }
        #expect("\(try #require(error))".contains("did not end within"))
    }

    @Test("keys that are expected come with the first, in as few runs as can be; one that is missing keeps none back")
    func batches() throws {
        let folder = try TemporaryFolder()
        let log = folder.path("log")
        let script = """
            echo $# >>'\(log)'
            for name; do case $name in none) exit 1;; *) printf %16s "$name";; esac; done
            """
        func runs() -> String { String(decoding: folder.bytes("log") ?? [], as: UTF8.self) }
        func key(_ name: String) -> [UInt8] { Array((String(repeating: " ", count: 16 - name.count) + name).utf8) }
        let keys = BatchCommandKeys(command: ["sh", "-c", script, "sh"], deadline: .seconds(60))
        #expect(bytes(try keys.key(for: "alone").key) == key("alone"))
        let names = (0..<40).map { "k\($0)" }
        keys.expect(names)
        for name in ["k5"] + names.filter({ $0 != "k5" }) {
            #expect(bytes(try keys.key(for: name).key) == key(name))
        }
        #expect(runs() == "1\n32\n8\n")
        #expect(bytes(try keys.key(for: "k0").key) == key("k0"), "one that is asked for again")
        #expect(runs() == "1\n32\n8\n1\n")
        let others = BatchCommandKeys(command: ["sh", "-c", script, "sh"], deadline: .seconds(60))
        others.expect(["a", "none", "b"])
        #expect(bytes(try others.key(for: "a").key) == key("a"))
        #expect(throws: KeyError.self) { try others.key(for: "none") }
        #expect(bytes(try others.key(for: "b").key) == key("b"))
    }

    @Test("where no answer came, all keys of a batch have that error, by one run")
    func noAnswer() throws {
        let folder = try TemporaryFolder()
        let script = "echo run >>'\(folder.path("log"))'; exit 74"
        let keys = BatchCommandKeys(command: ["sh", "-c", script, "sh"], name: "keys", deadline: .seconds(60))
        keys.expect(["a", "b", "c"])
        for name in ["a", "b", "c"] {
            #expect {
                try keys.key(for: name)
            } throws: {
                guard case .notFetched = $0 as? KeyError else { return false }
                return true
            }
        }
        #expect(folder.bytes("log") == Array("run\n".utf8))
        #expect(throws: DecryptionError.self) { try KeyRing(keys).key(for: "a") }
        #expect(folder.bytes("log") == Array("run\nrun\n".utf8))
    }

    @Test("a command that is none is named")
    func notStarted() throws {
        for command in [["/nowhere/keys"], []] {
            #expect {
                try CommandKeys(command: command).key(for: "k")
            } throws: {
                guard case .commandFailed = $0 as? KeyError else { return false }
                return true
            }
        }
    }
}
