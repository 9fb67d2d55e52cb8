import Foundation
import Measurement
import SystemPackage
import TestSupport
import Testing

@Suite("manifests")
struct ManifestTests {
    private func manifest(costs: [Double], shards: Int, isReplicated: Bool = false) -> Manifest {
        Manifest(
            .vectors(options: [], files: [:]),
            parts: costs.enumerated().map { Manifest.Part(name: "\($0)", cost: $1, members: ["\($0)"], count: 1) },
            shardCount: shards, isReplicated: isReplicated, programVersion: "1", programDigest: nil)
    }

    @Test("each part is in one shard, and shards differ by no more than the smallest parts")
    func distribution() {
        var costs = (0..<500).map { Double(1 + $0 % 17) }
        costs += [120, 90, 90]
        let manifest = manifest(costs: costs, shards: 40)
        #expect(manifest.parts.allSatisfy { $0.shard != nil } && manifest.parts.map(\.name).count == costs.count)
        let shards = (0..<40).map { manifest.parts(of: $0) }
        #expect(shards.joined().map(\.name).sorted() == manifest.parts.map(\.name).sorted())
        let loads = shards.map { $0.reduce(0) { $0 + $1.cost } }
        #expect((loads.max() ?? 0) <= (loads.min() ?? 0) * 1.2, "\(loads)")
        let everything = self.manifest(costs: [1, 2], shards: 3, isReplicated: true)
        #expect(everything.isReplicated && (0..<3).allSatisfy { everything.parts(of: $0).count == 2 })
    }

    @Test("a part that costs more than a shard should is shared among parts of some subjects each, which have it all")
    func divided() throws {
        let part = Manifest.Part(name: "p", cost: 9, members: ["a", "b"], count: 5)
        let names = ["q", "r", "s", "t"]
        let parts = part.divided(among: names, maxCost: 4)
        #expect(parts.map(\.subjects) == [["q", "t"], ["r"], ["s"]] && parts.map(\.cost) == [4.5, 2.25, 2.25])
        #expect(parts.allSatisfy { $0.members == part.members && $0.count == part.count })
        #expect(part.divided(among: names, maxCost: 9) == [part] && part.divided(among: [], maxCost: 1) == [part])
        #expect(part.divided(among: names, maxCost: 0.001).map(\.subjects) == names.map { [$0] })
    }

    @Test("a search's shards draw ranges of cases that do not meet")
    func cases() {
        let manifest = manifest(costs: [], shards: 7)
        let ranges = (0..<7).map(manifest.cases)
        #expect(zip(ranges, ranges.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound && !$0.isEmpty })
        #expect(ranges[6].upperBound <= Int(UInt32.max))
    }

