import RandomAccess
import SubjectProtocol
import Support
import Vectors

/// A subject that is started when it is needed, and started anew after it failed to answer.
final class ExternalSession {
    /// Subjects that never answer must not hold up the run for hours.
    private static let longestWait = Duration.seconds(60)
    private static let maxDeaths = 2000
    /// Nor is a class of vectors asked on and on that the subject hangs or dies in.
    private static let maxTroubleOfClass = 25
    /// After so many answers that never came, those that come are waited for much longer than any took, and no longer.
    private static let maxFullTimeouts = 5
    /// Answers with so many bytes say how fast a subject is.
    private static let timedByteCount = 1 << 20
    /// A line that is longer is none of the protocol's, except in measurements, which are not asked for so many
    /// figures.
    private static let longestLine = 1 << 20

    /// The command line, for `/bin/sh -c`.
    let command: String
    /// Which process this is: objects that were opened in an earlier one are gone.
    private(set) var generation = 0
    /// The `read` requests that were sent.
    private(set) var readCount = 0

    private let longestTimeout: Duration
    private let isInterrupted: @Sendable () -> Bool
    private var slowestAnswer = Duration.zero
    /// The time per byte of the last long answer.
    private var timePerByte = Duration.zero
    private var process: SubjectProcess?
    private var timeoutCount = 0
    private var deathCount = 0
    private var waited = Duration.zero
    private var troubleOfClass: [[String]: Int] = [:]
    private var lastID: UInt64 = 0

    init(command: String, timeout: Duration, isInterrupted: @escaping @Sendable () -> Bool = { false }) {
        self.command = command
        self.isInterrupted = isInterrupted
        self.longestTimeout = timeout
    }

    /// How long the next process may take for each answer.
    var timeout: Duration {
        guard timeoutCount >= Self.maxFullTimeouts else { return longestTimeout }
        return min(longestTimeout, max(.milliseconds(250), slowestAnswer * 50))
    }

    /// Estimates the time of a read of so many bytes by the last long answer.
    func expectedTime(of byteCount: Int) -> Duration { timePerByte * byteCount }

    /// Why there is no point in going on, or `nil`.
    var reasonToGiveUp: String? {
        if isInterrupted() { return "it was interrupted" }
        if waited >= Self.longestWait { return "\(timeoutCount) answers did not come in time" }
        if deathCount >= Self.maxDeaths { return "the subject had to be started \(deathCount) times" }
        return nil
    }

    /// Whether there is a point in asking vectors with these flags, which the subject may have hung or died in before.
    func isWorthAsking(_ flags: [String]) -> Bool {
        reasonToGiveUp == nil && troubleOfClass[flags, default: 0] < Self.maxTroubleOfClass
    }

    /// Does something, and notes whether answers to vectors with these flags did not come.
    func noteTrouble<Value>(_ flags: [String], _ body: () -> Value) -> Value {
        let before = timeoutCount + deathCount
        defer { if timeoutCount + deathCount > before { troubleOfClass[flags, default: 0] += 1 } }
        return body()
    }

    /// An `id` that no object has or had.
    func makeID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// Starts a process of its own and says hello.
    func start() throws(SubjectError) -> (process: SubjectProcess, answer: SubjectAnswer) {
        let process = try SubjectProcess(
            command: ["/bin/sh", "-c", command], timeout: timeout, longestLine: Self.longestLine)
        return (process, try process.exchange(Self.hello))
    }

    /// Sends a request and returns its answer, good or not.
    ///
    /// - Throws: `SubjectError` if there was none; the subject is then started anew for the next request.
    func ask(
        _ request: JSONValue, serving source: (any ByteSource)? = nil,
        largestPayload: UInt64 = Workload.largestRead
    ) throws(SubjectError) -> SubjectAnswer {
        if request["op"]?.string == "read" { readCount += 1 }
        return try ask(request.line, serving: source, largestPayload: largestPayload)
    }

    /// Sends bytes that need be no proper request.
    func ask(
        _ bytes: [UInt8], serving source: (any ByteSource)? = nil,
        largestPayload: UInt64 = Workload.largestRead
    ) throws(SubjectError) -> SubjectAnswer {
        do throws(SubjectError) {
            let running = try running()
            let start = ContinuousClock.now
            let answer = try running.exchange(bytes, serving: source, largestPayload: largestPayload)
            let time = start.duration(to: .now)
            slowestAnswer = max(slowestAnswer, time)
            if answer.payload.count >= Self.timedByteCount { timePerByte = time / answer.payload.count }
            return answer
        } catch {
            restart()
            if case .timeout(let seconds) = error {
                timeoutCount += 1
                waited += .seconds(seconds)
            } else {
                deathCount += 1
            }
            throw error
        }
    }

    /// Forgets the process, and with it all objects; the next request starts another.
    func restart() {
        process = nil
        generation += 1
    }

