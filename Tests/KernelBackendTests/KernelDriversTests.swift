import Testing

@testable import KernelBackend

@Suite("the kernel's list of drivers")
struct KernelDriversTests {
    private static let list = """
        name         : cbc(aes)
        driver       : cbc(aes-generic)
        priority     : 100

        name         : cbc(aes)
        driver       : cbc-aes-aesni
        module       : aesni_intel
        priority     : 400

        name         : ctr(aes)
        driver       : ctr-aes-vaes-avx512
        priority     : 800

        name         : ecb(aes)
        driver       : ecb(aes-fixed-time)
        priority     : 101
        """

    @Test(
        "features are those of the driver with the highest priority",
        arguments: [
            (["cbc(aes)"], ["aes"]), (["ctr(aes)"], ["vaes"]), (["cbc(aes)", "ctr(aes)"], ["aes", "vaes"]),
            (["ecb(aes)"], []), (["xts(aes)"], []),
        ])
    func features(ciphers: [String], expected: [String]) {
        let drivers = KernelDrivers(lines: Self.list.split(separator: "\n").map(String.init))
        #expect(drivers.features(for: ciphers) == expected)
    }

    @Test("a list that makes no sense has no features")
    func nonsense() {
        #expect(KernelDrivers(lines: ["driver : aesni", "priority: 9", "", "name"]).features(for: ["cbc(aes)"]) == [])
    }
}
