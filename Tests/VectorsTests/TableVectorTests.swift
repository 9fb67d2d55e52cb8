import BackendRegistry
import ByteSources
import RandomAccess
import Testing

@testable import Vectors

@Suite("vectors of objects with a table in front of the data")
struct TableVectorTests {
    private static func format(
        dataStart: String = aligned, rest: String = "emptyLast: onlyChunk"
    ) throws -> Format {
        let text = """
            mine:
              inputs: {key: 32, place: {oneOf: [apart, beside]}, version: {default: 2, oneOf: [1, 2, 29]}}
              header: [{salt: 8}]
              cipher: aes-gcm
              chunk: 32
              layout: [{iv: 12}, data, {tag: 16}]
              dataStart: "place == 'beside' ? 0 : \(dataStart)"
              key: key
              nonce: iv
              aad: u64be(i) ++ u8(last) ++ u8(version) ++ salt
              \(rest)
            """
        return try #require(try Format.read(Array(text.utf8)).first)
    }

    private static let aligned = "(headerEnd + count * 28 + 63) / 64 * 64"

    @Test("each word and each number of a list has vectors, and each word is tampered with")
    func strategies() throws {
        let vectors = try DescribedVectors([try Self.format()])
        let values = vectors.strategies.map { [$0.strategy["place"], $0.strategy["version"]] }
        let expected: [(String, Int128)] = [("apart", 2), ("beside", 2), ("apart", 1), ("apart", 29)]
        #expect(values == expected.map { [.text($0), .integer($1)] })
        #expect(vectors.kinds.map { $0.strategy["place"]?.bytes?.text } == ["apart", "beside"])
        let groups = try vectors.groups().map(\.id)
        for name in [
            "flip: first chunk, tag, first byte", "flip: last chunk, iv, last byte",
            "flip: \(TamperTarget.gapName), first byte", "swap: entries 0 and 1", "swap: chunks 0 and 1",
            "swap: chunks 0 and 1 with their entries", "repeat: entry 1 is the one before it",
            "truncate: without the last chunk and its entry", "splice: entry 0 of another object",
        ] {
            #expect(groups.contains { $0.hasPrefix("formats/tampered/") && $0.hasSuffix("/" + name) }, "\(name)")
        }
    }

    @Test("our reader answers each of them as expected", arguments: [aligned, "headerEnd + count * 28 + 5"])
    func read(dataStart: String) throws {
        let backend = try BackendRegistry.backend(named: "openssl")
        var (refused, damaged, read) = (0, 0, 0)
        for group in try DescribedVectors([try Self.format(dataStart: dataStart)]).groups() {
            let cursor: any RandomAccessDecryptor
            do throws(DecryptionError) {
                cursor = try EncryptedObject(
                    source: group.ciphertext, strategy: group.strategy, backend: backend, key: group.key
                ).makeCursor()
            } catch {
                refused += 1
                #expect(group.opening == .fails(ErrorName(error)), "\(group.id): \(error)")
                continue
            }
            #expect(group.opening == .opens(plaintextByteCount: cursor.plaintextByteCount), "\(group.id)")
            for range in group.reads {
                do throws(DecryptionError) {
                    let bytes = try cursor.read(at: range.offset, count: range.count)
                    let end = range.offset + UInt64(bytes.count)
                    #expect(range.expected == .plaintext(byteCount: bytes.count), "\(group.id(of: range))")
                    #expect(try bytes == group.plaintext.bytes(range.offset..<end), "\(group.id(of: range))")
                    read += 1
                } catch {
                    damaged += 1
                    #expect(range.expected == .error(ErrorName(error)), "\(group.id(of: range)): \(error)")
                }
            }
        }
        #expect(refused > 30 && damaged > 50 && read > 500, "\(refused), \(damaged), \(read)")
    }

    @Test("zeros stand between the table and the data, and a part of an object is that part of the whole")
    func stored() throws {
        let strategy = Strategy(try Self.format(), ["place": .text("apart")])
        let object = try GeneratedObject(
            strategy: strategy, key: VectorSet.material(32, number: 1), plaintextByteCount: 100, seed: 5)
        let bytes = try object.source.bytes()
        // The header, four entries, and zeros up to the next multiple of 64.
        #expect(bytes.count == 128 + 100)
        #expect(bytes[8 + 4 * 28..<128].allSatisfy { $0 == 0 })
        for start in bytes.indices {
            for end in start...bytes.count {
                #expect(try object.source.bytes(UInt64(start)..<UInt64(end)) == Array(bytes[start..<end]))
            }
        }
    }

    @Test(
        "what no table can describe has no vectors with one",
        arguments: ["fullLast: never", "trailer: 4", "firstChunk: 16"])
    func refused(rest: String) throws {
        let strategies = DescribedVectors.strategies(of: try Self.format(rest: rest)).map(\.strategy)
        #expect(!strategies.isEmpty && strategies.allSatisfy(\.hasWholeChunks))
    }
}
