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
