import Glibc

/// An answer as it came.
struct RawResponse {
    /// The body as text.
    var text: String { String(decoding: body, as: UTF8.self) }

    var status = 0
    /// Fields by their names in lower case.
    var fields: [String: String] = [:]
    var body: [UInt8] = []
    /// True if all bytes came that the head had promised.
    var isComplete = true

    subscript(name: String) -> String? { fields[name] }
}

/// A connection that sends any bytes and believes nothing.
final class RawConnection {
    private let descriptor: Int32
    private var received: [UInt8] = []

    /// Connects to a port of this machine.
    ///
    /// - Parameters:
    ///   - port: The port.
    ///   - source: The address of this machine to connect from, such as 0x7F00_0002; `nil` for the usual one.
    ///   - receiveBufferByteCount: What the system takes before it is read.
    /// - Throws: ``ServerFailure`` if nothing listens there.
    init(port: UInt16, from source: UInt32? = nil, receiveBufferByteCount: Int32? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        if var size = receiveBufferByteCount {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, 4)
        }
        // Nothing that a test waits for takes this long; a test that waits for nothing should fail in the end.
        var limit = timeval(tv_sec: 600, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        if let source { Self.call(bind, descriptor, source, 0) }
        let result = Self.call(Glibc.connect, descriptor, 0x7F00_0001, port)
        guard result == 0 else {
            let code = errno
            close(descriptor)
            throw ServerFailure("connect to port \(port): \(String(cString: strerror(code)))")
        }
    }

    deinit {
        close(descriptor)
    }

    /// Calls what takes an address.
    @discardableResult
    private static func call(
        _ function: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32, _ descriptor: Int32, _ host: UInt32,
        _ port: UInt16
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = host.bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                function(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// Sends bytes; fails if the other side is gone.
    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw ServerFailure("send: \(String(cString: strerror(errno)))") }
            sent += count
        }
    }

    /// Sends text.
    func send(_ text: String) throws { try send(Array(text.utf8)) }

    /// Ends our direction.
    func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Ends the connection at once, so that the other side gets a reset and no orderly end.
    func reset() {
        var lingering = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &lingering, socklen_t(MemoryLayout<linger>.size))
    }

    /// Reads more bytes.
    ///
    /// - Returns: `false` at the end, orderly or not.
    @discardableResult
    func receive(atMost limit: Int = 1 << 18) -> Bool {
        // Elements are not appended one by one: that takes seconds for what these tests receive.
        let more = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            count = max(0, recv(descriptor, buffer.baseAddress, limit, 0))
        }
        received += more
        return !more.isEmpty
    }

    /// True if bytes, or the end, can be read at once.
    var hasMore: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) >= 0
    }

    /// True if nothing can be read any more.
    var isEnded: Bool {
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
        return count == 0 || count < 0 && errno != EAGAIN
    }

    /// Reads to the end of the connection.
    func rest() -> [UInt8] {
        while receive() {}
        defer { received = [] }
        return received
    }

    /// Reads one answer; what follows it stays for the next one.
    ///
    /// - Throws: `ServerFailure` if nothing comes that is one.
    func response(hasBody: Bool = true) throws -> RawResponse {
        var end: Int?
        var searched = 0
        while end == nil {
            end = Self.headEnd(received, from: max(0, searched - 3))
            searched = received.count
            if end == nil, !receive(atMost: 65536) { throw ServerFailure("the connection ended before an answer") }
        }
        guard let end else { throw ServerFailure("no answer") }
        var response = try Self.head(received[..<end])
        received.removeFirst(end)
        guard hasBody, response.status != 304 else { return response }
        guard let length = response["content-length"].flatMap({ Int($0) }) else {
            throw ServerFailure("an answer of status \(response.status) without Content-Length")
        }
        while received.count < length {
            if !receive(atMost: max(1, length - received.count)) { break }
        }
        response.isComplete = received.count >= length
        response.body = Array(received.prefix(length))
        received.removeFirst(response.body.count)
        return response
    }

    private static func headEnd(_ bytes: [UInt8], from start: Int) -> Int? {
        guard bytes.count >= 4 else { return nil }
        return (start..<max(start, bytes.count - 3)).first {
            bytes[$0] == 13 && bytes[$0 + 1] == 10 && bytes[$0 + 2] == 13 && bytes[$0 + 3] == 10
        }.map { $0 + 4 }
    }

    private static func head(_ bytes: ArraySlice<UInt8>) throws -> RawResponse {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\r\n")
        let words = (lines.first ?? "").split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0] == "HTTP/1.1", let status = Int(words[1]) else {
            throw ServerFailure("no status line: \(lines.first ?? "")")
        }
        var response = RawResponse(status: status)
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { throw ServerFailure("no field: \(line)") }
            response.fields[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
        }
        return response
    }
}
