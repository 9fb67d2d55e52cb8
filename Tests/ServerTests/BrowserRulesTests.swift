import HTTPTypes
import Testing

@testable import Server

@Suite("requests of browsers to a server without tokens")
struct BrowserRulesTests {
    private static func admits(_ authority: String?, _ fields: HTTPFields = [:], boundTo host: String = "127.0.0.1")
        -> Bool
    {
        BrowserRules(boundTo: host).admits(
            HTTPRequest(method: .get, scheme: "http", authority: authority, path: "/a", headerFields: fields))
    }

    @Test("a name that is not the server's could be made to lead here")
    func hosts() {
        for host in ["127.0.0.1", "127.0.0.1:8080", "[::1]:8080", "[::1]", "localhost", "LocalHost:80", "10.0.0.7:1"] {
            #expect(Self.admits(host), "\(host)")
        }
        #expect(Self.admits(nil), "HTTP/1.0")
        for host in [
            "evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example", "127.evil", "",
            "localhost.", "x@localhost",
        ] {
            #expect(!Self.admits(host), "\(host)")
        }
        #expect(
            Self.admits("Box.local:8080", boundTo: "box.local") && !Self.admits("other.local", boundTo: "box.local"))
    }

    @Test("a page of another origin is refused, and a link to here is followed")
    func origins() throws {
        let site = try #require(HTTPField.Name("Sec-Fetch-Site"))
        let mode = try #require(HTTPField.Name("Sec-Fetch-Mode"))
        let destination = try #require(HTTPField.Name("Sec-Fetch-Dest"))
        let host = "localhost:8080"
        #expect(Self.admits(host, [.origin: "http://localhost:8080"]))
        for origin in ["http://localhost:3000", "https://localhost:8080", "http://evil.example", "null", ""] {
            #expect(!Self.admits(host, [.origin: origin]), "\(origin)")
        }
        for value in ["same-origin", "none"] { #expect(Self.admits(host, [site: value])) }
        for value in ["cross-site", "same-site", "new"] { #expect(!Self.admits(host, [site: value])) }
        #expect(Self.admits(host, [site: "cross-site", mode: "navigate", destination: "document"]))
        #expect(!Self.admits(host, [site: "cross-site", mode: "navigate", destination: "iframe"]))
        #expect(!Self.admits(host, [site: "cross-site", mode: "no-cors", destination: "video"]))
    }
}

@Suite("answers to pages of other sites")
struct AllowedOriginsTests {
    private static func request(_ method: HTTPRequest.Method, _ fields: HTTPFields) -> HTTPRequest {
        HTTPRequest(method: method, scheme: "http", authority: "localhost:8080", path: "/a", headerFields: fields)
    }

    @Test("a page of an allowed site may read, and no other one")
    func marks() throws {
        let allowed = try #require(AllowedOrigins(["https://Player.example", "http://localhost:3000"]))
        let field = HTTPField.Name.accessControlAllowOrigin
        for (origin, value) in [
            ("https://player.example", "https://player.example"), ("http://localhost:3000", "http://localhost:3000"),
            ("https://evil.example", nil), ("null", nil), ("https://player.example.evil", nil), ("*", nil),
        ] {
            var fields = HTTPFields()
            allowed.mark(&fields, for: Self.request(.get, [.origin: origin]))
            #expect(fields[field] == value && fields[.vary] == "Origin", "\(origin)")
        }
        var fields = HTTPFields()
        AllowedOrigins().mark(&fields, for: Self.request(.get, [.origin: "https://player.example"]))
        #expect(fields.isEmpty)
        let everyone = try #require(AllowedOrigins(["*"]))
        everyone.mark(&fields, for: Self.request(.get, [.origin: "null"]))
        #expect(fields[field] == "*")
    }

    @Test("what a browser asks first is answered without a token, and nothing else is")
    func preflight() throws {
        let allowed = try #require(AllowedOrigins(["https://player.example"]))
        let asked = try #require(HTTPField.Name("Access-Control-Request-Method"))
        let methods = try #require(HTTPField.Name("Access-Control-Allow-Methods"))
        let headers = try #require(HTTPField.Name("Access-Control-Allow-Headers"))
        let own: HTTPFields = [.origin: "https://player.example", asked: "GET"]
        let reply = try #require(allowed.preflight(Self.request(.options, own)))
        #expect(reply.status == .noContent && reply.fields[methods] == "GET, HEAD")
        #expect(
            reply.fields[headers]?.contains("Range") == true && reply.fields[headers]?.contains("Authorization") == true
        )
        #expect(allowed.preflight(Self.request(.get, own)) == nil)
        #expect(allowed.preflight(Self.request(.options, [.origin: "https://player.example"])) == nil)
        #expect(allowed.preflight(Self.request(.options, [.origin: "https://evil.example", asked: "GET"])) == nil)
        #expect(AllowedOrigins().preflight(Self.request(.options, own)) == nil)
    }

    @Test("an allowed site's page asks a server without tokens as well; the host is checked all the same")
    func withoutToken() throws {
        let allowed = try #require(AllowedOrigins(["https://player.example"]))
        let rules = BrowserRules(boundTo: "127.0.0.1", allowing: allowed)
        #expect(rules.admits(Self.request(.get, [.origin: "https://player.example"])))
        #expect(!rules.admits(Self.request(.get, [.origin: "https://evil.example"])))
        var foreign = Self.request(.get, [.origin: "https://player.example"])
        foreign.authority = "evil.example"
        #expect(!rules.admits(foreign))
    }

    @Test(
        "what is no origin is refused",
        arguments: [
            "", "player.example", "ftp://a", "https://", "https://a/b", "https://a b", "https://a\r\nX: y", "null",
        ])
    func bad(text: String) {
        #expect(AllowedOrigins([text]) == nil)
    }
}
