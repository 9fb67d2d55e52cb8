import RandomAccess
import SubjectProtocol
import Support
import Testing

@Suite("strategies as they are written down")
struct StrategyParametersTests {
    private static let iv = Block(bigEndianValue: 42)
    static let strategies: [Strategy] = [
        .cbcContinuous(iv: iv, padding: .none), .ctr(iv: iv),
        .cbcChunked(chunkByteCount: 112, iv: iv, ivRule: .fixed, padding: .pkcs7),
        .chunked(.cobblestone(keyByteCount: 16, context: [1, 2])),
        .chunked(.cobblestone(keyByteCount: 32, context: [])),
        .chunked(.tinkAESGCMHKDF(associatedData: [3], segmentByteCount: 4096, derivedKeyByteCount: 16)),
    ]

    @Test("parameters make the strategy that they come from, and are those that its name has", arguments: strategies)
    func roundTrip(strategy: Strategy) throws {
        let parameters = StrategyParameters(strategy)
        #expect(try parameters.strategy() == strategy)
        let names = try #require(StrategyParameters.parameters(of: strategy.name)).map(\.rawValue)
        #expect(Set(parameters.members.keys) == Set(names + ["strategy"]))
    }

    @Test(
        "each parameter has a name of its own and is read from a text, and what is usual makes a strategy",
        arguments: StrategyParameters.textNames)
    func texts(name: String) throws {
        let known = try #require(StrategyParameters.textParameters(of: name))
        #expect(Set(known.map(\.textName)).count == known.count && !known.isEmpty)
        var parameters = StrategyParameters(name: name)
        func isRead(_ text: String, _ parameter: StrategyParameters.Parameter) -> Bool {
            parameters.read(text, for: parameter)
        }
        for parameter in known {
            #expect(!isRead("no such text", parameter) && !parameters.has(parameter))
            let needed = parameter == .iv ? String(repeating: "0f", count: 16) : "1KiB"
            let usual = StrategyParameters.usualText(of: parameter, in: name) ?? needed
            #expect(isRead(usual, parameter) && parameters.has(parameter), "\(parameter)")
        }
        if name == PlaylistRequest.strategyName {
            #expect(parameters.plaintextChunkByteCount == 1 << 20)
            for text in ["1023", "5GiB"] { #expect(!isRead(text, .segmentByteCount)) }
        } else {
            #expect(try parameters.strategy().chunkByteCount == parameters.plaintextChunkByteCount)
        }
        #expect(Set(StrategyParameters.keyByteCounts(of: name)).isSubset(of: [16, 24, 32]))
    }

    @Test("a subject that does not start is a missing input, and one that breaks down is no answer")
    func subjectErrors() {
        #expect(SubjectError.notStarted(command: "x", reason: "y").exitStatus == .missingInput)
        for error in [SubjectError.ended, .timeout(seconds: 1), .framing("x"), .interrupted] {
            #expect(error.exitStatus == .noAnswer, "\(error)")
        }
    }

    @Test("every strategy has its parameters, and each that is missing is named")
    func missing() throws {
        for name in Strategy.names {
            for parameter in try #require(StrategyParameters.parameters(of: name)) {
                let whole = Self.strategies.first { $0.name == name }.map(StrategyParameters.init)
                var parameters = try #require(whole)
                switch parameter {
                case .iv: parameters.iv = nil
                case .padding: parameters.padding = nil
                case .ivRule: parameters.ivRule = nil
                case .chunkByteCount: parameters.chunkByteCount = nil
                case .context: parameters.context = nil
                case .associatedData: parameters.associatedData = nil
                case .segmentByteCount: parameters.segmentByteCount = nil
                case .derivedKeyByteCount: parameters.derivedKeyByteCount = nil
                }
                let error = #expect(throws: DecryptionError.self) { try parameters.strategy() }
                #expect(error?.description.contains(parameter.rawValue) == true, "\(name) without \(parameter)")
            }
        }
        #expect(throws: DecryptionError.self) { try StrategyParameters(name: "cbc").strategy() }
    }
}
