import Glibc
import HLS
import RandomAccess
import SystemPackage
import TestSupport
import Testing

@Suite("URIs")
struct URIReferenceTests {
    @Test(
        "references resolve as RFC 3986, section 5.4, says",
        arguments: [
            ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
            (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
            ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
            ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
            ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"),
            ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"),
            ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"),
            ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
            ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
            ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"),
            ("g#s/./x", "http://a/b/c/g#s/./x"), ("g#s/../x", "http://a/b/c/g#s/../x"), ("http:g", "http:g"),
        ])
    func resolution(reference: String, target: String) {
        let base = URIReference("http://a/b/c/d;p?q")
        #expect(URIReference(reference).resolved(against: base).text == target)
        #expect(URIReference(reference).text == reference)
    }

    @Test(
        "a URI is shown without what may be secret",
        arguments: [
            ("https://user:word@h/key.php?token=1#x", "https://…@h/key.php?…#…"), ("data:;base64,AAAA", "data:…"),
            ("DATA:,0123456789abcdef", "data:…"), ("seg\u{7}\u{201C}.ts", "segU+0007U+201C.ts"), ("a/b.key", "a/b.key"),
        ])
    func shown(uri: String, shown: String) {
        #expect(URIReference(uri).redacted == shown)
    }

    @Test("relative URIs are files beside the playlist, percent-decoded, without query and fragment")
    func files() throws {
        let folder = try TemporaryFolder()
        let playlist = FilePath(folder.path("a b%/list.m3u8"))
        let resources = try FolderResources(playlist: playlist, root: "/")
        let start = folder.path("")
        for (uri, path) in [
            ("s.ts", "a b%/s.ts"), ("s%201.ts?x=%2F#y", "a b%/s 1.ts"), ("../c/./s", "c/s"), ("s%25.ts", "a b%/s%.ts"),
            ("ü", "a b%/ü"), ("%C3%BC", "a b%/ü"), ("x//y", "a b%/x/y"),
        ] {
            #expect(try resources.path(for: uri).string == start + path)
        }
        #expect(try resources.path(for: "file:///etc/x").string == "/etc/x")
        #expect(try resources.path(for: "/etc/x").string == "/etc/x")
        #expect(try resources.path(for: "../../../../../../../../etc/x").string == "/etc/x")
    }

    @Test(
        "what no file has is refused by name",
        arguments: [
            ("http://h/a.ts", "unsupported"), ("https://h/a.ts", "unsupported"), ("//h/a.ts", "unsupported"),
            ("mykey://h", "unsupported"), ("a%2Fb", "invalidRequest"), ("a%00b", "invalidRequest"),
            ("a%", "invalidRequest"),
            ("a%4", "invalidRequest"), ("a%zz", "invalidRequest"), ("%2e%2e/a", "invalidRequest"),
            ("%FF", "invalidRequest"),
            (".%2E/a", "invalidRequest"), ("a/\u{338}b", "invalidRequest"),
        ])
    func refused(uri: String, name: String) throws {
        let resources = try FolderResources(playlist: "/tmp/x/list.m3u8", root: "/")
        #expect {
            try resources.source(for: uri)
        } throws: {
            ($0 as? DecryptionError)?.protocolName == name
        }
    }

    @Test("a playlist's own folder is its root, unless another one is named")
    func ownFolder() throws {
        let folder = try TemporaryFolder()
        try folder.file("outside", "x")
        _ = try FolderOutput(folder: FilePath(folder.path("films/deep")))
        try folder.file("films/deep/inside", "y")
        symlink("../outside", folder.path("films/link"))
        let playlist = FilePath(folder.path("films/list.m3u8"))
        let own = try FolderResources(playlist: playlist)
        #expect(try own.source(for: "deep/inside").byteCount == 1)
        for uri in ["../outside", "link", "/etc/hostname", "file:///etc/hostname"] {
            #expect {
                try own.source(for: uri)
            } throws: {
                "\($0)".contains("invalid URI file:///") && "\($0)".contains("expected a file in ")
                    && "\($0)".contains("/films, which is the root")
            }
            #expect(throws: KeyError.self) { try PlaylistKeys(own).key(for: uri) }
        }
        for root in [folder.path, "/"] {
            let resources = try FolderResources(playlist: playlist, root: FilePath(root))
            #expect(try resources.source(for: "../outside").byteCount == 1)
        }
    }

    @Test("nothing outside of a root is opened, whatever dots and links say")
    func root() throws {
        let folder = try TemporaryFolder()
        try folder.file("outside", "x")
        _ = try FolderOutput(folder: FilePath(folder.path("top/deep")))
        try folder.file("top/inside", "y")
        symlink("../../outside", folder.path("top/deep/link"))
        symlink("../inside", folder.path("top/deep/good"))
        symlink("..", folder.path("top/up"))
        let resources = try FolderResources(
            playlist: FilePath(folder.path("top/deep/list.m3u8")), root: FilePath(folder.path("top")))
        for uri in ["../inside", "good", "../deep/../inside", "../../top/inside"] {
            #expect(try resources.source(for: uri).byteCount == 1)
        }
        for uri in ["../../outside", "link", "../up/outside", "/etc/passwd", "file:///etc/passwd"] {
            #expect {
                try resources.source(for: uri)
            } throws: {
                ($0 as? DecryptionError)?.protocolName == "invalidRequest"
            }
        }
        #expect {
            try resources.source(for: "missing")
        } throws: {
            ($0 as? DecryptionError)?.protocolName == "io"
        }
    }
}
