import ByteSources
import Foundation
import Glibc
import RandomAccess
import TestSupport
import Testing

private func bytes(_ key: SecretKey) -> [UInt8] { key.withUnsafeBytes { Array($0) } }

private func hex(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }

@Suite("key files")
struct KeyFileTests {
    static let counts = [16, 24, 32]

    @Test("raw bytes are a key, whatever they are; those of a text only if that is said", arguments: counts)
    func raw(count: Int) throws {
        let folder = try TemporaryFolder()
        let letters = [UInt8](repeating: 0x61, count: count - 1)
        for key in [Samples.bytes(count), .init(repeating: 0, count: count), letters + [0x7F], letters + [0x8A]] {
            #expect(bytes(try KeyFile.read(folder.file("key", key))) == key)
        }
        let base64 = Array("AAECAwQFBgcICQoLDA0ODxAREhMUFRYX".utf8)
        for text in [
            Array(base64[..<count]), letters + [0x0A], .init(repeating: 0x20, count: count), letters + [0x09],
        ] {
            let path = try folder.file("key", text)
            let error = #expect(throws: DecryptionError.self) { try KeyFile.read(path) }
            #expect(error?.description.contains("has \(count) characters of text") == true)
            #expect(bytes(try KeyFile.read(path, .init(encoding: .raw))) == text)
        }
    }

    @Test("hexadecimal digits are a key, in either case and with white space around them", arguments: counts)
    func digits(count: Int) throws {
        let folder = try TemporaryFolder()
        let key = Samples.bytes(count, seed: 7)
        let text = hex(key)
        for written in [text, text + "\n", text.uppercased() + "\r\n", " \t\n" + text + " \n\n"] {
            let path = try folder.file("key", written)
            #expect(bytes(try KeyFile.read(path, .init(byteCounts: [count]))) == key, "\(written.debugDescription)")
        }
    }

