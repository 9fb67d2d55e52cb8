import Foundation
import HTTPSources
import RandomAccess
import Support
import Synchronization
import TestSupport
import Testing

/// The object that `answers.py` serves.
private let object: [UInt8] = (0..<300_000).map { (place: Int) -> UInt8 in
    let value: Int = 31 * place + place / 251
    return UInt8(truncatingIfNeeded: value)
}

/// Hands out where windows start, to any number of threads.
private final class Turns: Sendable {
    private let whole: Range<Int>
    private let byteCount: Int
    private let place: Mutex<Int>

    init(_ whole: Range<Int>, byteCount: Int) {
        self.whole = whole
        self.byteCount = byteCount
        place = Mutex(whole.lowerBound)
    }

    func next() -> Int? {
        place.withLock { place in
            defer { place += byteCount }
            return place < whole.upperBound ? place : nil
        }
    }
}

@Suite("answers to ranges, right and wrong", .enabled(if: Peers.python != nil, "python3 is not installed"), .serialized)
struct RangeServerTests {
    private let peer: PeerProcess

    init() throws {
        peer = try PeerProcess(script: "answers.py")
    }

    private func options() -> HTTPSource.Options {
        var options = HTTPSource.Options()
        options.idleTimeout = .seconds(1)
        options.deadline = .seconds(10)
        return options
    }

    private func url(_ path: String) -> String { "http://127.0.0.1:\(peer.port)/\(path)" }

    /// Opens and reads from the middle on.
    private func read(_ path: String, _ options: HTTPSource.Options? = nil) throws {
        let source = try HTTPSource(url(path), options: options ?? self.options())
        #expect(source.byteCount == UInt64(object.count))
        let bytes = try source.bytes(100_001..<299_999)
        #expect(Samples.difference(bytes, Array(object[100_001..<299_999])) == nil)
    }

    @Test(
        "each wrong answer is an error with a name",
        arguments: [
            ("whole", "rangeIgnored"), ("short", "closedInBody"), ("reset", "closedInBody"), ("long", "bodyTooLong"),
            ("longer-length", "wrongLength"), ("shorter-length", "wrongLength"), ("elsewhere", "wrongRange"),
            ("more", "wrongRange"), ("unnamed", "wrongRange"), ("nonsense", "wrongRange"),
            ("unknown-length", "unknownLength"), ("huge", "tooLarge"),
            ("multipart", "multipartBody"), ("encoded", "encodedBody"),
            ("moved", "redirected"), ("moved-round", "redirected"), ("moved-on-6", "redirected"),
            ("moved-nowhere", "redirected"), ("moved-later", "redirected"), ("missing", "badStatus"),
            ("garbage", "invalidAnswer"), ("silent", "noAnswer"),
            ("closed", "closedBeforeAnswer"), ("stalls", "noAnswer"), ("changed-tag", "objectChanged"),
            ("changed-length", "objectChanged"), ("changed-whole", "objectChanged"), ("tag-lost", "objectChanged"),
            ("changes-after-cut", "objectChanged"), ("token", "badStatus"),
        ])
    func wrongAnswer(_ path: String, _ name: String) {
        #expect(failureName { try read(path) } == name)
    }

    @Test(
        "what can pass is tried again, and the bytes are right",
        arguments: [
            "good", "late", "cut-once", "cut-once-unnamed", "subset", "if-range", "cuts", "moved-nearby", "moved-on-0",
            "moved-on-4",
        ])
    func rightInTheEnd(_ path: String) throws {
        var options = options()
        options.readAheadDepth = 0
        try read(path, options)
        try read(path)
        options.lastByteCount = 1000
        try read(path, options)
        options.firstByteCount = 0
        try read(path, options)
    }

    @Test("bytes that come too slowly are late by the limit, and the limit is one for all that is tried")
    func late() throws {
        var options = options()
        options.idleTimeout = .seconds(8)
        options.deadline = .seconds(2)
        options.readAheadDepth = 1
        let source = try HTTPSource(url("trickles"), options: options)
        source.adviseSequential(0..<source.byteCount)
        do {
            _ = try source.bytes(70_000..<290_000)
            Issue.record("all came")
        } catch {
            #expect("\(error)".contains("late: not all came in 2000 ms"), "\(error)")
        }
        #expect(failureName { _ = try HTTPSource(url("silent"), options: options) } == "noAnswer")
        // The opening's and that of what is read ahead: after the time is over, nothing is asked for again.
        #expect(try count("/trickles") == 2)
    }

