import ByteSources
import Testing

@Suite("addresses")
struct IPAddressTests {
    @Test(
        "loopback is told by the address",
        arguments: [
            ("127.0.0.1", true), ("127.255.3.4", true), ("::1", true), ("::ffff:127.0.0.1", true), ("0:0::0:1", true),
            ("128.0.0.1", false), ("0.0.0.0", false), ("::", false), ("::2", false), ("1::1", false),
            ("::ffff:10.0.0.1", false), ("10.0.0.1", false),
        ])
    func loopback(_ text: String, _ expected: Bool) throws {
        #expect(try #require(IPAddress(text)).isLoopback == expected)
        #expect(IPAddress.isLoopback(host: text) == expected)
    }

    @Test(
        "a name that looks like an address is none", arguments: ["127.example", "127.0.0.1.example", "127.1", "", "x"])
    func names(_ text: String) {
        #expect(IPAddress(text) == nil)
        #expect(!IPAddress.isLoopback(host: text))
    }

    @Test("an address in another form is resolved to what it stands for")
    func resolution() {
        #expect(IPAddress.resolve("127.1").map(\.description) == ["127.0.0.1"])
        #expect(IPAddress.resolve("::1").map(\.isLoopback) == [true])
        #expect(IPAddress.resolve("0.0.0.0").map(\.isLoopback) == [false])
        #expect(IPAddress.resolve("no such name").isEmpty)
    }

    @Test(
        "a network is what one client can choose from",
        arguments: [
            ("10.1.2.3", "10.1.2.3"), ("::ffff:10.1.2.3", "10.1.2.3"), ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
            ("2001:db8:1:2:ffff::", "2001:db8:1:2::/64"), ("2001:db8:1:3::", "2001:db8:1:3::/64"),
        ])
    func network(_ text: String, _ expected: String) throws {
        #expect(try #require(IPAddress(text)).network == expected)
    }
}
