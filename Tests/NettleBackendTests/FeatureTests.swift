import Testing

@testable import NettleBackend

@Suite("what Nettle chooses")
struct FeatureTests {
    @Test("AES instructions where the CPU has them and the override does not leave them out")
    func features() {
        #expect(Nettle.features(machineFeatures: ["sse2", "aes"], override: nil) == ["aes"])
        #expect(Nettle.features(machineFeatures: ["sse2"], override: nil) == [])
        #expect(Nettle.features(machineFeatures: ["sse2"], override: "aesni") == [])
        #expect(Nettle.features(machineFeatures: ["aes"], override: "none") == [])
        #expect(Nettle.features(machineFeatures: ["aes"], override: "vendor:intel,aesni,sha_ni") == ["aes"])
    }

    @Test("the version has two numbers")
    func version() {
        let numbers = Nettle(machineFeatures: []).version.split(separator: ".")
        #expect(numbers.count == 2 && numbers.allSatisfy { UInt($0) != nil })
    }
}
