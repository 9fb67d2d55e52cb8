#if Network
import Glibc
import X509

/// The name or address that a server is asked for.
struct HostName: Hashable, Sendable {
    /// The text, an IPv6 address without brackets.
    let text: String
    /// Whether it is an address: certificates hold those in another place, and servers are not told of them.
    let isAddress: Bool

    /// The corresponding C function is `inet_pton`.
    init(_ text: String) {
        self.text = text
        var (four, six) = (in_addr(), in6_addr())
        isAddress = inet_pton(AF_INET, text, &four) == 1 || inet_pton(AF_INET6, text, &six) == 1
    }

    /// The check of a certificate's names. Source: RFC 9525, section 6.
    var identity: ServerIdentityPolicy {
        ServerIdentityPolicy(serverHostname: isAddress ? nil : text, serverIP: isAddress ? text : nil)
    }

    /// What the server is told (SNI). Source: RFC 6066, section 3.
    var serverName: String? { isAddress ? nil : text }
}
#endif
