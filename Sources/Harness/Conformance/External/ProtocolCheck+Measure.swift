import RandomAccess
import SubjectProtocol
import Support

extension ProtocolCheck {
    /// Measurements of the fixture. Source: PROTOCOL.md, "measure".
    static func measurements() -> [ProtocolCheck] {
        let digests: [(String, Workload)] = [
            ("of windows of 16 bytes", .sequential(windowByteCount: 16)),
            ("of windows of 7 bytes", .sequential(windowByteCount: 7)),
            ("of one window", .sequential(windowByteCount: 1 << 20)),
            ("of random ranges", .random(rangeByteCount: 10, seed: 5, readCount: 20)),
            ("of random ranges from the largest seed", .random(rangeByteCount: 1, seed: (1 << 53) - 1, readCount: 9)),
            ("of a trace", .trace([.init(offset: 90, count: 5), .init(offset: 0, count: 33)])),
            ("of a trace past the end", .trace([.init(offset: 95, count: 500), .init(offset: 100, count: 1)])),
            ("of an empty trace", .trace([])),
        ]
        return digests.map { name, workload in
            ProtocolCheck(name: "digest \(name)", flag: .measurement) { probe throws(ProtocolProbe.Complaint) in
                try probe.checkDigest(workload, "digest \(name)")
            }
        } + refusals() + figures()
    }

    private static func refusals() -> [ProtocolCheck] {
        let sequential = "\"workload\":{\"kind\":\"sequential\",\"windowByteCount\":16}"
        let cases: [(String, String, isBounds: Bool)] = [
            ("without a workload", "\"collect\":\"digest\"", false), ("without collect", sequential, false),
            ("of an unknown kind", "\"workload\":{\"kind\":\"zigzag\"},\"collect\":\"digest\"", false),
            ("of unknown figures", "\(sequential),\"collect\":\"joules\"", false),
            (
                "of windows of 0",
                "\"workload\":{\"kind\":\"sequential\",\"windowByteCount\":0},\"collect\":\"digest\"", false
            ),
            (
                "of random ranges of 0",
                "\"workload\":{\"kind\":\"random\",\"rangeByteCount\":0,\"seed\":1,\"reads\":1},\"collect\":\"digest\"",
                false
            ),
            (
                "of random ranges longer than the plaintext",
                "\"workload\":{\"kind\":\"random\",\"rangeByteCount\":101,\"seed\":1,\"reads\":1},\"collect\":\"digest\"",
                true
            ),
            (
                "of a trace that starts past the end",
                "\"workload\":{\"kind\":\"trace\",\"ranges\":[[101,1]]},\"collect\":\"digest\"", true
            ),
            ("of time without limits", "\(sequential),\"collect\":\"time\"", false),
        ]
        return cases.map { name, members, isBounds in
            ProtocolCheck(name: "measure \(name)", flag: .measurement) { probe throws(ProtocolProbe.Complaint) in
                let id = try probe.open()
                try probe.expect(
                    isBounds ? .rangeOutOfBounds : .invalidRequest,
                    line: "{\"op\":\"measure\",\"id\":\(id),\(members)}", "measure \(name)")
                try probe.read(id, "read after it")
            }
        }
    }

    private static func figures() -> [ProtocolCheck] {
        [
            ProtocolCheck(name: "time", flag: .measurement) { probe throws(ProtocolProbe.Complaint) in
                // Until the sum is reached, or there are so many; at least one.
                for (minimum, maximum, expected) in [(0, 5, 1), (1 << 50, 3, 3)] as [(UInt64, UInt64, Int)] {
                    let limits: [String: JSONValue] = [
                        "minimumNanoseconds": .integer(minimum), "maximumIterations": .integer(maximum),
                    ]
                    let answer = try probe.measure(.sequential(windowByteCount: 64), "time", limits)
                    guard let found = answer["nanoseconds"]?.array, found.allSatisfy({ $0.integer != nil }),
                        found.count == expected
                    else {
                        throw ProtocolProbe.Complaint(
                            text: "time for at least \(minimum) ns, at most \(maximum) iterations: "
                                + "\(answer["nanoseconds"]?.text ?? "nothing"): expected \(expected) integers")
                    }
                }
            },
            ProtocolCheck(name: "latencies", flag: .measurement) { probe throws(ProtocolProbe.Complaint) in
                let answer = try probe.measure(
                    .random(rangeByteCount: 8, seed: 1, readCount: 6), "latencies", [:])
                guard answer["latencies"]?.array?.compactMap(\.integer).count == 6 else {
                    throw ProtocolProbe.Complaint(
                        text: "latencies of 6 reads: \(answer["latencies"]?.text ?? "nothing"): expected 6 integers")
                }
            },
        ]
    }
}

extension ProtocolProbe {
    fileprivate func measure(
        _ workload: Workload, _ collect: String, _ members: [String: JSONValue]
    ) throws(Complaint) -> JSONValue {
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

    fileprivate func checkDigest(_ workload: Workload, _ what: String) throws(Complaint) {
        var delivered: [UInt8] = []
        do throws(DecryptionError) {
            for read in try workload.reads(plaintextByteCount: fixture.plaintext.byteCount) {
                delivered += try fixture.plaintext.bytes(read.offset..<read.offset + read.count)
            }
        } catch {
            throw Complaint(text: "\(what): the expected bytes cannot be had: \(error)")
        }
        let answer = try measure(workload, "digest", [:])
        let digest = Hexadecimal.encode(SHAFunction.sha256.hash(delivered))
        guard answer["digest"] == .string(digest), answer["deliveredByteCount"] == JSONValue(count: delivered.count)
        else {
            throw Complaint(
                text: "\(what): \(answer["digest"]?.text ?? "nothing") of "
                    + "\(answer["deliveredByteCount"]?.text ?? "no") bytes: expected \(digest) of \(delivered.count)")
        }
    }
}
