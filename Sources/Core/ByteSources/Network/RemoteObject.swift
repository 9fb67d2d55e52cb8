import Glibc
package import RandomAccess
package import Support

/// Where an object on a server is, and how it is asked for.
package struct RemoteObject: Hashable, Sendable {
    /// The `http` or `https` URL.
    package var url: String
    /// Which servers are taken.
    package var tls = TLSSwitches()
    /// The value of the field `Authorization`; it is part of no error and no result.
    package var authorization: String?
    /// Whether connections are kept from one range to the next.
    package var keepsConnections = true
    /// How many ranges are under way at once when the object is read in order; `nil` for the usual number.
    package var readAheadDepth: Int?
    /// Whether connections are shared with other objects of the same server.
    package var sharesConnections = false
    /// The max number of bytes of a range that is asked for ahead; `nil` for the usual number.
    package var maxRangeByteCount: Int?
    /// The max number of bytes of an object that is taken from a server which knows no ranges; `nil` for none.
    package var maxWholeByteCount: Int?
    /// Whether the object may be one that gzip packed.
    package var takesGzip = false
    /// How many of the first bytes are fetched when the object is opened; `nil` for the usual number.
    package var firstByteCount: Int?
    /// How many of the last bytes are fetched at the same time; 0 for none.
    package var lastByteCount = 0

    /// What a source holds at most of ranges ahead and of what it fetched when it was opened, and what its connections
    /// take: six ranges of 4 MiB, and as much as one more.
    package static let aheadByteCount: UInt64 = 28 << 20

    /// What a failure has as its code where there was no connection, or nothing came over it.
    package static var unansweredCode: Int32 { ENOTCONN }

    /// How long nothing may come; `nil` for the usual time.
    package var idleTimeoutMilliseconds: Int?

    /// How long a read may take; `nil` for the usual time.
    package var deadlineMilliseconds: Int?

    /// Creates an object.
    package init(url: String, tls: TLSSwitches = TLSSwitches()) {
        self.url = url
        self.tls = tls
    }

    /// The object as one whose ciphertext is of a strategy: what opening it looks at comes in one round trip.
    package func opening(_ strategy: Strategy) -> RemoteObject {
        var object = self
        object.lastByteCount = RangeReading.lastByteCount(strategy)
        return object
    }

    /// Whether a text is meant as a URL of an object on a server.
    package static func isURL(_ text: String) -> Bool { URLText.scheme(text) != nil }

    /// Whether TLS is spoken.
    package var isSecure: Bool { URLText.scheme(url)?.isSecure ?? false }

    /// What a cell says of where its ciphertext comes from: the scheme, and in parentheses what is unusual, everything
    /// that is given up first.
    package var sourceName: String {
        let options =
            (isSecure ? tls.options : []) + (keepsConnections ? [] : [Self.noReuse])
            + (readAheadDepth.map { [Self.readAhead, "\($0)"] } ?? [])
        return (isSecure ? "https" : "http") + (options.isEmpty ? "" : " (\(options.joined(separator: " ")))")
    }

    /// The object with the connections and the ranges ahead that a ``sourceName`` tells of.
    package func adopting(_ sourceName: String) -> RemoteObject {
        var remoteObject = self
        let words = sourceName.split { " ()".contains($0) }.map(String.init)
        remoteObject.keepsConnections = !words.contains(Self.noReuse)
        remoteObject.readAheadDepth = zip(words, words.dropFirst()).first { $0.0 == Self.readAhead }.flatMap {
            Int($0.1)
        }
        return remoteObject
    }

    private static let noReuse = "--no-reuse"
    private static let readAhead = "--read-ahead"
}

/// Requests to subjects hold an object as the member `source`.
extension RemoteObject {
    /// Reads an object; `nil` if there is none.
    package init?(_ json: JSONValue) {
        guard let url = json["url"]?.string else { return nil }
        self.init(url: url)
        tls.certificateFile = json["caFile"]?.string
        tls.pins = json["pins"]?.array?.compactMap(\.string) ?? []
        tls.allowances = Set(json["allow"]?.array?.compactMap(\.string).compactMap(TLSAllowance.init) ?? [])
        authorization = json["authorization"]?.string
        keepsConnections = json["keepsConnections"]?.bool ?? true
        readAheadDepth = json["readAheadDepth"]?.integer.map { Int(clamping: $0) }
        idleTimeoutMilliseconds = json["patienceMilliseconds"]?.integer.map { Int(clamping: $0) }
        deadlineMilliseconds = json["deadlineMilliseconds"]?.integer.map { Int(clamping: $0) }
        firstByteCount = json["firstByteCount"]?.integer.map { Int(clamping: $0) }
    }

    /// The object as a member of a request.
    package var json: JSONValue {
        [
            "url": .string(url), "caFile": JSONValue(tls.certificateFile), "pins": JSONValue(strings: tls.pins),
            "allow": JSONValue(strings: tls.options), "authorization": JSONValue(authorization),
            "keepsConnections": .bool(keepsConnections),
            "readAheadDepth": readAheadDepth.map { JSONValue(count: $0) } ?? .null,
            "patienceMilliseconds": idleTimeoutMilliseconds.map { JSONValue(count: $0) } ?? .null,
            "deadlineMilliseconds": deadlineMilliseconds.map { JSONValue(count: $0) } ?? .null,
            "firstByteCount": firstByteCount.map { JSONValue(count: $0) } ?? .null,
        ]
    }
}