    @Test("32 digits alone are two keys: which one is said, or that they are digits follows from the length of a key")
    func ambiguity() throws {
        let folder = try TemporaryFolder()
        let digits = "01234567890123456789012345678901"
        let (raw, short) = (Array(digits.utf8), [0x01, 0x23, 0x45, 0x67, 0x89, 0x01, 0x23, 0x45] as [UInt8])
        let path = try folder.file("key", digits)
        let error = #expect(throws: DecryptionError.self) { try KeyFile.read(path) }
        let message = error?.description ?? ""
        #expect(message.contains("AES-128") && message.contains("AES-256") && !message.contains("0123"), "\(message)")
        #expect(bytes(try KeyFile.read(path, .init(encoding: .raw))) == raw)
        #expect(throws: DecryptionError.self) { try KeyFile.read(path, .init(byteCounts: [32])) }
        for form in [KeyFile.Form(encoding: .hex), .init(byteCounts: [16])] {
            #expect(bytes(try KeyFile.read(path, form)).prefix(8) == short[...])
            #expect(try KeyFile.read(path, form).byteCount == 16)
        }
        // White space is no part of a key of 32 bytes, and 48 and 64 bytes are no key.
        for text in [digits + "\n", digits + "0123456789012345", digits + digits] {
            let key = try KeyFile.read(folder.file("key", text))
            #expect(key.byteCount == text.utf8.count / 2 && bytes(key).prefix(8) == short[...])
            #expect(throws: DecryptionError.self) {
                try KeyFile.read(folder.path("key"), .init(encoding: .raw))
            }
        }
        let other = #expect(throws: DecryptionError.self) {
            try KeyFile.read(folder.file("key", Samples.bytes(16)), .init(encoding: .hex))
        }
        #expect(other?.description.hasSuffix("has 16 bytes: expected 32, 48 or 64 hexadecimal digits") == true)
    }

    @Test("a format's lengths are those of its keys, and the error names them")
    func otherLengths() throws {
        let folder = try TemporaryFolder()
        let two = KeyFile.Form(byteCounts: [32, 64])
        let key = Samples.bytes(64)
        #expect(bytes(try KeyFile.read(folder.file("key", key), two)) == key)
        #expect(bytes(try KeyFile.read(folder.file("key", hex(key)), two)) == key)
        #expect(throws: DecryptionError.self) { try KeyFile.read(folder.path("key")) }
        // 64 digits are a key of 64 characters, too; with a line feed, they are not.
        let short = hex(Array(key.prefix(32)))
        #expect(throws: DecryptionError.self) { try KeyFile.read(folder.file("key", short), two) }
        #expect(
            bytes(try KeyFile.read(folder.path("key"), .init(encoding: .raw, byteCounts: [32, 64])))
                == Array(short.utf8))
        #expect(bytes(try KeyFile.read(folder.file("key", short + "\n"), two)) == Array(key.prefix(32)))
        let error = #expect(throws: DecryptionError.self) {
            try KeyFile.read(folder.file("key", Array(key.prefix(16))), two)
        }
        #expect(
            error?.description.hasSuffix("expected 32 or 64 raw bytes, or 64 or 128 hexadecimal digits") == true,
            "\(error?.description ?? "")")
    }

    @Test("a text with IDs has several keys, and errors name its lines and show nothing of them")
    func keyIDs() throws {
        let folder = try TemporaryFolder()
        let (first, second) = (Samples.bytes(16), Samples.bytes(16, seed: 7))
        let ids = ["000102030405060708090a0b0c0d0e0f", "F0010203-0405-0607-0809-0a0b0c0d0e0f"]
        let form = KeyFile.Form(byteCounts: [16])
        let text = "\n\(ids[0]):\(hex(first))\r\n  \(ids[1]) : \(hex(second).uppercased())"
        guard case .byID(let keys) = try KeyFile.readKeys(folder.file("keys", text), form) else {
            Issue.record("no keys with IDs")
            return
        }
        let numbers = [0x00, 0xF0].map { Block(bigEndianValue: $0 << 120 | 0x0102_0304_0506_0708_090A_0B0C_0D0E_0F) }
        #expect(keys.count == 2 && numbers.map { keys[$0].map(bytes) } == [first, second])
        let swapped = hex(first) + ":" + ids[1]
        for (text, line, words) in [
            (swapped + "\n" + ids[0], 1, "KID:KEY"), ("\n" + ids[0] + ":", 2, "KID:KEY"),
            (ids[0] + ":" + hex(first) + "00", 1, "KID:KEY"), (text + "\n:" + hex(first), 4, "KID:KEY"),
            (ids[0] + ":" + hex(first) + ":" + hex(first), 1, "KID:KEY"),
            (text + "\n\(ids[0]):\(hex(second))", 4, "another ID"),
            ((0...256).map { String(format: "%032x:", $0) + hex(first) + "\n" }.joined(), 257, "at most 256"),
            (ids[0] + ":" + hex(first) + String(repeating: "\n", count: 33_000), 32_705, "at most 32768 bytes"),
            (text + String(repeating: " ", count: 33_000), 3, "at most 32768 bytes"),
        ] {
            let error = #expect(throws: DecryptionError.self) {
                try KeyFile.readKeys(folder.file("keys", text), form)
            }
            let message = error.map { "\($0)" } ?? ""
            #expect(message.contains("keys, line \(line): expected ") && message.contains(words), "\(message)")
            #expect(!message.contains(hex(first)) && !message.contains(hex(second)) && !message.contains(ids[1]))
        }
        // Other text with a colon is no key, and is not taken for several.
        let usual = "bytes: expected 16 raw bytes, or 32 hexadecimal digits"
        for (text, counts, expected) in [
            ("name: " + hex(first), [16], usual + ", or lines KID:KEY"),
            (":" + hex(first), [16], usual + ", or lines KID:KEY"),
            (hex(first).dropLast() + ":" + hex(second), [16], usual + ", or lines KID:KEY"),
            ("0x\(ids[0]):\(hex(first))", [16], usual + ", or lines KID:KEY"),
            ("0x\(hex(first))", [16], usual), ("\u{E9}: \(hex(first))", [16], usual),
            // No film has such keys.
            ("0x\(ids[0]):\(hex(first))", [16, 24], "16 or 24 raw bytes, or 32 or 48 hexadecimal digits"),
        ] {
            let error = #expect(throws: DecryptionError.self) {
                try KeyFile.readKeys(folder.file("key", text), .init(byteCounts: counts))
            }
            let message = error.map { "\($0)" } ?? ""
            #expect(message.hasSuffix(expected) && !message.contains(hex(first)), "\(message)")
        }
        let alone = #expect(throws: DecryptionError.self) { try KeyFile.read(folder.file("key", ":" + text), form) }
        #expect("\(alone.map { "\($0)" } ?? "")".hasSuffix(usual))
        // A key without an ID is read as ever, and a raw one may have the byte of a colon.
        let colon = [0x3A] + second.dropFirst(2) + [0x80]
        for (written, key) in [(colon, colon), (Array((hex(first) + "\n").utf8), first)] {
            guard case .one(let read) = try KeyFile.readKeys(folder.file("key", written), form) else {
                Issue.record("keys with IDs")
                return
            }
            #expect(bytes(read) == key)
        }
        #expect(throws: DecryptionError.self) {
            try KeyFile.readKeys(folder.file("keys", text), .init(encoding: .raw, byteCounts: [16]))
        }
    }

    @Test("a key of any length is raw bytes, or digits with a line feed; of other text, its encoding has to be said")
    func anyLength() throws {
        let folder = try TemporaryFolder()
        let any = KeyFile.Form(byteCounts: nil)
        for count in [1, 5, 17, 33, 1023] {
            let key = Samples.bytes(count - 1) + [0x80]
            #expect(bytes(try KeyFile.read(folder.file("key", key), any)) == key)
        }
        #expect(bytes(try KeyFile.read(folder.file("key", "0a0b0c\n"), any)) == [10, 11, 12])
        for text in ["0a0b0c", "a passphrase\n", "0a0b0"] {
            let path = try folder.file("key", text)
            #expect(throws: DecryptionError.self, "\(text)") { try KeyFile.read(path, any) }
            #expect(bytes(try KeyFile.read(path, .init(encoding: .raw, byteCounts: nil))) == Array(text.utf8))
        }
        #expect(
            bytes(try KeyFile.read(folder.file("key", "0a0b0c"), .init(encoding: .hex, byteCounts: nil))) == [
                10, 11, 12,
            ])
        for content in [[], Samples.bytes(1024)] {
            let error = #expect(throws: DecryptionError.self) { try KeyFile.read(folder.file("key", content), any) }
            #expect(error?.description.contains("expected 1 to 1023 raw bytes, or an even number") == true)
        }
    }

    @Test("a key that comes in pieces through a pipe is whole")
    func pipe() throws {
        let folder = try TemporaryFolder()
        #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = [
            "-c", "exec >\"$0\"; printf 0001020304050607; sleep 0.1; printf '08090A0B0C0D0E0F\\n'", folder.path("pipe"),
        ]
        try process.run()
        #expect(bytes(try KeyFile.read(folder.path("pipe"))) == Array(0...15))
        process.waitUntilExit()
    }

    @Test(
        "any other length is an error that shows nothing of the file",
        arguments: [0, 1, 15, 17, 23, 25, 31, 33, 47, 48, 49, 63, 64, 65, 1023, 1024, 1025, 4096])
    func wrongLengths(count: Int) throws {
        let folder = try TemporaryFolder()
        let secret = [UInt8]("SeCrEt".utf8)
        let content = (0..<count).map { secret[$0 % secret.count] }
        let path = try folder.file("key", content)
        let error = #expect(throws: DecryptionError.self) { try KeyFile.read(path) }
        let message = error?.description ?? ""
        #expect(message.contains(path) && message.contains("expected"))
        #expect(!message.contains("SeCr") && !message.contains(hex(Array(content.prefix(4)) + [0x7F])), "\(message)")
    }

    @Test(
        "digits that are too few, too many, odd or with something between them are no key",
        arguments: [
            String(repeating: "0", count: 30), String(repeating: "a", count: 33),
            "0x" + String(repeating: "0", count: 32),
        ]
            + ["00:01:02:03:04:05:06:07:08:09:0a:0b:0c:0d:0e:0f", "0001020304050607 08090a0b0c0d0e0f"])
    func wrongDigits(text: String) throws {
        let folder = try TemporaryFolder()
        let error = #expect(throws: DecryptionError.self) { try KeyFile.read(folder.file("key", text)) }
        #expect(error?.description.contains(text) == false)
    }

    @Test("a file that is missing or a directory is named")
    func unreadable() throws {
        let folder = try TemporaryFolder()
        for path in [folder.path("missing"), folder.path, folder.path("missing/key")] {
            let error = #expect(throws: DecryptionError.self) { try KeyFile.read(path) }
            #expect(error?.protocolName == "io" && error?.description.contains(path) == true)
        }
    }
}
