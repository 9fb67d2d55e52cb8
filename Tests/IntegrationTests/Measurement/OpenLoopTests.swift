import ByteSources
import Foundation
import Glibc
import RandomAccess
import SubjectProtocol
import Support
import TestSupport
import Testing

@Suite("open loop", .serialized)
struct OpenLoopTests {
    /// Stops a child for a while, and says for how long it was stopped at least.
    private final class Stop: @unchecked Sendable {
        private let done = DispatchSemaphore(value: 0)
        private var nanoseconds: UInt64 = 0

        init(_ process: Int32, after delay: UInt32, microseconds: UInt32) {
            Thread.detachNewThread { [self] in
                usleep(delay)
                kill(process, SIGSTOP)
                // Until it is.
                var information = siginfo_t()
                waitid(P_PID, id_t(process), &information, WSTOPPED | WNOWAIT)
                let start = monotonicNanoseconds()
                usleep(microseconds)
                nanoseconds = monotonicNanoseconds() - start
                kill(process, SIGCONT)
                done.signal()
            }
        }

        func wait() -> UInt64 {
            done.wait()
            return nanoseconds
        }
    }

    @Test("a reader that is stopped for 100 ms: latency from the due time says so, and a closed loop does not")
    func stopped() throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("object", Samples.bytes(1 << 20))
        let command = [Programs.built("chunkwise-subject"), "--backend", "openssl", "--window", "4096"]
        let process = try SubjectProcess(command: command, timeout: .seconds(120))
        _ = try process.request(["op": "hello", "protocol": 1])
        // Any bytes are a ciphertext in counter mode.
        var members = Strategy.ctr(iv: try Block(ServerProcess.iv)).protocolMembers
        members["op"] = "open"
        members["id"] = 1
        members["key"] = .string(Hexadecimal.encode(Samples.bytes(16)))
        members["source"] = ["path": .string(path)]
        _ = try process.request(.object(members))
        let (rate, count) = (2000.0, 10_000)
        let stop = Stop(process.processID, after: 1_000_000, microseconds: 100_000)
        let answer = try process.request([
            "op": "measure", "id": 1, "extended": true, "collect": "openLoop", "arrivals": "fixed:2000",
            "readCount": JSONValue(count: count), "arrivalSeed": 1,
            "workload": Workload.random(rangeByteCount: 4096, seed: 1, readCount: 256).json,
        ]).members
        let pause = stop.wait()
        try process.end()
        let latencies = try #require(answer["latencies"]?.array?.compactMap { $0.integer })
        let services = try #require(answer["services"]?.array?.compactMap { $0.integer })
        #expect(latencies.count == count && services.count == count)
        // Whatever else the machine does makes latencies longer: these are lower bounds. What became due while nothing ran
        // waited for the rest of it.
        func due(over nanoseconds: Double) -> Int { Int(rate * (Double(pause) - nanoseconds) / 1e9) - 1 }
        let half = Double(pause) / 2
        #expect(pause >= 100_000_000)
        #expect(latencies.count { Double($0) >= half } >= due(over: half), "\(pause)")
        let p99 = try #require(percentile(99, latencies))
        #expect(Double(p99) >= Double(pause) - Double(count / 100 + 2) / rate * 1e9, "\(pause)")
        // One read at most was under way; a busy machine may stop a few others.
        #expect(services.count { Double($0) >= half } <= 10)
        #expect(try #require(percentile(99, services)) < p99 / 4)
    }

    private func percentile(_ percent: Int, _ values: [UInt64]) -> UInt64? {
        values.isEmpty ? nil : values.sorted()[(values.count * percent + 99) / 100 - 1]
    }

    @Test(
        "measure --arrival has a row a load, over files and HTTP, on one thread and two",
        arguments: [("file", 1), ("file", 2), ("http", 2)])
    func loads(source: String, threads: Int) throws {
        let run = try Chunkwise.run([
            "measure", "--arrival", "200,400", "--source", source, "--threads", "\(threads)", "--workload",
            "random:4KiB",
            "--object-size", "1MiB", "--rounds", "2", "--milliseconds", "100", "--backend", "openssl", "--format",
            "json",
        ])
        #expect(run.status == 0, "\(run.errorLines)")
        let json = try #require(JSONValue.parse(run.output))
        let loads = try #require(json["loads"]?.array)
        #expect(json["schema"]?.string == "chunkwise-open-loop-1" && loads.count == 2)
        for (load, count) in zip(loads, [40, 80] as [UInt64]) {
            #expect(load["readCount"]?.integer == count && load["processCount"]?.integer == 2)
            let (latency, service) = (load["latency"], load["service"])
            #expect(try #require(latency?["p50"]?.integer) >= #require(service?["p50"]?.integer))
            #expect(latency?["p90"]?.integer != nil && latency?["p99"] == .null && latency?["p9999"] == .null)
        }
    }

    @Test("chunkwise serve is measured through a reader of what it serves", arguments: [1, 3])
    func served(threads: Int) throws {
        let folder = try ServerProcess.makeFolder()
        try ServerProcess.encrypt(Samples.bytes(300_000), to: "film.mp4", in: folder)
        let server = try ServerProcess(folder, ["film.mp4"])
        let run = try Chunkwise.run([
            "measure", "--source", server.root + "film.mp4", "--strategy", "ctr", "--key-file", folder.path("key"),
            "--iv", ServerProcess.hexadecimal(ServerProcess.iv), "--workload", "random:64KiB", "--arrival", "100,200",
            "--threads", "\(threads)", "--rounds", "1", "--milliseconds", "150", "--format", "json",
        ])
        #expect(run.status == 0, "\(run.errorLines)")
        let loads = try #require(JSONValue.parse(run.output)?["loads"]?.array)
        #expect(loads.compactMap { $0["readCount"]?.integer } == [15, 30])
        #expect(!run.text.contains(server.token) || server.token.isEmpty)
    }

    @Test("both loops say which they are, and loads that are none are refused")
    func words() throws {
        let small = ["--object-size", "1MiB", "--rounds", "1", "--milliseconds", "20", "--workload", "random:4KiB"]
        let open = try Chunkwise.run(["measure", "--arrival", "fixed:500"] + small)
        #expect(open.text.contains("(open loop)") && open.text.contains("all that a closed loop sees"))
        #expect(
            open.text.split(separator: "\n").allSatisfy { $0.count <= 80 || $0.contains("window=") }, "\(open.text)")
        #expect(try Chunkwise.run(["measure"] + small).text.contains("closed loop: median"))
        for arguments in [
            ["--arrival", "0"], ["--arrival", "burst:5"], ["--arrival", "10", "--cold"],
            ["--arrival", "10000000", "--milliseconds", "10s"],
        ] {
            let run = try Chunkwise.run(["measure"] + arguments + ["--object-size", "1MiB"])
            #expect(run.status == 64 && run.output.isEmpty, "\(arguments): \(run.errorLines)")
        }
    }
}
