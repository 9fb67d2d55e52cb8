import ByteSources
import RandomAccess
import Testing
import Vectors

@Suite("a choice of vectors")
struct VectorChoiceTests {
    /// Groups without reads; `other` is open at the same time as `read/twice`.
    private static func groups() throws -> [VectorGroup] {
        func group(_ id: String, _ strategy: Strategy, _ interleaving: String? = nil) throws -> VectorGroup {
            VectorGroup(
                id: id, flags: [], strategy: strategy, key: try SecretKey([UInt8](repeating: 1, count: 32)),
                ciphertext: MemorySource([]), interleaving: interleaving)
        }
        let iv = try Strategy("ctr", ["iv": .bytes([UInt8](repeating: 0, count: 16))])
        return [
            try group("read/once", iv), try group("read/twice", iv, "together"), try group("reads", iv),
            try group("other", try Strategy("seal-simple", [:]), "together"),
            try group("compact", try Strategy("seal-compact", [:])), try group("age", try Strategy("age", [:])),
            try group("dare", try Strategy("dare", [:])), try group("old", try Strategy("dare-1", [:])),
        ]
    }

    @Test(
        "is made by identifiers, by their beginnings, and by the names of formats and of their descriptions",
        arguments: [
            (["read/once"], ["read/once"]), (["read/once 3+4"], ["read/once"]), (["read/onc"], []), (["re"], []),
            (["read"], ["read/once", "read/twice", "other"]), (["read/"], []), (["other"], ["read/twice", "other"]),
            (["dare"], ["dare"]), (["dare-1"], ["old"]), (["sea"], []),
            (["seal"], ["read/twice", "other", "compact"]), (["seal-compact"], ["compact"]),
            (["ctr"], ["read/once", "read/twice", "reads", "other"]), (["age", "reads"], ["reads", "age"]), ([], []),
        ] as [([String], [String])])
    func having(words: [String], ids: [String]) throws {
        #expect(try Self.groups().having(words).map(\.id) == ids)
    }
}
