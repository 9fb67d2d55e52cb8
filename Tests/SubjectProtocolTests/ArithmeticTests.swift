import RandomAccess
import SubjectProtocol
import Support
import Testing

@Suite("read lists")
struct ReadListTests {
    @Test("windows cover every byte of the plaintext once, in order")
    func windows() {
        for length: UInt64 in 0...40 {
            for window: UInt64 in 1...42 {
                let reads = ReadList.windows(byteCount: window, plaintextByteCount: length)
                var end: UInt64 = 0
                for read in reads {
                    #expect(read.offset == end && read.count > 0 && read.count <= window, "\(length) in \(window)")
                    end += read.count
                }
                #expect(end == length && reads.totalByteCount == length, "\(length) in \(window)")
                #expect(reads.largestByteCount == reads.map(\.count).max() ?? 0)
                #expect(reads.dropLast().allSatisfy { $0.count == window })
            }
        }
    }

    @Test("windows near the end of 64 bits do not overflow")
    func huge() {
        let reads = ReadList.windows(byteCount: 1 << 62, plaintextByteCount: .max)
        #expect(reads.count == 4 && reads[3] == Workload.Read(offset: 3 << 62, count: .max - 3 << 62))
    }
}

@Suite("workloads")
struct WorkloadTests {
    @Test(
        "a workload's JSON reads back as the workload",
        arguments: [
            .sequential(windowByteCount: 1), .sequential(windowByteCount: 1 << 53 - 1),
            .random(rangeByteCount: 4096, seed: 0, readCount: 3),
            .random(rangeByteCount: 1, seed: 1 << 53 - 1, readCount: 1, firstDraw: 1 << 53 - 1), .trace([]),
            .trace([.init(offset: 0, count: 0), .init(offset: 1 << 53 - 1, count: 16)]),
        ] as [Workload]
    )
    func roundTrip(workload: Workload) throws {
        #expect(try Workload(workload.json) == workload)
    }

    @Test(
        "what is no workload is an invalid request",
        arguments: [
            [:], ["kind": "other"], ["kind": 1], ["kind": "sequential"], ["kind": "sequential", "windowByteCount": 0],
            ["kind": "sequential", "windowByteCount": "1"], ["kind": "sequential", "windowByteCount": .number(-1)],
            ["kind": "sequential", "windowByteCount": 9_007_199_254_740_992],
            ["kind": "random", "rangeByteCount": 0, "seed": 1, "reads": 1],
            ["kind": "random", "rangeByteCount": 1, "reads": 1],
            ["kind": "random", "rangeByteCount": 1, "seed": 9_007_199_254_740_992, "reads": 1],
            ["kind": "trace"], ["kind": "trace", "ranges": 1], ["kind": "trace", "ranges": [1]],
            ["kind": "trace", "ranges": [[1]]], ["kind": "trace", "ranges": [[1, 2, 3]]],
            ["kind": "trace", "ranges": [[1, .number(-2)]]],
            ["kind": "trace", "ranges": [[9_007_199_254_740_992, 1]]],
        ] as [JSONValue]
    )
    func garbage(json: JSONValue) {
        let error = #expect(throws: DecryptionError.self) { try Workload(json) }
        #expect(error?.protocolName == "invalidRequest", "\(json.text)")
    }

    @Test("offsets are SplitMix64 from the seed: the first value from 0 is e220a8397b1dcdaf")
    func offsets() throws {
        let workload = Workload.random(rangeByteCount: 1, seed: 0, readCount: 3)
        // The second and third values are those of the reference implementation as well.
        let values: [UInt64] = [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f]
        #expect(try workload.reads(plaintextByteCount: .max).map(\.offset) == values.map { $0 % .max })
        #expect(try workload.reads(plaintextByteCount: 1000).map(\.offset) == values.map { $0 % 1000 })
    }

    @Test("random ranges lie in the plaintext and reach its end")
    func randomRanges() throws {
        let reads = try Workload.random(rangeByteCount: 3, seed: 5, readCount: 200).reads(plaintextByteCount: 5)
        #expect(Set(reads.map(\.offset)) == [0, 1, 2] && reads.allSatisfy { $0.count == 3 })
    }

    @Test("ranges past the end are out of bounds; those that reach over it are clipped")
    func bounds() throws {
        #expect(throws: DecryptionError.self) {
            try Workload.random(rangeByteCount: 11, seed: 1, readCount: 1).reads(plaintextByteCount: 10)
        }
        #expect(throws: DecryptionError.rangeOutOfBounds(offset: 11, plaintextByteCount: 10)) {
            try Workload.trace([.init(offset: 11, count: 0)]).reads(plaintextByteCount: 10)
        }
        let reads = try Workload.trace([.init(offset: 8, count: .max), .init(offset: 10, count: 1)])
            .reads(plaintextByteCount: 10)
        #expect(Array(reads) == [.init(offset: 8, count: 2), .init(offset: 10, count: 0)])
        #expect(try Workload.sequential(windowByteCount: 5).reads(plaintextByteCount: 0).isEmpty)
    }

    @Test("reads of more than 256 MiB are refused, but a window may be larger than the plaintext")
    func largest() throws {
        let maximum: UInt64 = 256 << 20
        #expect(try Workload.sequential(windowByteCount: maximum).reads(plaintextByteCount: 1 << 40).count == 4096)
        #expect(try Workload.sequential(windowByteCount: 1 << 50).reads(plaintextByteCount: 10).count == 1)
        for workload: Workload in [
            .sequential(windowByteCount: maximum + 1), .random(rangeByteCount: maximum + 1, seed: 1, readCount: 1),
            .trace([.init(offset: 0, count: maximum + 1)]),
        ] {
            #expect(throws: DecryptionError.self) { try workload.reads(plaintextByteCount: 1 << 40) }
        }
    }

    @Test("draws go on from iteration to iteration, and from wherever they are told to")
    func goingOn() throws {
        let workload = Workload.random(rangeByteCount: 2, seed: 7, readCount: 5)
        let all = try Workload.random(rangeByteCount: 2, seed: 7, readCount: 15).reads(plaintextByteCount: 1 << 40)
        var reads = try workload.reads(plaintextByteCount: 1 << 40)
        for iteration in 0..<3 {
            #expect(Array(reads) == Array(all[iteration * 5..<iteration * 5 + 5]))
            let draw = workload.drawCount(iterationCount: iteration)
            #expect(Array(try workload.starting(atDraw: draw).reads(plaintextByteCount: 1 << 40)) == Array(reads))
            #expect((0..<15 - iteration * 5).map { reads.continued($0) } == Array(all[(iteration * 5)...]))
            reads.goOn()
        }
        #expect(Set(all.map(\.offset)).count == 15)
        #expect((1 << 32..<1 << 53).contains(workload.checkedDraw))
    }

    @Test("what draws nothing is the same in each iteration")
    func sameAgain() throws {
        for workload: Workload in [.sequential(windowByteCount: 3), .trace([.init(offset: 1, count: 4)])] {
            var reads = try workload.reads(plaintextByteCount: 10)
            let first = Array(reads)
            reads.goOn()
            #expect(Array(reads) == first && workload.starting(atDraw: 9) == workload)
            #expect(reads.continued(first.count) == first[0])
        }
    }
}
