import Foundation
import RandomAccess
import TestSupport
import Testing

@Suite("serving folders")
struct FolderServingTests {
    private static let plaintext = Samples.bytes(100_000, seed: 3)

    /// `secret.enc` beside the folder `films`, which has a film, a folder with another, and links.
    private static func serve(_ extra: [String] = []) throws -> ServerProcess {
        let folder = try ServerProcess.makeFolder()
        let manager = FileManager.default
        for path in ["films/more", "films/.hidden"] {
            try manager.createDirectory(atPath: folder.path(path), withIntermediateDirectories: true)
        }
        for name in ["secret.enc", "films/a b.mp4", "films/more/é.webm", "films/.hidden/x", "films/.x"] {
            try ServerProcess.encrypt(plaintext, to: name, in: folder)
        }
        for (link, target) in [
            ("out", "../secret.enc"), ("absolute", folder.path("secret.enc")), ("up", ".."), ("self", "a b.mp4"),
            ("loop", "loop"), ("more/back", "../../secret.enc"),
        ] {
            try manager.createSymbolicLink(atPath: folder.path("films/\(link)"), withDestinationPath: target)
        }
        mkfifo(folder.path("films/pipe"), 0o600)
        try folder.file("films/broken.enc", Array(plaintext[..<1000]))
        return try ServerProcess(folder, ["--no-token", "films"] + extra)
    }

    @Test("files of the folder and of those in it are served, and the start page names them")
    func files() throws {
        let server = try Self.serve()
        for target in ["/a%20b.mp4", "/more/%C3%A9.webm"] {
            let response = try server.get(target, ["Range: bytes=99990-"])
            #expect(response.status == 206 && response.body == Array(Self.plaintext[99_990...]))
        }
        let page = try server.get("/")
        let text = String(decoding: page.body, as: UTF8.self)
        #expect(page.status == 200 && text.contains("<a href=\"a%20b.mp4\">a b.mp4</a>"))
        #expect(text.contains("<a href=\"more/%C3%A9.webm\">more/é.webm</a>"))
        #expect(text.contains("<a href=\"broken\">broken</a>") && server.announcement.hasPrefix("serving 2 files"))
        #expect(!text.contains(".x") && !text.contains("hidden") && !text.contains("out") && !text.contains("back"))
    }

    @Test("nothing outside the folder is served, however it is written")
    func outside() throws {
        let server = try Self.serve()
        let depths = (1...6).map { String(repeating: "../", count: $0) }
        var targets = [
            "/out", "/absolute", "/up/secret.enc", "/self", "/loop", "/more/back", "/.x", "/.hidden/x", "/pipe",
        ]
        targets += [
            "/more", "/more/", "/a%20b.mp4/", "/a%20b.mp4/x", "/nothing", "/secret.enc", "//secret.enc", "/films",
        ]
        for depth in depths {
            for up in [
                depth, depth.replacingOccurrences(of: ".", with: "%2e"),
                depth.replacingOccurrences(of: "/", with: "%2f"),
                depth.replacingOccurrences(of: "/", with: "\\"), depth.replacingOccurrences(of: "/", with: "%5c"),
                depth.replacingOccurrences(of: "..", with: ".%2E"), depth.replacingOccurrences(of: ".", with: "%252e"),
            ] {
                targets += ["/\(up)secret.enc", "/more/\(up)secret.enc", "/\(up)etc/passwd"]
            }
        }
        targets += [
            "/secret.enc%00.mp4", "/a%20b.mp4%00", "/%00", "/\(server.folder.path("secret.enc"))", "secret.enc",
        ]
        for target in targets {
            let response = try server.get(target, ["Range: bytes=0-99"])
            #expect([400, 404].contains(response.status), "\(target): \(response.status)")
            #expect(response["etag"] == nil && response["content-range"] == nil && response.body.count < 64)
        }
    }

    @Test("what cannot be decrypted is said to the log and not to the client")
    func broken() throws {
        let server = try Self.serve()
        let response = try server.get("/broken.enc")
        #expect(response.status == 500 && response.body.count < 64)
        #expect(server.errors.contains("broken.enc: the ciphertext has 1000 bytes"))
    }

    @Test("what does not open is said before the first client comes, and no address is printed for it")
    func announced() throws {
        let server = try Self.serve()
        #expect(server.waits { server.errors.contains("warning: broken is there and cannot be served") })
        #expect(!server.announcement.contains("broken") && server.announcement.contains("serving"))
    }

    @Test("without --iv each file has its own beside it")
    func sidecars() throws {
        let folder = try ServerProcess.makeFolder()
        try FileManager.default.createDirectory(atPath: folder.path("films"), withIntermediateDirectories: false)
        for name in ["one", "two", "three", "four"] {
            try ServerProcess.encrypt(Self.plaintext, to: "films/\(name)", in: folder)
        }
        try folder.file("films/one.iv", ServerProcess.hexadecimal(ServerProcess.iv) + "\n")
        try folder.file("films/two.iv", ServerProcess.hexadecimal([UInt8](repeating: 1, count: 16)).uppercased())
        try folder.file("films/three.iv", "00")
        let server = try ServerProcess(
            folder, ["--no-token", "films"], options: ["--key-file", folder.path("key"), "--port", "0"])
        #expect(try server.get("/one").body == Self.plaintext)
        // Another IV changes the first block and nothing else.
        let other = try server.get("/two").body
        #expect(other.count == Self.plaintext.count && other[16...] == Self.plaintext[16...])
        #expect(other[..<16] != Self.plaintext[..<16])
        #expect(try server.get("/three").status == 500)
        #expect(try server.get("/four").status == 500)
        #expect(try server.get("/one.iv").status == 404)
        #expect(try server.get("/one", method: "HEAD")["etag"] != server.get("/two", method: "HEAD")["etag"])
        #expect(server.errors.contains("three.iv") && server.errors.contains("four.iv"))
    }

    @Test(
        "authenticated formats need no IV, and take none",
        arguments: [
            ("cobblestone-128", Strategy.chunked(.cobblestone(keyByteCount: 16, context: []))),
            (
                "tink-aes-gcm-hkdf",
                .chunked(
                    .tinkAESGCMHKDF(associatedData: [], segmentByteCount: 4096, derivedKeyByteCount: 16))
            ),
        ])
    func authenticated(name: String, strategy: Strategy) throws {
        let folder = try ServerProcess.makeFolder()
        try FileManager.default.createDirectory(atPath: folder.path("films"), withIntermediateDirectories: false)
        try ServerProcess.encrypt(Self.plaintext, strategy: strategy, to: "films/one.iv", in: folder)
        let options = ["--key-file", folder.path("key"), "--port", "0", "--strategy", name]
        let server = try ServerProcess(folder, ["--no-token", "films"], options: options)
        #expect(try server.get("/one.iv").body == Self.plaintext)
        let part = try server.get("/one.iv", ["Range: bytes=100-4999"])
        #expect(part.status == 206 && part.body == Array(Self.plaintext[100..<5000]))
        #expect(throws: ServerFailure.self) {
            try ServerProcess(
                folder, ["--no-token", "films", "--iv", ServerProcess.hexadecimal(ServerProcess.iv)],
                options: options)
        }
    }
}
