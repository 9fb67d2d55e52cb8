import ByteSources
import Foundation
import Glibc
import RandomAccess
import SubjectProtocol
import Support
import TestSupport
import Testing

/// A server on a thread of this process, whose pipes a `SubjectProcess` of two `cat`s reaches.
///
/// Both sides are the real ones; only the subject is not a program of its own.
private final class Pair {
    let process: SubjectProcess
    private let folder: TemporaryFolder

    init() throws {
        Programs.ignoreBrokenPipes()
        let folder = try TemporaryFolder()
        self.folder = folder
        let (requests, answers) = (folder.path("requests"), folder.path("answers"))
        guard mkfifo(requests, 0o600) == 0, mkfifo(answers, 0o600) == 0 else { throw CocoaError(.fileWriteUnknown) }
        Thread.detachNewThread {
            let input = Glibc.open(requests, O_RDONLY)
            let output = Glibc.open(answers, O_WRONLY)
            SubjectServer(pipe: PipeEnd(input: input, output: output), subject: EchoSubject()).run()
            close(input)
            close(output)
        }
        let script = "cat >'\(requests)' <&3 & exec 3<&- cat <'\(answers)'"
        process = try SubjectProcess(command: ["/bin/sh", "-c", "exec 3<&0; \(script)"], timeout: .seconds(20))
    }

    func open(_ source: any ByteSource) throws -> UInt64? {
        let strategy = Strategy.ctr(iv: Block(bigEndianValue: 1))
        var members = strategy.protocolMembers
        members["op"] = "open"
        members["id"] = 1
        members["key"] = "000102030405060708090a0b0c0d0e0f"
        members["source"] = ["byteCount": .integer(source.byteCount)]
        return try process.request(.object(members), serving: source).members["plaintextByteCount"]?.integer
    }

    func read(_ range: Range<Int>, of source: any ByteSource) throws -> [UInt8] {
        let request: JSONValue = [
            "op": "read", "id": 1, "offset": .integer(UInt64(range.lowerBound)), "count": .integer(UInt64(range.count)),
        ]
        return try process.request(request, serving: source).payload
    }
}

@Suite("both sides of the protocol")
struct BothSidesTests {
    @Test("served bytes arrive as they are, whole or in short reads", arguments: [1, 3, 1000, 100_000])
    func serving(largestRead: Int) throws {
        let bytes = Samples.bytes(4096)
        let pair = try Pair()
        let source = ShortReadingSource(MemorySource(bytes), largestRead: largestRead)
        #expect(try pair.open(source) == 4096)
        for range in [0..<16, 0..<0, 4095..<4096, 100..<333, 4096..<4096] + (largestRead > 1 ? [0..<4096] : []) {
            #expect(try pair.read(range, of: source) == Array(bytes[range]), "\(range)")
        }
        #expect(try pair.read(4090..<5000, of: source) == Array(bytes[4090...]))
        try pair.process.end()
    }

    @Test("a payload larger than any pipe or buffer arrives")
    func large() throws {
        let bytes = Samples.bytes(1 << 20)
        let pair = try Pair()
        let source = MemorySource(bytes)
        #expect(try pair.open(source) == 1 << 20)
        #expect(Samples.difference(try pair.read(0..<1 << 20, of: source), bytes) == nil)
    }

    @Test("a source that fails is io on both sides, and the next read works")
    func failingSource() throws {
        let bytes = Samples.bytes(64)
        let pair = try Pair()
        let source = FaultySource(MemorySource(bytes))
        #expect(try pair.open(source) == 64)
        source.inject(.failure)
        #expect(throws: SubjectError.self) { try pair.read(0..<64, of: source) }
        source.inject(.none)
        #expect(try pair.read(0..<64, of: source) == bytes)
    }

    @Test("a source that ends early is truncated ciphertext, and the next read works")
    func endingSource() throws {
        let bytes = Samples.bytes(64)
        let pair = try Pair()
        let source = FaultySource(MemorySource(bytes))
        #expect(try pair.open(source) == 64)
        source.inject(.end(at: 10))
        let error = #expect(throws: SubjectError.self) { try pair.read(0..<64, of: source) }
        guard case .refused(name: "truncatedCiphertext", _) = error else {
            Issue.record("\(String(describing: error)): expected truncatedCiphertext")
            return
        }
        source.inject(.none)
        #expect(try pair.read(3..<7, of: source) == Array(bytes[3..<7]))
    }

    @Test("several threads that read a served source take turns")
    func threads() throws {
        let bytes = Samples.bytes(64 * 50)
        var toSubject: [Int32] = [0, 0]
        var toHarness: [Int32] = [0, 0]
        #expect(pipe(&toSubject) == 0 && pipe(&toHarness) == 0)
        let (input, output) = (toHarness[0], toSubject[1])
        defer { for end in toSubject + toHarness { close(end) } }
        // A harness for a fixed number of needs.
        Thread.detachNewThread {
            let pipe = PipeEnd(input: input, output: output)
            for _ in 0..<200 {
                guard let line = pipe.readLine(), let need = JSONValue.parse(line)?["need"],
                    let offset = need["offset"]?.integer, let count = need["count"]?.integer
                else { return }
                let answer: JSONValue = ["ok": true, "payload": .integer(count)]
                answer.line.withUnsafeBytes { _ = pipe.writeAll($0) }
                bytes[Int(offset)..<Int(offset + count)].withUnsafeBytes { _ = pipe.writeAll($0) }
            }
        }
        let source = ServedSource(
            byteCount: UInt64(bytes.count), pipe: PipeEnd(input: toSubject[0], output: toHarness[1]))
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for index in 0..<50 {
                var got = [UInt8](repeating: 0, count: 16)
                let offset = 64 * index + 16 * thread
                got.withUnsafeMutableBytes { try? source.fetch(at: UInt64(offset), into: $0) }
                #expect(got == Array(bytes[offset..<offset + 16]), "thread \(thread), read \(index)")
            }
        }
    }
}
