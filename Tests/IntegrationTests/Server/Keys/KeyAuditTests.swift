import Foundation
import Support
import TestSupport
import Testing

@testable import Keys

/// The audit of a key server: no key leaves without its line.
@Suite("audit of a key server", .serialized)
struct KeyAuditTests {
    private static func request(route: String = "local") -> [UInt8] {
        PendingRequest(
            identifiers: ["a"], route: route, wantsPersistable: false,
            at: UInt64(Date().timeIntervalSince1970 * 1000)
        ).bytes
    }

    @Test(
        "where no line can be written, no key is given out, and the server ends with an error",
        arguments: ["exec 2>/dev/full", "exec 2>&-"])
    func lostLines(_ shell: String) throws {
        let server = try KeyServerProcess(audit: [], shell: shell)
        for _ in 0..<3 {
            let answer = try server.post(Self.request())
            #expect(answer.status == 503 && answer["retry-after"] != nil)
        }
        #expect(try server.post(Self.request(), token: "no-secret").status == 401)
        #expect(server.server.end() == 74)
    }

    @Test("standard error has the lines where no file is named")
    func standardError() throws {
        let server = try KeyServerProcess(audit: [])
        #expect(try server.post(Self.request()).status == 200)
        let lines = server.server.errors.split(separator: "\n").map { JSONValue.parse(Array($0.utf8)) }
        #expect(lines.map { $0?["result"]?.string } == ["key"])
        #expect(server.server.end() == 0)
    }

    @Test("a disk that is full keeps no part of a line, and what is written later begins a line")
    func fullDisk() throws {
        // The units of the shell's limit differ, and none of them has space for a hundred lines.
        let server = try KeyServerProcess(["--rate", "1e6"], shell: "ulimit -f 4")
        var keyCount = 0
        while keyCount < 100, try server.post(Self.request()).status == 200 { keyCount += 1 }
        try #require((1..<100).contains(keyCount), "\(keyCount) keys")
        for _ in 0..<3 { #expect(try server.post(Self.request()).status == 503) }
        func lines() -> [String?] {
            server.audit.split(separator: "\n", omittingEmptySubsequences: false).map { line in
                line.isEmpty ? "" : JSONValue.parse(Array(line.utf8))?["result"]?.string
            }
        }
        #expect(lines() == Array(repeating: "key", count: keyCount) + [""])
        // As what rotates logs does.
        #expect(truncate(server.folder.path("audit"), 0) == 0)
        #expect(try server.post(Self.request()).status == 200)
        #expect(lines() == ["key", ""])
        #expect(server.server.end() == 74)
    }

    @Test("what a kill left of a line is cut off, and a second server does not write in between")
    func tornLine() throws {
        let folder = try KeyServerProcess.makeFolder()
        let whole = String(repeating: "{\"a\": 1}\n", count: 10_000)
        try folder.file("audit", whole + "{\"time\": \"2026")
        let server = try KeyServerProcess(folder: folder)
        #expect(server.audit == whole)
        #expect(try server.post(Self.request()).status == 200)
        let added = server.audit.dropFirst(whole.count)
        #expect(added.hasSuffix("}\n") && added.count { $0 == "\n" } == 1 && added.contains("\"key\""))
        let second = try CommandRun.run(
            Programs.chunkwise, ["key-server", "--keys", "keys", "--port", "0", "--audit", "audit"], in: folder.path)
        #expect(second.status == 74 && second.errorLines.last?.contains("another run writes to it") == true)
    }

    @Test("a line drives no terminal, whatever a client calls its route", arguments: [true, false])
    func control(_ hasFile: Bool) throws {
        let server = try KeyServerProcess(audit: hasFile ? ["--audit", "audit"] : [])
        let route = "\u{9B}31m\u{1B}[2J\u{202E}txt\u{2066}\u{85}x"
        #expect(try server.post(Self.request(route: route)).status == 200)
        let text = hasFile ? server.audit : server.server.errors
        #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || (0x20..<0x7F).contains($0.value) }, "\(text)")
        let line = JSONValue.parse(Array(text.utf8.dropLast()))
        #expect(line?["route"]?.string == route)
    }
}
