import Glibc
package import RandomAccess
package import Support

/// The address of an object on a server, and the options of its requests.
package struct RemoteObject: Hashable, Sendable {
    /// The `http` or `https` URL.
    package var url: String
    /// The checks of the server's certificate.
    package var tls = TLSSwitches()
    /// The value of the field `Authorization`; no error and no result contains it.
    package var authorization: String?
    /// True if connections are kept from one range to the next.
    package var keepsConnections = true
    /// The number of ranges in flight while reads are in order; `nil` for the default.
    package var readAheadDepth: Int?
    /// True if connections are shared with other objects of the same server.
    package var sharesConnections = false
    /// The max number of bytes of a range that is requested ahead; `nil` for the default.
    package var maxRangeByteCount: Int?
    /// The max number of bytes of an object to accept from a server without range support; `nil` to refuse such
    /// servers.
    package var maxWholeByteCount: Int?
    /// True if the object may be compressed with gzip.
    package var takesGzip = false
    /// The number of first bytes to fetch when the object is opened; `nil` for the default.
    package var firstByteCount: Int?
    /// The number of last bytes to fetch at the same time; 0 for none.
    package var lastByteCount = 0

    /// The max number of bytes that a source holds: ranges ahead, the ends that it fetched when it was opened, and its
    /// connections. It is six ranges of 4 MiB, and as much as one more.
    package static let aheadByteCount: UInt64 = 28 << 20

    /// The error code of a failure without a connection, or without an answer over it.
    package static var unansweredCode: Int32 { ENOTCONN }

    /// The max time in milliseconds without any data from the server; `nil` for the default.
    package var idleTimeoutMilliseconds: Int?

    /// The max time in milliseconds of a read; `nil` for the default.
    package var deadlineMilliseconds: Int?

    package init(url: String, tls: TLSSwitches = TLSSwitches()) {
        self.url = url
        self.tls = tls
    }

    /// Returns the object with the requests that opening a strategy needs, so that it takes one round trip.
    package func opening(_ strategy: Strategy) -> RemoteObject {
        var object = self
        object.lastByteCount = RangeReading.lastByteCount(strategy)
        return object
    }

    /// Returns whether a text is the URL of an object on a server.
    package static func isURL(_ text: String) -> Bool { URLText.scheme(text) != nil }

    /// True if the connection uses TLS.
    package var isSecure: Bool { URLText.scheme(url)?.isSecure ?? false }
}

/// A request to a subject holds an object as its member `source`.
extension RemoteObject {
    /// Parses an object; `nil` if there is none.
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

    /// The object as the member of a request.
    package var json: JSONValue {
        JSONValue(members: [
            "url": url, "caFile": tls.certificateFile, "pins": tls.pins, "allow": tls.options,
            "authorization": authorization, "keepsConnections": keepsConnections, "readAheadDepth": readAheadDepth,
            "patienceMilliseconds": idleTimeoutMilliseconds, "deadlineMilliseconds": deadlineMilliseconds,
            "firstByteCount": firstByteCount,
        ])
    }
}