    @Test("bytes are used that came all, though the answer has no end", arguments: [0, 4])
    func unended(readAheadDepth: Int) throws {
        var options = options()
        options.readAheadDepth = readAheadDepth
        try read("unended", options)
    }

    @Test("an object without bytes")
    func empty() throws {
        let source = try HTTPSource(url("empty"), options: options())
        #expect(source.byteCount == 0)
        #expect(try source.bytes(0..<0).isEmpty)
    }

    @Test("nothing is tried again more often than said")
    func attempts() throws {
        var options = options()
        options.attempts = 2
        #expect(failureName { _ = try HTTPSource(url("closed"), options: options) } == "closedBeforeAnswer")
        #expect(try count("/closed") == 2)
    }

    @Test("connections are kept")
    func keptConnections() throws {
        var options = options()
        options.readAheadDepth = 0
        let source = try HTTPSource(url("good"), options: options)
        for place in 0..<20 {
            let range = 70_000 + 1000 * place..<70_100 + 1000 * place
            #expect(try source.bytes(range) == Array(object[range]))
        }
        #expect(try count("/good") == 21)
        // One for reading, one for each question here.
        #expect(try count("connections") == 3)
    }

    @Test("reading in order asks ahead, and reading here and there does not")
    func readAhead() throws {
        let source = try HTTPSource(url("good"), options: options())
        source.adviseSequential(0..<UInt64(object.count))
        var place = 0
        while place < object.count {
            let end = min(place + 7001, object.count)
            #expect(Samples.difference(try source.bytes(place..<end), Array(object[place..<end])) == nil, "\(place)")
            place = end
        }
        #expect(try count("/good") <= 3)
        let other = try HTTPSource(url("good?2"), options: options())
        for place in [200_000, 100_000, 280_000, 150_000] { _ = try other.bytes(place..<place + 10) }
        #expect(try count("/good") <= 3 + 5)
    }

    @Test("threads that share a reading ask for each byte once", arguments: [1, 4], [1 << 12, 1 << 15, 1 << 17])
    func sharedReading(_ threadCount: Int, _ windowByteCount: Int) async throws {
        var options = options()
        options.largestBlockByteCount = 1 << 13
        options.firstByteCount = 1 << 10
        let source = try HTTPSource(url("good"), options: options)
        let whole = 5000..<290_001
        source.adviseSequential(UInt64(whole.lowerBound)..<UInt64(whole.upperBound))
        let turns = Turns(whole, byteCount: windowByteCount)
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<threadCount {
                group.addTask {
                    var isRight = true
                    while let start = turns.next() {
                        // As in CBC, whose IV is the block before.
                        let window = start - 16..<min(start + windowByteCount, whole.upperBound)
                        let wanted = start == whole.lowerBound ? start..<window.upperBound : window
                        if (try? source.bytes(wanted)) != Array(object[wanted]) { isRight = false }
                    }
                    return isRight
                }
            }
            for await isRight in group { #expect(isRight) }
        }
        let windowCount = (whole.count + windowByteCount - 1) / windowByteCount
        let byteCount = try count("bytes") - options.firstByteCount
        #expect(byteCount >= whole.count)
        #expect(byteCount <= whole.count + (threadCount == 1 ? 0 : 16 * (windowCount - 1)))
    }

    @Test("the last bytes come when an object is opened, and are not asked for again", arguments: [1000, 0])
    func lastBytes(firstByteCount: Int) throws {
        var options = options()
        (options.firstByteCount, options.lastByteCount) = (firstByteCount, 5000)
        let source = try HTTPSource(url("good"), options: options)
        #expect(source.byteCount == UInt64(object.count))
        #expect(try source.bytes(295_000..<300_000) == Array(object[295_000...]))
        #expect(try source.bytes(299_999..<300_000) == [object[299_999]])
        #expect(try count("/good") == (firstByteCount == 0 ? 1 : 2))
        // What lies before them is one request, however far a read goes into them.
        #expect(try source.bytes(290_000..<300_000) == Array(object[290_000...]))
        #expect(try count("/good") == (firstByteCount == 0 ? 2 : 3))
        source.adviseSequential(0..<source.byteCount)
        #expect(Samples.difference(try source.bytes(0..<300_000), object) == nil)
        // More than there are, of an object that is shorter.
        options.lastByteCount = 400_000
        #expect(Samples.difference(try HTTPSource(url("good"), options: options).bytes(0..<300_000), object) == nil)
        #expect(try HTTPSource(url("empty"), options: options).byteCount == 0)
        #expect(failureName { _ = try HTTPSource(url("missing"), options: options) } == "badStatus")
    }

