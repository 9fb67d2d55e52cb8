import RandomAccess
import SubjectProtocol
import Support
import Vectors

/// A subject's process, which is started when it is needed, and restarted after it failed to answer.
final class ExternalSession {
    /// The max total wait for answers that never come, so that a silent subject does not hold up the run for hours.
    private static let longestWait = Duration.seconds(60)
    private static let maxDeaths = 2000
    /// The max number of times that the subject may hang or die in one class of vectors.
    private static let maxTroubleOfClass = 25
    /// The number of timeouts after which the session allows an answer only a multiple of the slowest one's time.
    private static let maxFullTimeouts = 5
    /// Answers of at least this many bytes are used to measure the subject's speed.
    private static let timedByteCount = 1 << 20
    /// A longer line is not one of the protocol's. Only measurements have longer ones, and the harness does not ask for
    /// that many figures.
    private static let longestLine = 1 << 20

    /// The command line, for `/bin/sh -c`.
    let command: String
    /// The number of the current process. Objects that were opened in an earlier one are gone.
    private(set) var generation = 0
    /// The number of `read` requests that were sent.
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

    /// The time that the next process may take for each answer.
    var timeout: Duration {
        guard timeoutCount >= Self.maxFullTimeouts else { return longestTimeout }
        return min(longestTimeout, max(.milliseconds(250), slowestAnswer * 50))
    }

    /// Returns the estimated time of a read of `byteCount` bytes, from the last long answer.
    func expectedTime(of byteCount: Int) -> Duration { timePerByte * byteCount }

    /// The reason to stop, or `nil`.
    var reasonToGiveUp: String? {
        if isInterrupted() { return "it was interrupted" }
        if waited >= Self.longestWait { return "\(timeoutCount) answers did not come in time" }
        if deathCount >= Self.maxDeaths { return "the subject had to be started \(deathCount) times" }
        return nil
    }

    /// Says whether vectors with these flags are worth running; the subject may have hung or died in them before.
    func isWorthAsking(_ flags: [String]) -> Bool {
        reasonToGiveUp == nil && troubleOfClass[flags, default: 0] < Self.maxTroubleOfClass
    }

    /// Runs `body`, and notes whether the subject failed to answer vectors with these flags.
    func noteTrouble<Value>(_ flags: [String], _ body: () -> Value) -> Value {
        let before = timeoutCount + deathCount
        defer { if timeoutCount + deathCount > before { troubleOfClass[flags, default: 0] += 1 } }
        return body()
    }

    /// Returns an `id` that no object has or had.
    func makeID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// Starts a separate process and says hello.
    func start() throws(SubjectError) -> (process: SubjectProcess, answer: SubjectAnswer) {
        let process = try SubjectProcess(
            command: ["/bin/sh", "-c", command], timeout: timeout, longestLine: Self.longestLine)
        return (process, try process.exchange(Self.hello))
    }

    /// Sends a request and returns its answer, good or not.
    ///
    /// - Throws: `SubjectError` if there is no answer; the subject is then restarted for the next request.
    func ask(
        _ request: JSONValue, serving source: (any ByteSource)? = nil,
        largestPayload: UInt64 = Workload.largestRead
    ) throws(SubjectError) -> SubjectAnswer {
        if request["op"]?.string == "read" { readCount += 1 }
        return try ask(request.line, serving: source, largestPayload: largestPayload)
    }

    /// Sends bytes, which need not be a proper request.
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

    /// Ends the process, and with it all objects; the next request starts another.
    func restart() {
        process = nil
        generation += 1
    }

    /// Restarts the subject if its answers no longer match the requests, for example after a duplicate answer.
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

/// A subject's description of itself. Source: PROTOCOL.md, "Requests".
struct ExternalHello: Hashable, Sendable {
    var name: String
    var version: String
    var strategies: [String]
    var keyByteCounts: [UInt64]
    var isServed: Bool
    var readsPaths: Bool
    /// The smallest unit that the subject fetches.
    var granularity: FetchRule.Granularity
    var measures: Bool

    /// Source: FIPS 197, section 5.
    private static let aesKeyByteCounts: [UInt64] = [16, 24, 32]

    /// The AES key lengths that the subject lists.
    var knownKeyByteCounts: [Int] { keyByteCounts.filter(Self.aesKeyByteCounts.contains).map { Int($0) } }

    /// The strategies that there are vectors for.
    static let knownStrategies =
        Format.names + [PlaylistObject.strategyName, FilmObject.strategyName, Format.describedName]

    /// Says whether the subject supports playlists.
    var readsPlaylists: Bool { strategies.contains(PlaylistObject.strategyName) }

    /// The reason that an answer is not a proper one.
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
                description: "hello: expected \"strategies\" with \"\(Format.describedName)\", for formats by their "
                    + "description, or with one at least of " + Self.knownStrategies.dropLast().joined(separator: ", "))
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

    /// Says whether the subject claims to support a group.
    func supports(_ group: VectorGroup) -> Bool {
        guard group.hasStrategy else { return strategies.contains(group.strategyName) }
        return group.strategy.format.isOffered(by: strategies) && lists(group.need)
    }

    /// Says whether the subject claims to support a strategy with a key length.
    func supports(_ strategy: Strategy, keyByteCount: Int) -> Bool {
        strategy.format.isOffered(by: strategies) && lists(CipherNeed(of: strategy, keyByteCount: keyByteCount))
    }

    /// Says whether the subject lists the length of the AES key. Other ciphers have one key length, or their names give
    /// it.
    private func lists(_ need: CipherNeed?) -> Bool {
        need?.aesKeyByteCount.map { keyByteCounts.contains(UInt64($0)) } ?? true
    }

    /// Says whether the subject's lists imply the cipher of a group's object: the subject lists the format by name, and
    /// the format has one cipher. A film may have a scheme or a form that the subject does not know.
    func promises(_ group: VectorGroup) -> Bool {
        guard group.hasStrategy else { return group.film == nil }
        guard case .bytes = group.strategy.format.cipher.expression else { return false }
        return strategies.contains(group.strategy.name)
    }
}
