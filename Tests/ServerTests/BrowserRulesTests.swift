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
