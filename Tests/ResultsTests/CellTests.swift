import Results
import Testing

@Suite("cells")
struct CellTests {
    private static let base = Cell(
        backend: "openssl", strategy: "cbc-chunked", ivRule: "fixed", padding: "pkcs7", chunkByteCount: 1024,
        windowByteCount: 4096, workload: "random:4KiB", readCount: 8, objectByteCount: 65536)

    /// One change a member that tells cells apart.
    private static let changes: [(String, @Sendable (inout Cell) -> Void)] = [
        ("backend", { $0.backend = "libgcrypt" }), ("strategy", { $0.strategy = "ctr" }),
        ("ivRule", { $0.ivRule = "sequence" }), ("padding", { $0.padding = "none" }),
        ("chunkByteCount", { $0.chunkByteCount = 2048 }), ("windowByteCount", { $0.windowByteCount = 1 }),
        ("workload", { $0.workload = "sequential" }), ("readCount", { $0.readCount = 9 }),
        ("access", { $0.access = "chunk-cache" }), ("threads", { $0.threads = 2 }),
        ("keyByteCount", { $0.keyByteCount = 32 }), ("objectByteCount", { $0.objectByteCount = 1 }),
        ("source", { $0.source = "generated" }),
    ]

    @Test("every member but the label changes the identifier", arguments: changes.indices)
    func identifiers(index: Int) {
        let (name, change) = Self.changes[index]
        var cell = Self.base
        change(&cell)
        #expect(cell.id != Self.base.id, "\(name) makes no difference in \(cell.id)")
    }

    @Test("the label changes nothing")
    func label() {
        var cell = Self.base
        cell.label = "as published"
        #expect(cell.id == Self.base.id)
    }
}
