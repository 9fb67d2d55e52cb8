import RandomAccess
import SubjectProtocol
import Support

extension ProtocolCheck {
    /// Returns checks of measurements of the fixture. Source: PROTOCOL.md, "measure".
    static func measurements() -> [ProtocolCheck] {
        let digests: [(String, Workload)] = [
            ("of windows of 16 bytes", .sequential(windowByteCount: 16)),
            ("of windows of 7 bytes", .sequential(windowByteCount: 7)),
            ("of one window", .sequential(windowByteCount: 1 << 20)),
            ("of random ranges", .random(rangeByteCount: 10, seed: 5, readCount: 20)),
            ("of random ranges from the largest seed", .random(rangeByteCount: 1, seed: (1 << 53) - 1, readCount: 9)),
            (
                "of random ranges from a later draw on",
                .random(rangeByteCount: 10, seed: 5, readCount: 20, firstDraw: 13)
            ),
            (
                "of random ranges from the largest draw on",
                .random(rangeByteCount: 3, seed: 5, readCount: 9, firstDraw: (1 << 53) - 1)
            ),
            ("of a trace", .trace([.init(offset: 90, count: 5), .init(offset: 0, count: 33)])),
            ("of a trace past the end", .trace([.init(offset: 95, count: 500), .init(offset: 100, count: 1)])),
            ("of an empty trace", .trace([])),
        ]
        return digests.map { name, workload in
            ProtocolCheck("digest \(name)", .measurement) { probe in
                try probe.checkDigest(workload, "digest \(name)")
            }
        } + refusals() + figures()
    }

    private static func refusals() -> [ProtocolCheck] {
        let sequential = "\"workload\":{\"kind\":\"sequential\",\"windowByteCount\":16}"
        func digest(_ workload: String) -> String { "\"workload\":{\"kind\":\(workload)},\"collect\":\"digest\"" }
        let cases: [(String, String, isBounds: Bool)] = [
            ("without a workload", "\"collect\":\"digest\"", false), ("without collect", sequential, false),
            ("of an unknown kind", digest("\"zigzag\""), false),
            ("of unknown figures", "\(sequential),\"collect\":\"joules\"", false),
            ("of windows of 0", digest("\"sequential\",\"windowByteCount\":0"), false),
            ("of random ranges of 0", digest("\"random\",\"rangeByteCount\":0,\"seed\":1,\"reads\":1"), false),
            (
                "of random ranges longer than the plaintext",
                digest("\"random\",\"rangeByteCount\":101,\"seed\":1,\"reads\":1"), true
            ),
            ("of a trace that starts past the end", digest("\"trace\",\"ranges\":[[101,1]]"), true),
            ("of time without limits", "\(sequential),\"collect\":\"time\"", false),
        ]
        return cases.map { name, members, isBounds in
            .refusal(
                of: "measure", name, members: members, isBounds ? .rangeOutOfBounds : .invalidRequest,
                flag: .measurement)
        }
    }

    private static func figures() -> [ProtocolCheck] {
        [
            ProtocolCheck("time", .measurement) { probe in
                // The subject iterates until it reaches the sum or the maximum number; at least once.
                for (minimum, maximum, expected) in [(0, 5, 1), (1 << 50, 3, 3)] as [(UInt64, UInt64, Int)] {
                    let limits: [String: JSONValue] = [
                        "minimumNanoseconds": .integer(minimum), "maximumIterations": .integer(maximum),
                    ]
                    let answer = try probe.measure(.sequential(windowByteCount: 64), "time", limits)
                    guard let found = answer["nanoseconds"]?.array, found.allSatisfy({ $0.integer != nil }),
                        found.count == expected
                    else {
                        throw ProtocolProbe.Mismatch(
                            description: "time for at least \(minimum) ns, at most \(maximum) iterations: "
                                + "\(answer["nanoseconds"]?.text ?? "nothing"): expected \(expected) integers")
                    }
                }
            },
            ProtocolCheck("time goes on with the draws", .measurement) { probe in
                try probe.checkSecondIteration(.random(rangeByteCount: 3, seed: 9, readCount: 24))
            },
            ProtocolCheck("latencies", .measurement) { probe in
                let answer = try probe.measure(
                    .random(rangeByteCount: 8, seed: 1, readCount: 6), "latencies", [:])
                guard answer["latencies"]?.array?.compactMap(\.integer).count == 6 else {
                    throw ProtocolProbe.Mismatch(
                        description:
                            "latencies of 6 reads: \(answer["latencies"]?.text ?? "nothing"): expected 6 integers")
                }
            },
        ]
    }
}

extension ProtocolProbe {
    fileprivate func measure(
        _ workload: Workload, _ collect: String, _ members: [String: JSONValue]
    ) throws(Mismatch) -> JSONValue {
        let id = try open()
        var request = members
        request["op"] = "measure"
        request["id"] = .integer(id)
        request["workload"] = workload.json
        request["collect"] = .string(collect)
        let answer = try expectGood(.object(request), "measure \(collect)").members
        try read(id, "read after it")
        return answer
    }

    /// Checks the requests for served ciphertext in the second iteration of a `time`: they must be those of an
    /// iteration at its own draws, not those of the first one. Ciphertext that the subject has kept may hide them.
    fileprivate func checkSecondIteration(_ workload: Workload) throws(Mismatch) {
        guard hello.isServed, fixture.playlist == nil else { return }
        func asked(_ workload: Workload, iterationCount: UInt64) throws(Mismatch) -> [FetchRule.Fetch] {
            let id = try open()
            let source = ServedCiphertext(fixture)
            let request: JSONValue = [
                "op": "measure", "id": .integer(id), "workload": workload.json, "collect": "time",
                "minimumNanoseconds": .integer(1 << 50), "maximumIterations": .integer(iterationCount),
            ]
            try expectGood(request, "measure time", serving: source)
            try close(id)
            return source.fetches
        }
        let first = try asked(workload, iterationCount: 1)
        let second = try asked(
            workload.starting(atDraw: workload.drawCount(iterationCount: 1)), iterationCount: 1)
        guard first != second, try asked(workload, iterationCount: 2) == first + first else { return }
        throw Mismatch(
            description: "time: the second iteration of random reads asks for what the first one did: "
                + "expected it to go on with the draws")
    }

    fileprivate func checkDigest(_ workload: Workload, _ what: String) throws(Mismatch) {
        var delivered: [UInt8] = []
        do throws(DecryptionError) {
            for read in try workload.reads(plaintextByteCount: fixture.plaintext.byteCount) {
                delivered += try fixture.plaintext.bytes(read.offset..<read.offset + read.count)
            }
        } catch {
            throw Mismatch(description: "\(what): the expected bytes cannot be had: \(error)")
        }
        let answer = try measure(workload, "digest", [:])
        let digest = Hexadecimal.encode(SHAFunction.sha256.hash(delivered))
        guard answer["digest"] == .string(digest), answer["deliveredByteCount"] == JSONValue(count: delivered.count)
        else {
            throw Mismatch(
                description: "\(what): \(answer["digest"]?.text ?? "nothing") of "
                    + "\(answer["deliveredByteCount"]?.text ?? "no") bytes: expected \(digest) of \(delivered.count)")
        }
    }
}
