import Foundation
import Results
import Testing

@testable import Measurement

@Suite("measured limits")
struct MeasureTests {
    private var quick: LimitOptions {
        var options = LimitOptions(threads: 2, cacheByteCounts: [], machineByteCount: 1 << 30, folder: "/tmp")
        options.cacheByteCount = 1 << 12
        options.memoryByteCount = 1 << 16
        options.windowByteCounts = [1 << 12, 1 << 14, 1 << 24]
        options.sampleNanoseconds = 1
        options.sampleCount = 3
        return options
    }

    @Test("every figure is there, has its samples, and survives JSON")
    func figures() throws {
        let limits = try MachineLimits.measure(quick)
        #expect(limits.oneThread.threads == 1 && limits.allThreads.threads == 2)
        #expect(AESUnit.present.isEmpty ? limits.aesUnit == "none" : AESUnit(rawValue: limits.aesUnit) != nil)
        for half in [limits.oneThread, limits.allThreads] {
            #expect(half.aesDecrypt.map(\.keyByteCount) == (AESUnit.present.isEmpty ? [] : [16, 24, 32]))
            // A window that is longer than the file is left out.
            #expect(half.pageCacheRead.map(\.bufferByteCount) == [1 << 12, 1 << 14])
            #expect(half.memoryRead.map(\.bufferByteCount) == [1 << 12, 1 << 14])
            let rates =
                half.aesDecrypt.map(\.rate)
                + ([half.cacheCopy, half.memoryCopy] + half.memoryRead + half.pageCacheRead).map(\.rate)
            #expect(rates.allSatisfy { $0.bytesPerSecond > 0 && $0.byteCount > 0 && $0.nanoseconds.count == 3 })
        }
        let decoded = try JSONDecoder().decode(MachineLimits.self, from: JSONEncoder().encode(limits))
        #expect(decoded == limits)
    }

    @Test("a folder that takes no file is an error that names it")
    func missingFolder() {
        var options = quick
        options.folder = "/nowhere/at/all"
        do throws(LimitError) {
            _ = try MachineLimits.measure(options)
            Issue.record("measured without a file")
        } catch {
            #expect(error.code == ENOENT && "\(error)".contains("/nowhere/at/all") && "\(error)".contains("expected"))
        }
    }

    @Test("nothing of the file is left in the folder")
    func noTrace() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "chunkwise-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.path(percentEncoded: false)
        let file = try CachedFile(byteCount: 100, folder: path)
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
        let buffer = Buffer(byteCount: 50)
        #expect(file.read(into: buffer.bytes, at: 50) && !file.read(into: buffer.bytes, at: 51))
    }

    @Test("a rate is the bytes of a sample over the median of their times")
    func rates() {
        #expect(Rate(byteCount: 100, nanoseconds: [50, 1_000_000_000, 20]).bytesPerSecond == 2_000_000_000)
        #expect(Rate(byteCount: 100, nanoseconds: []).bytesPerSecond == 0)
    }

    @Test("only what cells run into is measured: their threads, and the windows around theirs")
    func restriction() {
        func restricted(_ cells: [Cell]) -> LimitOptions {
            var options = LimitOptions(threads: 8, cacheByteCounts: [], machineByteCount: 1 << 30, folder: "/tmp")
            options.restrict(to: cells)
            return options
        }
        func cell(_ window: UInt64, _ workload: String = "sequential", threads: Int = 1, _ source: String = "file")
            -> Cell
        {
            Cell(
                backend: "openssl", strategy: "ctr", chunkByteCount: nil,
                windowByteCount: window, workload: workload, readCount: nil, access: .block, threads: threads,
                keyByteCount: 16, objectByteCount: 1 << 30, source: source, label: nil)
        }
        #expect(restricted([cell(256 << 10)]).windowByteCounts == [256 << 10])
        #expect(restricted([cell(100 << 20)]).windowByteCounts == [64 << 20])
        #expect(restricted([cell(1 << 10), cell(2 << 20)]).windowByteCounts == [4 << 10, 1 << 20, 16 << 20])
        #expect(restricted([cell(1 << 20, "random:4KiB")]).windowByteCounts == [4 << 10])
        #expect(restricted([cell(256 << 10, "trace:avplayer")]).windowByteCounts == [4 << 10, 64 << 10, 256 << 10])
        #expect(restricted([cell(256 << 10, "https")]).windowByteCounts == [256 << 10])
        #expect(restricted([cell(256 << 10, threads: 4, "https://example.org")]).windowByteCounts.isEmpty)
        #expect(restricted([cell(256 << 10, threads: 4)]).threads == 4)
        #expect(restricted([cell(256 << 10), cell(256 << 10, threads: 16)]).threads == 8)
    }

    @Test("options follow the machine's caches and memory")
    func options() {
        func options(_ caches: [UInt64], _ memory: UInt64) -> LimitOptions {
            LimitOptions(threads: 1, cacheByteCounts: caches, machineByteCount: memory, folder: "/tmp")
        }
        let usual = options([48 << 10, 2 << 20, 105 << 20], 24 << 30)
        #expect(usual.cacheByteCount == 512 << 10 && usual.memoryByteCount == 210 << 20)
        #expect(options([32 << 10, 1 << 20, 1 << 30], 1 << 40).memoryByteCount == 256 << 20)
        #expect(options([], 1 << 30).memoryByteCount == 64 << 20)
        #expect(options([], 0).memoryByteCount == 1 << 20)
    }
}

@Suite("reasons of failures")
struct CellFailureTests {
    @Test("what a subject writes makes no line of a result file too long to be read")
    func length() throws {
        let reason = CellFailure(String(repeating: "\u{1}", count: 40 << 20)).description
        #expect(reason.unicodeScalars.count == 4001 && reason.hasSuffix("…"))
        #expect(CellFailure("short").description == "short")
    }
}
