import ByteSources
import RandomAccess
import Testing

@testable import HTTPSources

@Suite("URLs of objects")
struct LocationTests {
    @Test(
        "are taken apart",
        arguments: [
            ("https://h", true, "h", 443, "/"), ("http://h/", false, "h", 80, "/"),
            ("HTTPS://h:8443/a/b?c=d#e", true, "h", 8443, "/a/b?c=d"), ("http://h?q", false, "h", 80, "/?q"),
            ("http://[::1]:8080/x", false, "::1", 8080, "/x"), ("https://127.0.0.1:/x", true, "127.0.0.1", 443, "/x"),
        ])
    func parts(_ text: String, _ isSecure: Bool, _ host: String, _ port: Int, _ target: String) throws {
        let location = try HTTPLocation(text)
        #expect(location.isSecure == isSecure)
        #expect(location.host.text == host)
        #expect(location.port == port)
        #expect(location.target == target)
    }

    @Test(
        "mean another by a reference that is absolute or not",
        arguments: [
            ("/x", "https://h:8443/x"), ("x", "https://h:8443/a/x"), ("../x?q", "https://h:8443/x?q"),
            ("?q", "https://h:8443/a/b?q"), ("//other/x", "https://other/x"), ("http://other/", "http://other/"),
        ])
    func references(_ reference: String, _ url: String) throws {
        #expect(try HTTPLocation("https://h:8443/a/b?c=d").resolving(reference) == url)
    }

    @Test("of any kind are no names of files")
    func anyKind() {
        for text in ["https://h", "HTTP:/h", "ftp://h/x", "s3://bucket/x", "git+ssh://h"] {
            #expect(URLText.isURL(text), "\(text)")
        }
        for text in ["film.enc", "a:b", "c:/film", "/a://b", "./http://x", "://x", ""] {
            #expect(!URLText.isURL(text), "\(text)")
        }
    }

    @Test(
        "that are none are refused",
        arguments: [
            "", "h", "ftp://h/x", "https://", "https:///x", "https://h:0/", "https://h:65536/", "https://h:x/",
            "https://h:+1/", "https://[::1/", "https://[h]/", "https://h x/", "https://h/\r\nHost: other",
            "https://h/ä",
            "https://ä/", "https://h/a b", "https://a%41/", "https://[::1]x/", "https://h:-1/", "https://h:1:2/",
        ])
    func refused(_ text: String) {
        #expect(throws: DecryptionError.self) { try HTTPLocation(text) }
    }

    @Test(
        "with credentials are refused, and shown without",
        arguments: [
            "https://user:secret@h/x", "https://secret@h/", "http://u:a/secret@h/x?y", "https://u:secret@h:1/x?secret",
            "https://h/x y?secret",
            "https://u:se#secret@h/x", "https://u:a?secret@h/", "https://secret:a/b?c@h", "ftp://u:secret@h/",
            "secret@h", "x?secret",
        ])
    func credentials(_ text: String) {
        do {
            _ = try HTTPLocation(text)
            Issue.record("is taken")
        } catch {
            #expect(!"\(error)".contains("secret"), "\(error)")
        }
    }

    @Test("are shown without their query")
    func shown() throws {
        #expect("\(try HTTPLocation("https://h/a?mail=x@y"))" == "https://h/a?…")
        #expect(URLText.redacted("https://u:secret@h:8443/a?b") == "https://…@h:8443")
        #expect("\(try HTTPLocation("https://h:8443/a?token=secret"))" == "https://h:8443/a?…")
        #expect("\(try HTTPLocation("http://[::1]/a"))" == "http://[::1]/a")
    }
}
