import RandomAccess
import SystemPackage
import TestSupport
import Testing

@testable import ByteSources

@Suite("the file with an IV")
struct IVFileTests {
    private static let one = "000102030405060708090a0b0c0d0e0f"
    private static let other = "f0e0d0c0b0a090807060504030201000"
    private static let film = [UInt8](repeating: 7, count: 40)
    private static let start = String(repeating: "07", count: 16)

    /// Reads an IV file beside a ciphertext: the IV, or the error's value.
    private func read(_ text: String, beside ciphertext: [UInt8] = film) throws -> String {
        do {
            let iv = try IVFile.iv(in: MemorySource(Array(text.utf8)), named: "film.iv", byteCounts: [16]) {
                () throws(DecryptionError) in
                MemorySource(ciphertext)
            }
            return iv.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        } catch .invalidParameter(_, let value, _) {
            return value
        }
    }

    @Test("it has 32 hexadecimal digits, or those of several files with the first bytes of each")
    func texts() throws {
        let (one, other, start) = (Self.one, Self.other, Self.start)
        #expect(try read(one) == one && read("  \(one.uppercased())\r\n\n") == one)
        let both = "\(other) \(String(repeating: "08", count: 16))\n\(one) \(start)\n"
        #expect(try read(both) == one)
        #expect(try read(both, beside: [UInt8](repeating: 8, count: 16)) == other)
        #expect(try read("\(other) -\n\(one) \(start)", beside: []) == other)
        #expect(try read("\(one) 0707\n", beside: [7, 7]) == one)
        #expect(try read(both, beside: [9]).hasPrefix("that of a file that starts with 0808"))
        #expect(try read("\(one) \(start)\n", beside: [9]).hasSuffix(start), "an IV of another file")
        #expect(try read("\(one) 07\n\(other) 07\n", beside: [7]).hasSuffix("07, 07"), "either could be")
        #expect(try read("\(one) 07\n\(one) 07\n", beside: [7]) == one)
        for text in [
            "", "\n", "00", one + "0", one + one, "zz", "\(one)\n\(one)", "\(one) \(start) x", "\(start) \(one)\nzz",
        ] {
            #expect(try read(text) == "\(text.utf8.count) bytes", "\(text)")
        }
    }

    @Test("an IV has one of the lengths of its format")
    func lengths() throws {
        let text = MemorySource(Array("000102030405060708090a0b\n".utf8))
        func read(_ byteCounts: [Int]?) throws(DecryptionError) -> [UInt8] {
            try IVFile.iv(in: text, named: "film.iv", byteCounts: byteCounts) { () throws(DecryptionError) in
                MemorySource(Self.film)
            }
        }
        #expect(try read([8, 12]) == Array(0..<12) && read(nil) == Array(0..<12))
        let error = #expect(throws: DecryptionError.self) { try read([8, 16]) }
        #expect(error?.description.contains("expected 16 or 32 hexadecimal digits") == true)
    }

    @Test("it stands beside a path, and in a URL before the query")
    func places() {
        #expect(IVFile.path(of: "a/film.enc") == "a/film.enc.iv")
        #expect(IVFile.url(of: "https://a.example/film.enc?t=1.2#x") == "https://a.example/film.enc.iv?t=1.2#x")
        #expect(IVFile.url(of: "https://a.example/film") == "https://a.example/film.iv")
    }

    /// A folder with a film and its IV file, and the steps by which both are replaced.
    private func replaced(after stepCount: Int) throws -> (bytes: [UInt8], iv: String) {
        let folder = try TemporaryFolder()
        try folder.file("film", Self.film)
        try folder.file("film.iv", Self.one + "\n")
        let sink = try FileSink(path: FilePath(folder.path("film")))
        try [UInt8](repeating: 9, count: 48).withUnsafeBytes { try sink.write($0, at: 0) }
        let iv = [UInt8](repeating: 0xAB, count: 16)
        let steps = try IVFile.prepare(sink, at: FilePath(folder.path("film")), iv: iv)
        for step in steps.prefix(stepCount) { try step.rename() }
        let bytes = try #require(folder.bytes("film"))
        let text = String(decoding: try #require(folder.bytes("film.iv")), as: UTF8.self)
        return (bytes, try read(text, beside: bytes))
    }

    @Test("wherever a replacement ends, the file that is there is read with its own IV", arguments: 0...3)
    func killed(after stepCount: Int) throws {
        let (bytes, iv) = try replaced(after: stepCount)
        if bytes == Self.film {
            #expect(iv == Self.one && stepCount < 2)
        } else {
            #expect(iv == String(repeating: "ab", count: 16) && stepCount >= 2)
        }
    }

    @Test("a first file has its IV, and nothing else is left")
    func first() throws {
        let folder = try TemporaryFolder()
        let sink = try FileSink(path: FilePath(folder.path("film")))
        let iv = [UInt8](repeating: 0xAB, count: 16)
        try IVFile.commit(sink, at: FilePath(folder.path("film")), iv: iv)
        #expect(folder.names == ["film", "film.iv"])
        #expect(folder.bytes("film.iv") == Array((String(repeating: "ab", count: 16) + " -\n").utf8))
    }

    @Test("only an IV file is replaced by one", arguments: [("", false), ("a key", false), (one, true), (start, true)])
    func place(text: String, isFree: Bool) throws {
        let folder = try TemporaryFolder()
        let film = FilePath(folder.path("film"))
        try IVFile.requirePlace(beside: film, byteCounts: [16])
        try folder.file("film.iv", text)
        if isFree {
            try IVFile.requirePlace(beside: film, byteCounts: [16])
        } else {
            #expect(throws: DecryptionError.self) { try IVFile.requirePlace(beside: film, byteCounts: [16]) }
        }
    }
}
