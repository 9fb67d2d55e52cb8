import Server
import Testing

@Suite("request targets and tokens")
struct RequestTargetTests {
    @Test(
        "names are decoded once",
        arguments: [
            ("/", []), ("/a", ["a"]), ("/a/b.mp4", ["a", "b.mp4"]), ("/a%20b", ["a b"]), ("/%41", ["A"]),
            ("/%2541", ["%41"]), ("/%c3%a9", ["é"]), ("/...", ["..."]), ("/a?b/../c", ["a"]), ("/?x", []),
        ] as [(String, [String])])
    func decoded(target: String, names: [String]) throws {
        #expect(try RequestTarget(target).path == names)
    }

    @Test(
        "what could lead out of a folder is no name",
        arguments: [
            "/..", "/../a", "/a/../b", "/.", "/./a", "/%2e%2e/a", "/%2E%2e", "/.%2e", "/a%2fb", "/a%2Fb", "/..%2f",
            "/a\\b", "/..\\a", "/%5c", "/..%5ca", "//", "//etc", "/a//b", "/a/",
        ])
    func notFound(target: String) {
        #expect(throws: RequestTarget.Rejection.notFound) { try RequestTarget(target) }
    }

    @Test(
        "what is no path is malformed",
        arguments: [
            "", "a", "*", "http://x/a", "/%", "/%4", "/%zz", "/a%00", "/a%0d%0a", "/%7f", "/%ff", "/%c0%ae%c0%ae",
            "/a#b",
            "/%\u{e9}",
        ])
    func malformed(target: String) {
        #expect(throws: RequestTarget.Rejection.malformed) { try RequestTarget(target) }
    }

    @Test("an encoded name is read as the name", arguments: ["a b", "é", "100%", "a?b", "a#b", "x&y=<z>", "\u{1F3AC}"])
    func encoded(name: String) throws {
        #expect(try RequestTarget("/" + RequestTarget.encoded([name])).path == [name])
    }

    @Test("a token is found as the first name or in a field, and only whole")
    func token() {
        let token = AccessToken()
        let text = token.text
        #expect(text.count == 32 && AccessToken().text != text)
        for rest in ["/", "/a", "/a/b?c", "", "?a", "//"] {
            #expect(token.rest(of: "/\(text)\(rest)") == rest)
        }
        #expect(token.isShown(in: "Bearer \(text)"))
        #expect(token.isShown(in: "bearer \(text)"))
        for wrong in ["", "x", text + "0", String(text.dropLast()), String(text.reversed()) + "x"] {
            #expect(token.rest(of: "/\(wrong)/a") == nil)
            #expect(!token.isShown(in: "Bearer \(wrong)"))
        }
        for target in ["", "/", text, "//\(text)/", "/a/\(text)/", "/?\(text)", "/\(text)%2Fa"] {
            #expect(token.rest(of: target) == nil, "\(target)")
        }
        #expect(!token.isShown(in: "Basic \(text)"))
        #expect(!"\(token)".contains(text) && !String(reflecting: token).contains(text))
    }

    @Test(
        "types go by the name without what says that it is encrypted",
        arguments: [
            ("a.mp4", "video/mp4"), ("a.MP4.enc", "video/mp4"), ("a.webm.aes", "video/webm"), ("a.ts", "video/mp2t"),
            ("a.m3u8", "application/vnd.apple.mpegurl"), ("a", "application/octet-stream"),
            ("a.enc", "application/octet-stream"), ("mp4", "application/octet-stream"),
            ("a.html", "text/html; charset=utf-8"),
        ])
    func types(name: String, type: String) {
        #expect(ContentType.ofFile(named: name) == type)
    }
}
