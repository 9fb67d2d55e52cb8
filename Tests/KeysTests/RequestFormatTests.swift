import TestSupport
import Testing

@testable import Keys

/// Bytes that are no requests.
@Suite("requests for keys, malformed")
struct RequestFormatTests {
    private static func fault(_ bytes: [UInt8]) -> String? {
        do throws(WireFault) {
            _ = try KeyRequest(bytes)
            return nil
        } catch {
            return error.description
        }
    }

    private static func request(_ identifiers: [String] = ["a", "b"]) -> [UInt8] {
        PendingRequest(identifiers: identifiers, route: "local", wantsPersistable: false, at: 1).bytes
    }

    private static func changed(_ change: (inout [UInt8]) -> Void) -> [UInt8] {
        var bytes = request()
        change(&bytes)
        return bytes
    }

    @Test(
        "each is refused with a reason",
        arguments: [
            ("mark", changed { $0[0] = 0x58 }, "mark"), ("version", changed { $0[4] = 2 }, "version is 2"),
            ("kind", changed { $0[5] = 3 }, "kind of keys is 3"), ("none", changed { $0[64] = 0 }, "0 identifiers"),
            ("too many", changed { $0[64] = 65 }, "65 identifiers"),
            ("route", changed { $0[65] = 0xFF }, "route is not UTF-8"),
            ("empty identifier", request([""]), "identifier 1 has 0 bytes"),
            ("long identifier", request([String(repeating: "x", count: 2049)]), "identifier 1 has 2049 bytes"),
            ("identifier", changed { $0[$0.count - 1] = 0xC0 }, "identifier 2 is not UTF-8"),
            ("twice", request(["a", "a"]), "twice"), ("more", request() + [0], "1 bytes follow"), ("empty", [], "ends"),
        ])
    func refused(_ name: String, _ bytes: [UInt8], _ reason: String) {
        #expect(Self.fault(bytes)?.contains(reason) == true, "\(name): \(Self.fault(bytes) ?? "was taken")")
    }

    @Test("a cut at any byte is refused")
    func cut() {
        let bytes = Self.request()
        for count in bytes.indices { #expect(Self.fault(Array(bytes[..<count])) != nil, "cut after \(count)") }
    }

    @Test("the longest request has as many bytes as are allowed")
    func longest() throws {
        let identifiers = (0..<64).map { String(repeating: "x", count: 2040) + "\(10_000_000 + $0)" }
        let pending = PendingRequest(
            identifiers: identifiers, route: String(repeating: "ü", count: 200), wantsPersistable: true, at: 1)
        #expect(pending.bytes.count == KeyRequest.maxByteCount - 1)
        #expect(try KeyRequest(pending.bytes).route == String(repeating: "ü", count: 127))
    }

    @Test("whatever bytes come, none trap", arguments: 0..<200)
    func random(_ seed: UInt64) {
        var bytes = Self.request()
        let noise = Samples.bytes(8, seed: seed + 1)
        for (index, value) in noise.enumerated() {
            bytes[Int(noise[(index + 1) % 8]) % bytes.count] = value
        }
        // Taken or refused: both are answers.
        if let fault = Self.fault(bytes) { #expect(!fault.isEmpty) }
        #expect(Self.fault(Samples.bytes(100, seed: seed + 1)) != nil)
    }
}
