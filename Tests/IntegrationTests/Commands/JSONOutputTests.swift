import Foundation
import Support
import TestSupport
import Testing

/// The kinds of values that scripts rely on.
private enum Kind: String {
    case string, integer, bool, strings, integers, objects, number, null

    func holds(_ value: JSONValue?) -> Bool {
        switch (self, value) {
        case (.string, .string?), (.integer, .integer?), (.bool, .bool?), (.null, .null?): true
        case (.number, .integer?), (.number, .number?): true
        case (.strings, .array(let values)?): values.allSatisfy { $0.string != nil }
        case (.integers, .array(let values)?): values.allSatisfy { $0.integer != nil }
        case (.objects, .array(let values)?): values.allSatisfy { if case .object = $0 { true } else { false } }
        default: false
        }
    }
}

private func expect(_ value: JSONValue, _ kinds: [String: Kind]) {
    for (member, kind) in kinds {
        #expect(
            kind.holds(value[member]), "\(member) is \(value[member]?.text ?? "missing"): expected \(kind.rawValue)")
    }
}

private func number(_ value: JSONValue?) -> Double? {
    switch value {
    case .integer(let value)?: Double(value)
    case .number(let value)?: value
    default: nil
    }
}

private func json(_ arguments: [String]) throws -> JSONValue {
    let run = try Chunkwise.run(arguments + ["--format", "json"])
    #expect(run.status == 0 && run.errorLines.isEmpty, "\(run.errorLines)")
    return try #require(JSONValue.parse(run.output), "no JSON: \(run.text.prefix(200))")
}

@Suite("JSON that scripts rely on")
struct JSONOutputTests {
    @Test("backends")
    func backends() throws {
        let list = try #require(try json(["backends"])["backends"]?.array)
        #expect(list.count >= 4)
        for backend in list {
            expect(
                backend,
                [
                    "name": .string, "available": .bool, "keyByteCounts": .integers, "modes": .strings,
                    "cpuFeatures": .strings,
                ])
            let isAvailable = backend["available"] == true
            expect(backend, ["version": isAvailable ? .string : .null, "reason": isAvailable ? .null : .string])
        }
    }

    @Test("a backend that this machine lacks is no answer when it is asked for by name")
    func unavailableBackend() throws {
        let list = try #require(try json(["backends"])["backends"]?.array)
        for name in list.filter({ $0["available"] == false }).compactMap({ $0["name"]?.string }) {
            Chunkwise.expectFailure(try Chunkwise.run(["verify", "--backend", name]), 2, "not available")
        }
    }

    @Test("limits")
    func limits() throws {
        let limits = try json(["limits", "--threads", "1"])
        expect(limits, ["aesUnit": .string])
        let rate: [String: Kind] = ["bytesPerSecond": .integer, "byteCount": .integer, "nanoseconds": .integers]
        for half in [limits["oneThread"], limits["allThreads"]] {
            let half = try #require(half)
            expect(
                half,
                ["threads": .integer, "aesDecrypt": .objects, "memoryRead": .objects, "pageCacheRead": .objects])
            for key in half["aesDecrypt"]?.array ?? [] { expect(key, rate.merging(["keyByteCount": .integer]) { $1 }) }
            let copies = ["cacheCopy", "memoryCopy"].compactMap { half[$0] }
            let reads = ["memoryRead", "pageCacheRead"].flatMap { half[$0]?.array ?? [] }
            #expect(copies.count == 2 && !reads.isEmpty)
            for buffer in copies + reads { expect(buffer, rate.merging(["bufferByteCount": .integer]) { $1 }) }
        }
    }

