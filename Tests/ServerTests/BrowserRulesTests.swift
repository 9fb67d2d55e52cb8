import NIOHTTP1
import Testing

@testable import Server

private func makeRequest(_ method: HTTPMethod, _ fields: HTTPHeaders, to host: String?) -> Request? {
    var fields = fields
    if let host { fields.add(name: "Host", value: host) }
    return Request(
        HTTPRequestHead(version: host == nil ? .http1_0 : .http1_1, method: method, uri: "/a", headers: fields))
}

@Suite("requests of browsers to a server without tokens")
struct BrowserRulesTests {
    private static func admits(_ authority: String?, _ fields: HTTPHeaders = [:], boundTo host: String = "127.0.0.1")
        -> Bool
    {
        guard let request = makeRequest(.GET, fields, to: authority) else { return false }
        return BrowserRules(boundTo: host).admits(request)
    }

    @Test("a name that is not the server's could be made to lead here")
    func hosts() {
        for host in ["127.0.0.1", "127.0.0.1:8080", "[::1]:8080", "[::1]", "localhost", "LocalHost:80", "10.0.0.7:1"] {
            #expect(Self.admits(host), "\(host)")
        }
        #expect(Self.admits(nil), "HTTP/1.0")
        for host in [
            "evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example", "127.evil", "",
            "localhost.", "x@localhost", "[::1]evil.example", "[::1]:80x", "[::1", "localhost:evil",
        ] {
            #expect(!Self.admits(host), "\(host)")
        }
        #expect(
            Self.admits("Box.local:8080", boundTo: "box.local") && !Self.admits("other.local", boundTo: "box.local"))
    }

    @Test("a page of another origin is refused, and a link to here is followed")
    func origins() throws {
        let (site, mode, destination) = ("Sec-Fetch-Site", "Sec-Fetch-Mode", "Sec-Fetch-Dest")
        let host = "localhost:8080"
        #expect(Self.admits(host, ["Origin": "http://localhost:8080"]))
        for origin in ["http://localhost:3000", "https://localhost:8080", "http://evil.example", "null", ""] {
            #expect(!Self.admits(host, ["Origin": origin]), "\(origin)")
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
    private static func request(_ method: HTTPMethod, _ fields: HTTPHeaders) throws -> Request {
        try #require(makeRequest(method, fields, to: "localhost:8080"))
    }

    @Test("a page of an allowed site may read, and no other one")
    func marks() throws {
        let allowed = try #require(AllowedOrigins(["https://Player.example", "http://localhost:3000"]))
        let field = "Access-Control-Allow-Origin"
        for (origin, value) in [
            ("https://player.example", "https://player.example"), ("http://localhost:3000", "http://localhost:3000"),
            ("https://evil.example", nil), ("null", nil), ("https://player.example.evil", nil), ("*", nil),
        ] {
            var fields = FieldLines()
            allowed.mark(&fields, for: try Self.request(.GET, ["Origin": origin]))
            #expect(fields.values[field] == value && fields.values["Vary"] == "Origin", "\(origin)")
        }
        var fields = FieldLines()
        AllowedOrigins().mark(&fields, for: try Self.request(.GET, ["Origin": "https://player.example"]))
        #expect(fields.values.isEmpty)
        let everyone = try #require(AllowedOrigins(["*"]))
        everyone.mark(&fields, for: try Self.request(.GET, ["Origin": "null"]))
        #expect(fields.values[field] == "*")
    }

    @Test("what a browser asks first is answered without a token, and nothing else is")
    func preflight() throws {
        let allowed = try #require(AllowedOrigins(["https://player.example"]))
        let asked = "Access-Control-Request-Method"
        let own: HTTPHeaders = ["Origin": "https://player.example", asked: "GET"]
        let reply = try #require(allowed.preflight(try Self.request(.OPTIONS, own)))
        #expect(reply.status == .noContent && reply.fields.values["Access-Control-Allow-Methods"] == "GET, HEAD")
        let headers = try #require(reply.fields.values["Access-Control-Allow-Headers"])
        #expect(headers.contains("Range") && headers.contains("Authorization"))
        #expect(allowed.preflight(try Self.request(.GET, own)) == nil)
        #expect(allowed.preflight(try Self.request(.OPTIONS, ["Origin": "https://player.example"])) == nil)
        #expect(allowed.preflight(try Self.request(.OPTIONS, ["Origin": "https://evil.example", asked: "GET"])) == nil)
        #expect(AllowedOrigins().preflight(try Self.request(.OPTIONS, own)) == nil)
    }

    @Test("an allowed site's page asks a server without tokens as well; the host is checked all the same")
    func withoutToken() throws {
        let allowed = try #require(AllowedOrigins(["https://player.example"]))
        let rules = BrowserRules(boundTo: "127.0.0.1", allowing: allowed)
        #expect(rules.admits(try Self.request(.GET, ["Origin": "https://player.example"])))
        #expect(!rules.admits(try Self.request(.GET, ["Origin": "https://evil.example"])))
        let foreign = makeRequest(.GET, ["Origin": "https://player.example"], to: "evil.example")
        #expect(!rules.admits(try #require(foreign)))
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
