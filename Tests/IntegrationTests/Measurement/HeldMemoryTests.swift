import BackendRegistry
import Foundation
import Measurement
import OpenSSLBackend
import RandomAccess
import Results
import SystemPackage
import TestSupport
import Testing

/// A subject in Python that reads nothing, and holds 64 MiB from one moment on: from opening an object, from making its
/// cursor, from the first read, or from the tenth. The object of a few bytes that is opened before costs nothing.
private let script = """
    import json, sys
    place, kept, sizes = sys.argv[1], [], {}
    def hold(here, id):
        if here == place and sizes[id] > 4096: kept.append(bytearray(b"x") * (64 << 20))
    for line in sys.stdin:
        request = json.loads(line)
        op, id, answer = request["op"], request.get("id"), {"ok": True}
        if op == "hello":
            answer.update(protocol=1, name="fake", version="1", strategies=["ctr"], keyByteCounts=[16],
                          sources=["path"], granularity="block", measures=True)
        if op == "open":
            sizes[id] = __import__("os").stat(request["source"]["path"]).st_size
            answer["plaintextByteCount"] = sizes[id]
            hold("open", id)
        if op == "measure":
            hold("cursor", id)
            for read in range(request["workload"].get("reads", 1)):
                if read == 0: hold("first read", id)
                if read == 9: hold("tenth read", id)
            answer["nanoseconds"] = [1000]
        print(json.dumps(answer), flush=True)
        if op == "bye": break
    """

@Suite("memory that readers hold", .serialized)
struct HeldMemoryTests {
    private let folder: TemporaryFolder
    private let store: ObjectStore

    init() throws {
        Programs.ignoreBrokenPipes()
        folder = try TemporaryFolder()
        store = ObjectStore(folder: FilePath(folder.path), encryption: try OpenSSL())
    }

    private func growth(of cell: Cell) throws -> UInt64 {
        let runner = CellRunner(program: [Programs.chunkwise, "subject"], store: store, seed: 1)
        let memory = try #require(try runner.memory(cell, round: 0)?.memory, "the kernel does not tell")
        return memory.peakByteCount - min(memory.peakByteCount, memory.baselineByteCount)
    }

    @Test(
        "64 MiB count wherever they are taken: opening, cursor, first read, tenth read",
        .enabled(if: Programs.installed("python3") != nil),
        arguments: ["open", "cursor", "first read", "tenth read", "nowhere"])
    func injected(place: String) throws {
        try folder.file("subject.py", script)
        let python = try #require(Programs.installed("python3"))
        var cell = Cell(
            backend: "subject:exec \(python) '\(folder.path("subject.py"))' '\(place)'", strategy: "ctr",
            windowByteCount: 4096, objectByteCount: 1 << 20)
        (cell.workload, cell.readCount) = ("random:4KiB", 16)
        let found = try growth(of: cell)
        let injected: UInt64 = place == "nowhere" ? 0 : 64 << 20
        #expect(found >= injected && found < injected + 2 << 20, "\(found) bytes")
    }

    /// The bytes that a reader must hold to do as a cell says: those that are decrypted in one step, and all of a chunk
    /// where chunks are read whole.
    private static func heldByteCount(_ cell: Cell, isAuthenticated: Bool) -> UInt64 {
        let isWhole = isAuthenticated || cell.access.readsWholeChunks
        let chunk = isWhole ? min(cell.chunkByteCount ?? 0, cell.objectByteCount) : 0
        let window = cell.workload == "sequential" ? min(cell.windowByteCount, cell.objectByteCount) : 0
        return max(chunk, window)
    }

    @Test("of every access, format and chunk size of the default plan, growth is at least what its reader must hold")
    func defaultPlan() throws {
        let text = try String(contentsOfFile: Project.path("Benchmarks/plans/default.yml"), encoding: .utf8)
        let plan = try PlanReader(file: "default.yml", knownBackends: BackendRegistry.names) { _ in nil }.read(text)
        var seen: Set<String> = []
        var largest: UInt64 = 0
        for var cell in plan.cells.map(\.cell) where cell.backend == "openssl" && cell.keyByteCount == 16 {
            // As long as a chunk takes, and the page cache is no part of growth.
            let unit = max(cell.chunkByteCount ?? 0, cell.windowByteCount, 1 << 20)
            cell.objectByteCount = unit + 1 << 20
            (cell.readCount, cell.source, cell.threads) = (cell.readCount.map { min($0, 2) }, "file", 1)
            guard seen.insert(cell.id).inserted else { continue }
            let isAuthenticated = try store.object(for: cell).strategy.isAuthenticated
            let held = Self.heldByteCount(cell, isAuthenticated: isAuthenticated)
            largest = max(largest, held)
            // Growth is told apart by 256 KiB.
            let found = try growth(of: cell)
            #expect(found + 256 << 10 >= held, "\(cell.id): \(found) bytes, expected \(held)")
        }
        #expect(seen.count > 10 && largest == 100 << 20)
    }
}
