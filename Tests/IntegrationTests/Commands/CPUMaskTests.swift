#if arch(x86_64)
import Foundation
import Support
import TestSupport
import Testing

@Suite("CPU features switched off")
struct CPUMaskTests {
    @Test("verify --cpu-masks runs swift-bitsliced on each kind of vectors")
    func steps() throws {
        // The second has about two thousand vectors of the other ciphers.
        let files = ["sp800-38a", "messages"].flatMap { ["--vectors", Project.path("data/vectors/\($0).json")] }
        let run = try Chunkwise.run(
            ["verify", "--cpu-masks", "--backend", "swift-bitsliced", "--format", "json"] + files)
        #expect(run.status == 0, "\(run.errorLines)")
        let subjects = try #require(JSONValue.parse(run.output)?["subjects"]?.array)
        #expect(
            subjects.compactMap { $0["name"]?.string }
                == ["swift-bitsliced", "swift-bitsliced without avx512", "swift-bitsliced without avx2"])
        #expect(subjects.allSatisfy { $0["passed"]?.integer ?? 0 > 2000 && $0["failed"]?.integer == 0 })
    }

    @Test("the backend uses nothing that is switched off, and says so")
    func features() throws {
        for (disabled, unwanted) in [("avx2", ["avx2", "avx512vl"]), ("avx512vl", ["avx512vl"])] {
            let run = try CommandRun.run(
                Programs.chunkwise, ["backends", "--format", "json"],
                environment: ["CHUNKWISE_SWIFT_DISABLE_HWF": disabled])
            let backends = try #require(JSONValue.parse(run.output)?["backends"]?.array)
            let found = try #require(backends.first { $0["name"]?.string == "swift-bitsliced" }?["cpuFeatures"]?.array)
            #expect(found.allSatisfy { !unwanted.contains($0.string ?? "") }, "\(disabled): \(found)")
        }
    }
}
#endif
