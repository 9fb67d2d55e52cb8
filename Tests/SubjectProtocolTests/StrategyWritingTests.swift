import RandomAccess
import SubjectProtocol
import Support
import Testing

@Suite("strategies as people write them")
struct StrategyWritingTests {
    private static let iv = Block(bigEndianValue: 42)
    private static let ivText = String(repeating: "0", count: 30) + "2a"

    @Test(
        "a text makes a strategy, and the strategy the shortest text",
        arguments: [
            ("ctr", "ctr"), ("cbc-continuous:padding=none", "cbc-continuous:padding=none"),
            ("cbc-continuous:padding=pkcs7", "cbc-continuous"),
            ("cbc-chunked:iv-rule=fixed,chunk=16000000", "cbc-chunked:iv-rule=fixed,chunk=16MB"),
            ("cbc-chunked:chunk=16", "cbc-chunked:chunk=16"), ("cbc-chunked:chunk=1040", "cbc-chunked:chunk=1040B"),
            ("cobblestone-128:context=0A0b", "cobblestone-128:context=0a0b"),
            ("cobblestone-256:context=", "cobblestone-256"),
            ("tink-aes-gcm-hkdf:segment=4KiB", "tink-aes-gcm-hkdf"),
            (
                "tink-aes-gcm-hkdf:derived-key=32,segment=1MiB,associated-data=01",
                "tink-aes-gcm-hkdf:associated-data=01,segment=1MiB,derived-key=32"
            ),
        ])
    func texts(text: String, shortest: String) throws {
        let strategy = try Strategy(text: text, iv: Self.iv.bytes)
        #expect(strategy.text == shortest)
        #expect(try Strategy(text: "\(strategy)") == strategy)
        #expect(try Strategy(text: strategy.text, iv: Self.iv.bytes) == strategy)
        #expect("\(strategy)".contains("iv=\(Self.ivText)") == strategy.format.hasIV)
    }

    @Test(
        "what no strategy is written as is refused with what was expected",
        arguments: [
            ("ctx", "expected \"ctr\"?"), ("", "expected one of age"), ("ctr:", "expected one of iv"),
            ("ctr:chunk=16", "\"chunk\" of ctr: expected one of iv"),
            ("ctr:skip=5,skip=5", "\"skip\", given twice"), ("ctr:trim=x", "expected a size"),
            ("ctr:iv=file,iv=file", "\"iv\", given twice"), ("cobblestone-128:iv=file", "\"iv\" of cobblestone-128"),
            ("ctr:iv=00", "expected hexadecimal digits for 16"),
            ("ctr", "\"iv\" of ctr, which is missing: expected hexadecimal digits"),
            ("cbc-chunked:iv=\(ivText)", "\"chunk\" of cbc-chunked, which is missing: expected a size"),
            ("cbc-chunked:chunk=16,chunk=32", "\"chunk\", given twice"), ("cbc-chunked:chunk", "expected a size"),
            ("cbc-chunked:chunk=17", "\"17\": expected a size such as 64KiB, a positive multiple of 16"),
            ("cbc-chunked:chunk=0", "expected a size"), ("cbc-chunked:chunk=9EiB", "expected a size"),
            ("cbc-chunked:chunk=16,", "expected one of iv, padding, iv-rule, chunk"),
            ("cbc-chunked:chunkByteCount=16", "expected one of iv, padding, iv-rule, chunk"),
            ("cbc-chunked:iv-rule=sequential", "expected fixed or sequence"),
            ("cobblestone-128:context=0", "an even number"), ("cobblestone-128:context=0g", "an even number"),
            ("tink-aes-gcm-hkdf:segment=40", "a segment with space"),
            ("tink-aes-gcm-hkdf:derived-key=24", "multiple of 16 from 16 to 32"),
        ])
    func refusals(text: String, expected: String) {
        let error = #expect(throws: DecryptionError.self, "\(text)") { try Strategy(text: text) }
        #expect(error?.description.contains(expected) == true, "\(text): \(error?.description ?? "")")
    }

    @Test(
        "bytes around an object, and an IV in front, are written with every format",
        arguments: [
            "ctr:skip=5,trim=16,iv=file", "cobblestone-128:context=00,skip=1000", "cbc-chunked:chunk=16,iv=file",
        ])
    func outer(text: String) throws {
        let strategy = try Strategy(text: text)
        #expect("\(strategy)" == text && strategy.outer.hasIVInFront == text.hasSuffix("iv=file"))
    }

