import Support
import TestSupport
import Testing

@Suite("verify constant-time", .enabled(if: Programs.installed("valgrind") != nil))
struct ConstantTimeTests {
    @Test("nothing in the bitsliced cipher and the readers depends on secrets; the tables of the control do")
    func bitsliced() throws {
        let run = try Chunkwise.run(["verify", "constant-time", "--backend", "swift-bitsliced", "--format", "json"])
        #expect(run.status == 0, "\(run.errorLines)")
        let operations = try #require(JSONValue.parse(run.output)?["operations"]?.array)
        func counts(_ subject: String) -> [UInt64] {
            operations.filter { $0["subject"]?.string == subject }.compactMap { $0["count"]?.integer }
        }
        for name in ["chacha20", "xchacha20", "xsalsa20"].map({ "\($0)-poly1305 encrypt" })
            + ["hmac sha1", "hmac sha256", "hmac sha384", "hmac sha512"]
        {
            #expect(operations.contains { $0["operation"]?.string == name }, "\(name)")
        }
        // Three key lengths, encryption and decryption of CBC and CTR, and encryption of GCM.
        #expect(counts("swift-bitsliced").count >= 12 && counts("swift-bitsliced").allSatisfy { $0 == 0 })
        #expect(counts("readers") == [0, 0])
        #expect(counts("swift-reference").contains { $0 > 0 })
    }

    @Test("the control by itself is a no")
    func control() throws {
        let run = try Chunkwise.run(["verify", "constant-time", "--backend", "swift-reference"])
        #expect(run.status == 1, "\(run.status) \(run.errorLines)")
        #expect(run.text.contains("swift-reference") && run.text.contains("\n\nCounted are"), "\(run.text)")
    }
}