    @Test("the same job is split once: the manifest that is there stays, and another job is refused beside its shards")
    func again() throws {
        let folder = try TemporaryFolder()
        let path = FilePath(folder.path("job"))
        let first = try ManifestFile.write(manifest(costs: [1, 2, 3], shards: 2), to: path)
        #expect(try ManifestFile.write(manifest(costs: [3, 2, 1], shards: 2), to: path).digest == first.digest)
        #expect(try ManifestFile(path.appending("manifest.json")).manifest == first.manifest)
        // Also while nothing has been handed over.
        for entry in [nil, "job/shards/00000-n-a.jsonl"] {
            if let entry { try folder.file(entry, "x") }
            #expect(throws: FleetError.self) {
                try ManifestFile.write(manifest(costs: [1, 2, 3], shards: 3), to: path)
            }
        }
        #expect(try ManifestFile.write(manifest(costs: [3, 2, 1], shards: 2), to: path).digest == first.digest)
    }

    @Test(
        "what is no manifest, of another version or of impossible shards is refused with a reason",
        arguments: [
            ("", "not a manifest"), ("{}", "not a manifest"),
            (#"{"schema":"chunkwise-manifest-9"}"#, "chunkwise-manifest-9"),
            (#"{"schema":"chunkwise-manifest-1"}"#, "damaged"), ("COUNT", "its count of shards is 0"),
            ("SHARD", "in no shard"), ("COST", "an invalid cost or count"), ("TWICE", "in two of its parts"),
            ("ALSO", "in two of its parts"), ("DIVIDED", "in two of its parts"),
            ("HAND", "changed by hand"),
        ])
    func bad(text: String, reason: String) throws {
        let folder = try TemporaryFolder()
        var manifest = manifest(costs: [1], shards: 1)
        if text == "COUNT" { manifest.shardCount = 0 }
        if text == "SHARD" { manifest.parts[0].shard = 5 }
        if text == "TWICE" { manifest.parts[0].members += manifest.parts[0].members }
        if text == "ALSO" || text == "DIVIDED" {
            // For one subject, of whom another part has all or that is named twice.
            manifest.parts += manifest.parts
            manifest.parts[1].subjects = ["s"]
            if text == "DIVIDED" { manifest.parts[0].subjects = ["t", "s"] }
        }
        if text == "COST" { manifest.parts[0].cost = -1 }
        var bytes = text.first?.isUppercase ?? false ? try manifest.bytes : Array(text.utf8)
        if text == "HAND" {
            bytes = Array(String(decoding: bytes, as: UTF8.self).replacing(#""0""#, with: #""1""#).utf8)
        }
        let path = try folder.file("manifest.json", bytes)
        let error = #expect(throws: FleetError.self) { try ManifestFile(FilePath(path)) }
        #expect("\(error, default: "")".contains(reason) && "\(error, default: "")".contains("expected"))
    }

    @Test("CPUs are read and written as the kernel lists them")
    func cpus() {
        for text in ["0", "0-3", "0-3,8", "1,3,5-6"] { #expect(CPUSet(text)?.description == text) }
        for text in ["", "a", "3-1", "-1", "0-", "0-1-2"] { #expect(CPUSet(text) == nil, "\(text)") }
        #expect(CPUSet.own?.pin() == true)
    }

    @Test("CPUs are of another kind if they are of several NUMA nodes, or of another capacity")
    func kinds() throws {
        let files = [
            "node/online": "0-1", "node/node0/cpulist": "0-3", "node/node1/cpulist": "4-7",
            "cpu/cpu0/cpu_capacity": "1024", "cpu/cpu1/cpu_capacity": "991", "cpu/cpu2/cpu_capacity": "446",
        ]
        func kind(_ cpus: String) -> String? {
            CPUSet(cpus)?.kind { files[String($0.dropFirst("/sys/devices/system/".count))] }
        }
        for ordinary in ["0", "0-1", "1", "4-5", "9"] { #expect(kind(ordinary) == nil, "\(ordinary)") }
        #expect(kind("3-4") == "2 NUMA nodes" && kind("2") == "capacity 400")
        #expect(kind("0-4") == "2 NUMA nodes, capacity 400 and 1000")
        #expect(CPUSet("0")?.kind { _ in nil } == nil)
    }

    @Test("what one process has taken of the CPUs, no other one takes until it ends")
    func takenCPUs() throws {
        let allowed = try #require(CPUSet("60000-60003"))
        let variables = ["SLURM_CPUS_PER_TASK": "2"]
        let first = CPUSet.given(of: allowed) { variables[$0] }
        #expect(first.description == "60000-60001")
        #expect(CPUSet.given(of: allowed) { variables[$0] }.description == "60002-60003")
        #expect(CPUSet.given(of: allowed) { variables[$0] } == allowed)
    }

    @Test("as many CPUs are taken of those that are allowed as a scheduler says")
    func givenCPUs() throws {
        let allowed = try #require(CPUSet("0-3"))
        func given(_ variables: [String: String], others: Set<Int> = []) -> String {
            CPUSet.given(of: allowed, { variables[$0] }, take: { !others.contains($0) }).description
        }
        #expect(given([:]) == "0-3" && given(["SLURM_CPUS_ON_NODE": "9"]) == "0-3")
        #expect(given(["SLURM_CPUS_PER_TASK": "1", "SLURM_CPUS_ON_NODE": "2"]) == "0")
        #expect(given(["SLURM_CPUS_PER_TASK": "2"], others: [0, 2]) == "1,3")
        // More than are left: all, and no two processes on one while others have nothing to do.
        #expect(given(["SLURM_CPUS_PER_TASK": "3"], others: [0, 2]) == "0-3")
        #expect(given(["SLURM_JOB_CPUS_PER_NODE": "3(x2),1"]) == "0-2")
        #expect(given(["SLURM_CPUS_PER_TASK": "x"]) == "0-3" && given(["SLURM_CPUS_PER_TASK": "0"]) == "0-3")
    }
}