    @Test("verify")
    func verify() throws {
        let vectors = Project.path("data/vectors/sp800-38a.json")
        let result = try json(["verify", "--backend", "libgcrypt", "--backend", "openssl", "--vectors", vectors])
        let counts: [String: Kind] = [
            "passed": .integer, "failed": .integer, "unsupported": .integer, "notRun": .integer,
        ]
        expect(result, counts.merging(["subjects": .objects]) { $1 })
        let subjects = try #require(result["subjects"]?.array)
        #expect(subjects.map { $0["name"]?.string } == ["libgcrypt", "openssl"])
        for subject in subjects { expect(subject, counts.merging(["name": .string, "failures": .objects]) { $1 }) }
        let passed = subjects.compactMap { $0["passed"]?.integer }
        #expect(result["passed"]?.integer == passed.reduce(0, +) && passed.allSatisfy { $0 > 0 })
    }

    @Test(
        "measure",
        arguments: [
            [], ["--workload", "random:100", "--reads", "5", "--strategy", "cbc-chunked:chunk=1KiB"],
        ])
    func measure(options: [String]) throws {
        let quick = ["--object-size", "64KiB", "--window", "4KiB", "--rounds", "3", "--milliseconds", "1"]
        let cell = try json(["measure"] + quick + options)
        expect(
            cell,
            [
                "backend": .string, "strategy": .string, "chunkByteCount": options.isEmpty ? .null : .integer,
                "windowByteCount": .integer, "workload": .string, "threads": .integer, "bytesPerSecond": .number,
                "bytesPerSecondLow": .number, "bytesPerSecondHigh": .number, "nanoseconds": .integers,
                "digest": .string,
            ])
        expect(
            cell["latency"] ?? .null,
            ["p50": .integer, "p90": .integer, "p99": .integer, "p999": .integer, "max": .integer])
        if cell["memory"] != .null {
            expect(
                cell["memory"] ?? .null,
                ["baselineByteCount": .integer, "peakByteCount": .integer, "boundByteCount": .integer])
        }
        expect(cell["amplification"] ?? .null, ["fetched": .number, "decrypted": .number])
        // Each figure is one that the others allow.
        let rates = try ["bytesPerSecondLow", "bytesPerSecond", "bytesPerSecondHigh"].map {
            try #require(number(cell[$0]), "\($0)")
        }
        #expect(rates[0] > 0 && rates == rates.sorted())
        let latencies = try ["p50", "p90", "p99", "p999", "max"].map { try #require(cell["latency"]?[$0]?.integer) }
        #expect(latencies[0] > 0 && latencies == latencies.sorted())
        let amplification = try ["fetched", "decrypted"].map { try #require(number(cell["amplification"]?[$0])) }
        #expect(amplification.allSatisfy { (1..<(options.isEmpty ? 1.01 : 4)).contains($0) }, "\(amplification)")
        if let limit = number(cell["limitBytesPerSecond"]) {
            let share = try #require(number(cell["limitShare"]))
            #expect(abs(share * limit / rates[1] - 1) < 1e-6, "\(share) of \(limit)")
            #expect(["aesUnit", "pageCacheRead"].contains(cell["limit"]?.string))
        } else {
            #expect(cell["limitShare"] == .null && cell["limit"] == .null)
        }
        // The seed decides on plaintext and reads, whatever decrypts them.
        #expect(try json(["measure"] + quick + options + ["--backend", "openssl"])["digest"] == cell["digest"])
        #expect(cell["strategy"]?.string == (options.isEmpty ? "cbc-continuous" : "cbc-chunked:chunk=1KiB"))
        #expect(cell["windowByteCount"] == 4096 && cell["threads"] == 1 && cell["digest"]?.string?.utf8.count == 64)
        #expect((cell["nanoseconds"]?.array?.count ?? 0) >= 2)
    }

    @Test("measure on a file of the user's")
    func measureInput() throws {
        let folder = try TemporaryFolder()
        try folder.file("plain", Samples.bytes(5000))
        _ = try Chunkwise.convert("encrypt", folder, ["plain", "enc"])
        let cell = try json([
            "measure", "--input", folder.path("enc"), "--key-file", folder.path("key"), "--iv", Chunkwise.ivHex,
            "--rounds",
            "1", "--milliseconds", "1",
        ])
        #expect(cell["objectByteCount"] == 5000)
    }
}