    @Test(
        "where the last bytes do not come, the object is opened without them, and the server not asked so again",
        arguments: [1000, 0],
        ["last-refused", "last-ignored", "last-closed", "last-as-first", "last-short"])
    func noLastBytes(firstByteCount: Int, _ path: String) throws {
        var options = options()
        (options.firstByteCount, options.lastByteCount) = (firstByteCount, 5000)
        let connections = try HTTPConnections(url(path), options: options)
        for _ in 0..<3 {
            let source = try HTTPSource(url(path), options: options, connections: connections)
            #expect(Samples.difference(try source.bytes(0..<object.count), object) == nil)
        }
        #expect(try count("last /\(path)") == 1)
    }

    @Test("last bytes of another version are not taken with first ones, and are an error with what is read later")
    func otherLastBytes() throws {
        var options = options()
        options.lastByteCount = 5000
        let both = try HTTPSource(url("last-changed"), options: options)
        #expect(Samples.difference(try both.bytes(0..<object.count), object) == nil)
        options.firstByteCount = 0
        let last = try HTTPSource(url("last-changed"), options: options)
        #expect(failureName { _ = try last.bytes(0..<10) } == "objectChanged")
    }

    @Test("many threads read one source")
    func manyThreads() async throws {
        let source = try HTTPSource(url("good"), options: options())
        await withTaskGroup(of: Bool.self) { group in
            for seed in 0..<16 {
                group.addTask {
                    (0..<10).allSatisfy { turn in
                        let start = (seed * 7919 + turn * 104_729) % 290_000
                        return (try? source.bytes(start..<start + 5000)) == Array(object[start..<start + 5000])
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }

    @Test("what an error says holds no secret")
    func secrets() throws {
        var options = options()
        options.authorization = "Bearer wrong-secret"
        for path in ["token?token=secret", "moved?key=secret", "missing?secret"] {
            do {
                _ = try HTTPSource(url(path), options: options)
                Issue.record("\(path) opens")
            } catch {
                #expect(!"\(error)".contains("secret"), "\(error)")
            }
        }
        do {
            _ = try HTTPSource(url("moved-round?key=secret"), options: options)
            Issue.record("it opens")
        } catch {
            #expect("\(error)".contains(" \(url("moved-round"))?… instead: expected"), "\(error)")
            #expect(!"\(error)".contains("secret"), "\(error)")
        }
        options.authorization = "Bearer secret"
        let source = try HTTPSource(url("token"), options: options)
        #expect(source.warnings.contains { $0.contains("in the clear") })
        #expect(!source.warnings.contains { $0.contains("secret") })
    }

    @Test("another server that this one names gets no authorization, and none with a pin")
    func elsewhere() throws {
        let other = try PeerProcess(script: "answers.py")
        var options = options()
        options.authorization = "Bearer secret"
        let here = try HTTPSource(url("moved-to-\(peer.port)"), options: options)
        #expect(here.url == url("token") && here.byteCount == UInt64(object.count))
        #expect(failureName { _ = try HTTPSource(url("moved-to-\(other.port)"), options: options) } == "badStatus")
        options.policy.pins = [try #require(PublicKeyPin(String(repeating: "0", count: 64)))]
        #expect(failureName { _ = try HTTPSource(url("moved-to-\(other.port)"), options: options) } == "redirected")
        #expect(try HTTPSource(url("moved-to-\(peer.port)"), options: options).byteCount == UInt64(object.count))
    }

    @Test("a port without a listener")
    func unreachable() {
        let port = PeerProcess.freePort()
        #expect(failureName { _ = try HTTPSource("http://127.0.0.1:\(port)/x", options: options()) } == "unreachable")
        #expect(failureName { _ = try HTTPSource("http://localhost:\(port)/x", options: options()) } == "unreachable")
    }

    private func count(_ name: String) throws -> Int {
        let source = try HTTPSource(url("count"), options: options())
        let text = try source.bytes(0..<Int(source.byteCount))
        return Int(try #require(JSONValue.parse(text))[name]?.integer ?? 0)
    }
}
