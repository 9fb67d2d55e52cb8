import RandomAccess
import Testing

@Suite("documents that list pieces")
struct PieceDocumentTests {
    private static func document(_ text: String) throws -> PieceDocument {
        try PieceDocument(Array(text.utf8)) { (text, iv) throws(DecryptionError) in
            try Strategy(text, iv.map { ["iv": .bytes($0)] } ?? [:])
        }
    }

    @Test("files, ranges, strategies, IVs and keys of their own")
    func members() throws {
        let document = try Self.document(
            """
            # An upload of four parts.
            pieces:
              - {file: part1.enc, strategy: "ctr", iv: 00112233445566778899aabbccddeeff}
              - {file: "sub folder/part 2", range: 5-1048591, strategy: tink-aes-gcm-hkdf, key: key2}
              - file: part3
                range: 7-
                strategy: none
              - {file: part1.enc, range: 0-0, strategy: cobblestone-128}
              - {file: a.mp4, strategy: film}
              - {file: b.bin, strategy: film, samples: b.json, key: key2}
              - {file: 7.m4s, strategy: film, init: init.mp4}
            """)
        #expect(
            document.pieces.map(\.file) == [
                "part1.enc", "sub folder/part 2", "part3", "part1.enc", "a.mp4", "b.bin", "7.m4s",
            ])
        #expect(
            document.pieces.map(\.strategy?.name) == [
                "ctr", "tink-aes-gcm-hkdf", nil, "cobblestone-128", nil, nil, nil,
            ])
        #expect(document.pieces.map(\.content.name).suffix(3) == ["film", "film", "film"])
        #expect(document.pieces.map(\.indexFile) == [nil, nil, nil, nil, nil, "b.json", "init.mp4"])
        #expect(document.pieces.map(\.range.first) == [0, 5, 7, 0, 0, 0, 0])
        #expect(document.pieces.map(\.range.last) == [nil, 1_048_591, nil, 0, nil, nil, nil])
        #expect(document.pieces.map(\.keyFile) == [nil, "key2", nil, nil, nil, "key2", nil])
        #expect(document.pieces.map(\.place.line) == [3, 4, 5, 8, 9, 10, 11])
        let iv = (0..<16).map { UInt8($0 * 0x11) }
        #expect(try document.pieces[0].strategy == Strategy("ctr", ["iv": .bytes(iv)]))
    }

    @Test("a range is one of the file's bytes, and its end need not be known")
    func places() throws {
        struct Zeros: ByteSource {
            let byteCount: UInt64
            func read(at offset: UInt64, into buffers: FetchBuffers) -> Int { 0 }
        }
        func range(_ text: String, of byteCount: UInt64) throws -> Range<UInt64> {
            let document = try Self.document("pieces: [{file: a, range: \(text), strategy: none}]")
            return try document.pieces[0].place(in: Zeros(byteCount: byteCount)).range
        }
        #expect(try range("0-9", of: 10) == 0..<10)
        #expect(try range("3-", of: 10) == 3..<10)
        #expect(try range("10-", of: 10) == 10..<10)
        for text in ["0-10", "11-", "18446744073709551615-", "5-18446744073709551614"] {
            #expect { try range(text, of: 10) } throws: {
                ($0 as? DecryptionError)?.protocolName == "truncatedCiphertext"
            }
        }
    }

    @Test(
        "what is wrong is an error with its line and column",
        arguments: [
            ("", "line 1, column 1: "), ("a", "line 1, column 1: \"a\": expected \"pieces\", a list"),
            ("pieces: {}", "line 1, column 9: a mapping: expected a list of pieces"),
            ("pieces: []", "line 1, column 9: 0 pieces: expected 1 to 10000"),
            ("parts: []", "line 1, column 1: unknown member \"parts\""),
            ("pieces:\n- 5", "line 2, column 3: \"5\": expected the members of a piece"),
            ("pieces:\n- {file: a}", "line 2, column 3: no \"strategy\""),
            ("pieces:\n- {strategy: none}", "line 2, column 3: no \"file\""),
            ("pieces:\n- {file: a, strategy: none, File: b}", "line 2, column 29: unknown member \"File\""),
            ("pieces:\n- {file: a, file: b, strategy: none}", "line 2, column 13: \"file\" for the second time"),
            ("pieces:\n- {file: a, strategy: rot13}", "line 2, column 23: unsupported: strategy \"rot13\""),
            ("pieces:\n- {file: a, strategy: ctr, iv: 0011}", "line 2, column 32: \"0011\": expected the 32"),
            ("pieces:\n- {file: a, strategy: none, key: b}", "line 2, column 34: \"b\": expected no \"key\""),
            ("pieces:\n- {file: a, strategy: none, iv: b}", "line 2, column 33: \"b\": expected no \"iv\""),
            ("pieces:\n- {file: a, strategy: none, samples: b}", "line 2, column 38: \"b\": expected no \"samples\""),
            ("pieces:\n- {file: a, strategy: film, iv: b}", "line 2, column 33: \"b\": expected no \"iv\" of film"),
            ("pieces:\n- {file: a, strategy: ctr, samples: b}", "line 2, column 37: \"b\": expected no \"samples\""),
            ("pieces:\n- {file: a, strategy: ctr, init: b}", "line 2, column 34: \"b\": expected no \"init\""),
            (
                "pieces:\n- {file: a, strategy: film, samples: b, init: c}",
                "line 2, column 47: \"c\": expected no \"init\" beside"
            ),
            ("pieces:\n- {file: [a], strategy: none}", "line 2, column 10: a list: expected the name of a file"),
            ("pieces: [*a]", "an alias: expected the value itself"), ("pieces: &a [{}]", "an anchor or a tag"),
            ("pieces: [", "expected YAML"), ("pieces: []\n---\npieces: []", "expected one document"),
        ])
    func faults(text: String, expected: String) {
        #expect { try Self.document(text) } throws: { "\($0)".contains(expected) && $0 is DescriptionError }
    }

    @Test(
        "names that lead elsewhere, or that a terminal would obey, are none",
        arguments: [
            "", "/etc/passwd", "../a", "a/../b", "a/..", "./a", "a//b", "a/", "..", ".", "a\\0b", "a\\x1b[2Jb", "a\\nb",
            "a\\x9bb", "\(String(repeating: "a", count: 4097))",
        ])
    func names(name: String) {
        for member in ["file", "key", "samples", "init"] {
            let other = member == "file" ? "" : "file: a, "
            let text = "pieces: [{\(other)\(member): \"\(name)\", strategy: film}]"
            #expect { try Self.document(text) } throws: {
                "\($0)".contains("expected the name of a file") && $0 is DescriptionError
            }
        }
    }

    @Test(
        "ranges that are none",
        arguments: [
            "", "5", "-5", "5-4", "a-b", "+1-2", "1-+2", "0-18446744073709551615", "1-2-3", "99999999999999999999-",
        ])
    func ranges(range: String) {
        #expect { try Self.document("pieces: [{file: a, range: \"\(range)\", strategy: none}]") } throws: {
            "\($0)".contains("expected A-B")
        }
    }

    @Test("as many pieces as an upload may have, and no more; and no more bytes")
    func limits() throws {
        func text(_ count: Int) -> String {
            "pieces:\n"
                + (0..<count).map { "- {file: part\($0), range: 0-9, strategy: none}\n" }.joined()
        }
        #expect(try Self.document(text(10_000)).pieces.count == 10_000)
        #expect { try Self.document(text(10_001)) } throws: { "\($0)".contains("expected 1 to 10000") }
        let long = "pieces:\n" + String(repeating: "#\n", count: 1_000_000)
        #expect { try Self.document(long) } throws: { "\($0)".contains("expected at most 2000000") }
        let deep = "pieces: " + String(repeating: "[", count: 100)
        #expect { try Self.document(deep) } throws: { "\($0)".contains("16 deep") }
    }
}
