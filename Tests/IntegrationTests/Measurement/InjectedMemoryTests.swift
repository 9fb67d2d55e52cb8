import Foundation
import Measurement
import Results
import SubjectProtocol
import SystemPackage
import TestSupport
import Testing

/// A subject in Python that takes 64 MiB of one kind when it is asked to read, and keeps them.
private let script = """
    import fcntl, json, mmap, os, socket, struct, sys, termios
    kept = []
    def plant(kind, path, size):
        if kind == "heap":
            kept.append(b"x" * size)
        if kind == "mapping":
            with open(path, "rb") as file: kept.append(mmap.mmap(file.fileno(), size, prot=mmap.PROT_READ))
            for offset in range(0, size, 4096): kept[-1][offset]
        if kind == "page cache":
            with open(path, "rb", buffering=0) as file:
                for _ in range(0, size, len(buffer)): file.readinto(buffer)
        taken = 0
        while kind == "sockets" and taken < size:
            pair = socket.socketpair()
            kept.append(pair)
            # SO_SNDBUFFORCE, which takes privileges: without it some hundred sockets take 1.5 MiB beside their buffers.
            try: pair[0].setsockopt(socket.SOL_SOCKET, 32, 8 << 20)
            except PermissionError: pass
            pair[0].setblocking(False)
            try:
                while taken + queued(pair[0]) < size: pair[0].send(buffer)
            except BlockingIOError: pass
            taken += queued(pair[0])
    def queued(end):
        # What the kernel counts for the buffers that were sent and not read.
        return struct.unpack("i", fcntl.ioctl(end, termios.TIOCOUTQ, bytes(4)))[0]
    # A cgroup is charged ahead, by up to 256 KiB for each CPU that its processes run on.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    buffer = bytearray(32 << 10)
    # Code is in memory from its first use on: that is no part of what is injected.
    for kind in "heap", "mapping", "sockets", "page cache": plant(kind, __file__, 1)
    for line in sys.stdin:
        op = json.loads(line)["op"]
        if op == "read": plant(sys.argv[1], sys.argv[2], 64 << 20)
        print(json.dumps({"ok": True, "protocol": 1}), flush=True)
        if op == "bye": break
    """

/// The cgroups that can be made: in the folder that `CHUNKWISE_TEST_CGROUP` names, or wherever this user may.
private let cgroups = try? MemoryCgroups(
    named: ProcessInfo.processInfo.environment["CHUNKWISE_TEST_CGROUP"].map { FilePath($0) })

/// 64 MiB that a process takes, and the columns in which they stand. What no column is for, stands in none.
@Suite("memory that is injected", .enabled(if: Programs.installed("python3") != nil), .serialized)
struct InjectedMemoryTests {
    /// A path on a disk: a file in memory is in the page cache anyway, and belongs to the process that put it there.
    private let path = "/var/tmp/chunkwise-injected-\(UUID().uuidString)"
    private let folder: TemporaryFolder

    init() throws {
        Programs.ignoreBrokenPipes()
        folder = try TemporaryFolder()
        try folder.file("subject.py", Array(script.utf8))
    }

    /// A file of which nothing is in the page cache.
    private func makeFile() throws {
        try Data(repeating: 7, count: 64 << 20).write(to: URL(filePath: path))
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        #expect(fsync(descriptor) == 0 && posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) == 0)
    }

    private func watch(_ kind: String, in cgroup: MemoryCgroup? = nil) throws -> MemoryWatch {
        try makeFile()
        defer { unlink(path) }
        let command = [try #require(Programs.installed("python3")), folder.path("subject.py"), kind, path]
        let process = try SubjectProcess(command: cgroup?.command(command) ?? command, timeout: .seconds(60))
        _ = try process.request(["op": "hello", "protocol": 1])
        let memory = try MemoryWatch.run(process.processID, cgroup: cgroup) {
            _ = try process.request(["op": "read", "id": 1, "offset": 0, "count": 16])
        }.memory
        try process.end()
        return try #require(memory, "the kernel does not tell")
    }

    /// Expects a figure to be 64 MiB more than without the extra memory, or the same, within 256 KiB.
    private func expect(_ name: String, _ figure: UInt64?, _ without: UInt64?, isIn: Bool) throws {
        let rise = Int(try #require(figure)) - Int(try #require(without))
        #expect(abs(rise - (isIn ? 64 << 20 : 0)) <= 256 << 10, "\(name): \(rise) bytes")
    }

    @Test(
        "growth and the process's peak hold what is injected in heap and mapping, and nothing of sockets and page cache",
        arguments: ["heap", "mapping", "sockets", "page cache"])
    func process(kind: String) throws {
        let (found, without) = (try watch(kind), try watch("nothing"))
        let isResident = ["heap", "mapping"].contains(kind)
        try expect("growth", found.resident.byteCount, without.resident.byteCount, isIn: isResident)
        try expect("process", found.processPeakByteCount, without.processPeakByteCount, isIn: isResident)
        try expect("anonymous", found.anonymous.byteCount, without.anonymous.byteCount, isIn: kind == "heap")
        try expect("file", found.file.byteCount, without.file.byteCount, isIn: kind == "mapping")
    }

    @Test(
        "a cgroup's peak holds all of them, and says of which kind they are",
        .enabled(if: cgroups != nil, "no cgroup can be made: CHUNKWISE_TEST_CGROUP names a folder for them"),
        arguments: ["heap", "mapping", "sockets", "page cache"])
    func cgroup(kind: String) throws {
        let cgroups = try #require(cgroups)
        func watched(_ kind: String) throws -> [MemoryRecord.Memory.Cgroup] {
            try (0..<5).map { _ in try #require(try watch(kind, in: MemoryCgroup(in: cgroups)).cgroup) }
        }
        let (found, without) = (try watched(kind), try watched("nothing"))
        /// As a report does, the process in the middle.
        func expect(_ name: String, isIn: Bool, _ figure: (MemoryRecord.Memory.Cgroup) -> UInt64?) throws {
            func middle(_ all: [MemoryRecord.Memory.Cgroup]) throws -> UInt64 {
                try all.map { try #require(figure($0)) }.sorted()[all.count / 2]
            }
            try self.expect(name, middle(found), middle(without), isIn: isIn)
        }
        try expect("peak", isIn: true) { $0.peakByteCount }
        try expect("anonymous", isIn: kind == "heap") { $0.anonymousByteCount }
        try expect("page cache", isIn: ["mapping", "page cache"].contains(kind)) { $0.pageCacheByteCount }
        try expect("kernel", isIn: kind == "sockets") { $0.kernelByteCount }
    }
}
