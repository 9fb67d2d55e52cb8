import Glibc

/// An IPv4 or IPv6 address. An IPv4 address in IPv6 form (`::ffff:127.0.0.1`) counts as IPv4.
package struct IPAddress: Hashable, Sendable {
    /// The address: 4 or 16 bytes.
    private let bytes: [UInt8]

    /// Parses an address; `nil` for a name. The corresponding C function is `inet_pton`.
    package init?(_ text: String) {
        var (four, six) = (in_addr(), in6_addr())
        if inet_pton(AF_INET, text, &four) == 1 {
            self.init(bytes: withUnsafeBytes(of: four) { Array($0) })
        } else if inet_pton(AF_INET6, text, &six) == 1 {
            self.init(bytes: withUnsafeBytes(of: six) { Array($0) })
        } else {
            return nil
        }
    }

    private init(bytes: [UInt8]) {
        let isMapped = bytes.count == 16 && bytes.starts(with: [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF])
        self.bytes = isMapped ? Array(bytes.suffix(4)) : bytes
    }

    /// Resolves a name, or an address in any form that the system accepts. The corresponding C function is
    /// `getaddrinfo`.
    ///
    /// - Returns: The addresses in the system's order; empty if the name does not exist.
    package static func resolve(_ host: String) -> [IPAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &first) == 0 else { return [] }
        defer { freeaddrinfo(first) }
        var addresses: [IPAddress] = []
        var next = first
        while let entry = next?.pointee {
            next = entry.ai_next
            guard let address = entry.ai_addr else { continue }
            let start = UnsafeRawPointer(address)
            switch entry.ai_family {
            case AF_INET:
                let address = start.loadUnaligned(as: sockaddr_in.self).sin_addr
                addresses.append(IPAddress(bytes: withUnsafeBytes(of: address) { Array($0) }))
            case AF_INET6:
                let address = start.loadUnaligned(as: sockaddr_in6.self).sin6_addr
                addresses.append(IPAddress(bytes: withUnsafeBytes(of: address) { Array($0) }))
            default: break
            }
        }
        return addresses
    }

    /// True for an address of the loopback interface, which only this machine reaches. Source: RFC 1122, section
    /// 3.2.1.3; RFC 4291, section 2.5.3.
    package var isLoopback: Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes == [UInt8](repeating: 0, count: 15) + [1]
    }

    /// Returns whether a host is this machine: a loopback address, or `localhost` if that name resolves to loopback
    /// only.
    ///
    /// Other names are not looked up, since they could resolve differently a moment later.
    package static func isLoopback(host: String) -> Bool {
        if let address = IPAddress(host) { return address.isLoopback }
        guard host.lowercased() == "localhost" else { return false }
        let addresses = resolve(host)
        return !addresses.isEmpty && addresses.allSatisfy(\.isLoopback)
    }

    /// The addresses that one client can choose from: one for IPv4, 2⁶⁴ for IPv6. Source: RFC 4291, section 2.5.4.
    package var network: String {
        bytes.count == 4 ? description : "\(IPAddress(bytes: bytes.prefix(8) + [UInt8](repeating: 0, count: 8)))/64"
    }
}

extension IPAddress: CustomStringConvertible {
    /// The address as text; IPv6 has no brackets. The corresponding C function is `inet_ntop`.
    package var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count)) != nil else {
            return ""
        }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