    private static func strategy(_ inputs: String, _ text: String) throws -> Strategy {
        let description = """
            mine:
              inputs: {key: 16, \(inputs)}
              cipher: aes-ctr
              chunk: whole
              key: key
              nonce: zeros(16)
            """
        let format = try #require(try Format.read(Array(description.utf8)).first)
        return try Strategy(format, written: text.dropFirst(format.name.count))
    }

    @Test(
        "inputs that are written alike, words and texts with commas, and what a list does not have are refused",
        arguments: [
            ("partSize: {default: 1}, part_size: {default: 2}", "mine", ""),
            (
                "part: {default: 1}, partByteCount: {default: 2}", "mine",
                "part and partByteCount of mine, both written part"
            ),
            ("word: {oneOf: [\"a,b\", c]}", "mine:word=c", "words without commas"),
            ("number: {oneOf: [1, 2, 29]}", "mine:number=29", ""),
            ("number: {oneOf: [1, 29]}", "mine:number=2", "1 or 29"),
            ("number: {text: false, oneOf: [1, 29]}", "mine:number=2", "1 or 29"),
            ("number: {oneOf: [1, 2, 29]}", "mine:number=3", "1, 2 or 29"),
            ("word: {oneOf: [1, a]}", "mine:word=a", ""),
            ("word: {text: true, oneOf: [1, 2]}", "mine:word=3", "1 or 2"),
            ("label: {text: true}", "mine:label=a,b", "one of label, skip, trim, and texts without commas"),
        ])
    func commas(inputs: String, text: String, expected: String) throws {
        if expected.isEmpty {
            #expect(try Self.strategy(inputs, text).name == "mine")
            return
        }
        let error = #expect(throws: DecryptionError.self) { try Self.strategy(inputs, text) }
        #expect(error?.description.contains(expected) == true, "\(error?.description ?? "")")
    }

    @Test("an IV is given once")
    func oneIV() {
        #expect(throws: DecryptionError.self) {
            try Strategy(text: "ctr:iv=\(Self.ivText)", iv: Self.iv.bytes)
        }
    }

    @Test("a description of the user's has its digest in the text, and goes into a request as a whole")
    func described() throws {
        let text =
            "mine: {inputs: {key: 16, source: {min: 1}}, cipher: aes-gcm, chunk: source, layout: [data, {tag: 16}], "
            + "key: key, nonce: 'be(i, 12)'}"
        let format = try Format.named("mine", in: Array(text.utf8))
        let strategy = try Strategy(format, written: ":source=4096")
        let digest = Hexadecimal.encode(SHAFunction.sha256.hash(Array(text.utf8)).prefix(8))
        #expect(strategy.text == "mine#\(digest):source=4096")
        // A parameter that is called like a member of the request.
        var members = strategy.protocolMembers
        members.merge(["key": .string(String(repeating: "00", count: 16)), "source": ["byteCount": 1]]) { $1 }
        #expect(try OpenParameters(.object(members)).strategy == strategy)
        for description in ["mine: {}", .string("other" + text.dropFirst(4)), 1] as [JSONValue] {
            members["description"] = description
            #expect(throws: DecryptionError.self) { try OpenParameters(.object(members)) }
        }
        #expect(format.isOffered(by: ["ctr", "described"]) && !format.isOffered(by: ["ctr", "mine"]))
        let known = try Format.named("ctr")
        #expect(known.reference == "ctr" && known.isOffered(by: ["ctr"]) && known.isOffered(by: ["described"]))
    }

    @Test("a playlist that is made to be measured is written alike, and what an object is bound to can be left out")
    func measured() throws {
        let segments = try Strategy(text: "hls-aes128:segment=4MiB")
        #expect(segments.chunkByteCount == 4 << 20 && segments.text == "hls-aes128:segment=4MiB")
        #expect(try Strategy(text: "hls-aes128").chunkByteCount == 1 << 20)
        #expect(throws: DecryptionError.self) {
            try Strategy(text: "hls-aes128:segment=1000")
        }
        #expect(try Strategy(text: "cobblestone-128:context=01").unbound.text == "cobblestone-128")
    }

    @Test("a subject that does not start is a missing input, and one that breaks down is no answer")
    func subjectErrors() {
        #expect(SubjectError.notStarted(command: "x", reason: "y").exitStatus == .missingInput)
        for error in [SubjectError.ended, .timeout(seconds: 1), .framing("x"), .interrupted] {
            #expect(error.exitStatus == .noAnswer, "\(error)")
        }
    }
}