    /// Starts the subject anew if its answers no longer belong to the requests, as after an answer that came twice.
    func resynchronize() {
        guard process != nil else { return }
        if let answer = try? ask(Self.hello), answer.isGood, answer.members["strategies"] != nil { return }
        restart()
        deathCount += 1
    }

    private static let hello = (["op": "hello", "protocol": 1] as JSONValue).line

    private func running() throws(SubjectError) -> SubjectProcess {
        if let process { return process }
        let started = try start()
        guard started.answer.isGood else { throw .framing("hello is answered with an error after a restart") }
        process = started.process
        return started.process
    }
}

/// What a subject says about itself. Source: PROTOCOL.md, "Requests".
struct ExternalHello: Hashable, Sendable {
    var name: String
    var version: String
    var strategies: [String]
    var keyByteCounts: [UInt64]
    var isServed: Bool
    var readsPaths: Bool
    /// How much the subject fetches at least.
    var granularity: FetchRule.Granularity
    var measures: Bool

    /// Source: FIPS 197, section 5.
    private static let aesKeyByteCounts: [UInt64] = [16, 24, 32]

    /// The AES key lengths that it lists.
    var knownKeyByteCounts: [Int] { keyByteCounts.filter(Self.aesKeyByteCounts.contains).map { Int($0) } }

    /// What there are vectors for.
    static let knownStrategies = Format.names + [PlaylistObject.strategyName, Format.describedName]

    /// Whether it can do playlists.
    var readsPlaylists: Bool { strategies.contains(PlaylistObject.strategyName) }

    /// Why an answer is no proper one.
    typealias Mismatch = ProtocolProbe.Mismatch

    init(_ answer: JSONValue) throws(Mismatch) {
        guard answer["protocol"]?.integer == 1 else { throw Mismatch(description: "hello: expected \"protocol\": 1") }
        guard let name = answer["name"]?.string, !name.isEmpty, let version = answer["version"]?.string else {
            throw Mismatch(description: "hello: expected a \"name\" and a \"version\", both texts")
        }
        for (member, text) in [("name", name), ("version", version)] {
            let isPlain = text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f }
            guard isPlain, text.utf8.count <= 500 else {
                throw Mismatch(
                    description: "hello: \"\(member)\" of \(text.utf8.count) bytes: expected a line of at most 500")
            }
        }
        guard let strategies = answer["strategies"]?.array?.compactMap(\.string),
            strategies.contains(where: Self.knownStrategies.contains)
        else {
            throw Mismatch(
                description: "hello: expected \"strategies\" with one at least of "
                    + Self.knownStrategies.joined(separator: ", "))
        }
        guard let keyByteCounts = answer["keyByteCounts"]?.array?.compactMap(\.integer),
            keyByteCounts.contains(where: { Self.aesKeyByteCounts.contains($0) })
        else { throw Mismatch(description: "hello: expected \"keyByteCounts\" with one at least of 16, 24, 32") }
        guard let sources = answer["sources"]?.array?.compactMap(\.string),
            sources.contains("served") || sources.contains("path")
        else { throw Mismatch(description: "hello: expected \"sources\" with \"path\", \"served\" or both") }
        let granularities: [String: FetchRule.Granularity] = ["block": .block, "chunk": .chunk]
        guard let granularity = answer["granularity"]?.string.flatMap({ granularities[$0] }) else {
            throw Mismatch(description: "hello: expected a \"granularity\" of block or chunk")
        }
        guard let measures = answer["measures"]?.bool else {
            throw Mismatch(description: "hello: expected \"measures\", true or false")
        }
        self.name = name
        self.version = version
        self.strategies = strategies
        self.keyByteCounts = keyByteCounts
        self.isServed = sources.contains("served")
        self.readsPaths = sources.contains("path")
        self.granularity = granularity
        self.measures = measures
    }

    /// Whether it says that it can do what a group asks for.
    func supports(_ group: VectorGroup) -> Bool {
        guard group.playlist == nil else { return readsPlaylists }
        return group.strategy.format.isOffered(by: strategies) && lists(group.need)
    }

    /// Says whether it can do this by its own account.
    func supports(_ strategy: Strategy, keyByteCount: Int) -> Bool {
        strategy.format.isOffered(by: strategies) && lists(CipherNeed(of: strategy, keyByteCount: keyByteCount))
    }

    /// Says whether it lists the length of the AES key; other ciphers have one, or a name says it.
    private func lists(_ need: CipherNeed?) -> Bool {
        need?.aesKeyByteCount.map { keyByteCounts.contains(UInt64($0)) } ?? true
    }

    /// Says whether its lists tell that it has the cipher of a group's object: it knows the format by its name, and
    /// the format has one cipher.
    func promises(_ group: VectorGroup) -> Bool {
        guard group.playlist == nil else { return true }
        guard case .bytes = group.strategy.format.cipher.expression else { return false }
        return strategies.contains(group.strategy.name)
    }
}
