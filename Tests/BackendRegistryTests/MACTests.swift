import BackendRegistry
import RandomAccess
import Testing

@Suite("message authentication codes of all backends")
struct MACTests {
    /// Source: RFC 4231, sections 4.2 and 4.7; RFC 2202, section 3, test cases 1 and 6.
    private static let published: [(key: [UInt8], message: String, codes: [HashFunction: String])] = [
        (
            [UInt8](repeating: 0x0B, count: 20), "Hi There",
            [
                .sha1: "b617318655057264e28bc0b6fb378c8ef146be00",
                .sha256: "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
                .sha384: "afd03944d84895626b0825f4ab46907f15f9dadbe4101ec682aa034c7cebc59c"
                    + "faea9ea9076ede7f4af152e8b2fa9cb6",
                .sha512: "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cde"
                    + "daa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854",
            ]
        ),
        (
            [UInt8](repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
            [
                .sha256: "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
                .sha384: "4ece084485813e9088d2c63a041bc5b44f9ef1012a2b588f3cd11f05033ac4c6"
                    + "0c2ef6ab4030fe8296248df163f44952",
                .sha512: "80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f352"
                    + "6b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598",
            ]
        ),
        (
            [UInt8](repeating: 0xAA, count: 80), "Test Using Larger Than Block-Size Key - Hash Key First",
            [.sha1: "aa4ae5e15272d00e95705637ce8a3b55ed402112"]
        ),
    ]

    private static func code(
        _ context: any MACContext, _ function: HashFunction, _ pieces: [[UInt8]]
    ) throws -> [UInt8] {
        var code = [UInt8](repeating: 0xEE, count: function.digestByteCount)
        try pieces[0].withUnsafeBytes { before in
            try pieces[1].withUnsafeBytes { data in
                try pieces[2].withUnsafeBytes { behind in
                    try code.withUnsafeMutableBytes { try context.makeCode(of: before, data, behind, into: $0) }
                }
            }
        }
        return code
    }

    @Test("published values, wherever the message is cut, and one after the other", arguments: BackendRegistry.names)
    func published(name: String) throws {
        guard let backend = try? BackendRegistry.backend(named: name) else { return }
        for (key, message, codes) in Self.published {
            let bytes = Array(message.utf8)
            for function in backend.hmacFunctions {
                guard let published = codes[function] else { continue }
                let context = try backend.makeMAC(function, key: SecretKey(material: key))
                for (first, second) in [(0, 0), (0, bytes.count), (3, 5), (bytes.count, bytes.count)] {
                    let pieces = [bytes[..<first], bytes[first..<second], bytes[second...]].map(Array.init)
                    let code = try Self.code(context, function, pieces)
                    #expect(code.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() == published)
                }
            }
        }
    }

    @Test(
        "messages of all lengths around a block have the same codes in each backend", arguments: HashFunction.allCases)
    func agreement(function: HashFunction) throws {
        let key = try SecretKey(material: [UInt8](1...64))
        let right = HMACContext(function, key: key)
        let others = BackendRegistry.entries.compactMap { try? $0.make() }
            .filter { $0.hmacFunctions.contains(function) }
        #expect(others.count >= 2)
        let contexts = try others.map { ($0.name, try $0.makeMAC(function, key: key)) }
        for length in Array(0...20) + Array(100...300) + [4095, 70_000] {
            let data = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            let pieces = [[UInt8](data.prefix(length % 23)), data, [UInt8](data.suffix(length % 5))]
            let expected = try Self.code(right, function, pieces)
            for (name, context) in contexts {
                #expect(try Self.code(context, function, pieces) == expected, "\(name), \(length)")
            }
        }
    }

    @Test("a backend refuses a hash function that it does not list")
    func refused() throws {
        for backend in BackendRegistry.entries.compactMap({ try? $0.make() }) {
            for function in HashFunction.allCases where !backend.hmacFunctions.contains(function) {
                #expect(throws: DecryptionError.self) {
                    _ = try backend.makeMAC(function, key: SecretKey([UInt8](1...16)))
                }
            }
        }
    }
}
