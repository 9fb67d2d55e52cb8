#if Network
import NIOCore

/// The first bytes from a server, which show its protocol.
///
/// - Source: RFC 8446, sections 5.1 (records), 4.1.3 (ServerHello) and 6 (alerts).
struct PeerPreamble: Hashable, Sendable {
    /// The max number of bytes that are kept.
    static let capacity = 256

    /// The first bytes.
    private(set) var bytes: [UInt8] = []
    /// The number of all bytes that arrived.
    private(set) var byteCount = 0

    /// Adds bytes as they arrive.
    mutating func append(_ more: some Sequence<UInt8>, count: Int) {
        byteCount += count
        if bytes.count < Self.capacity { bytes += more.prefix(Self.capacity - bytes.count) }
    }

    /// True if the bytes are TLS records.
    var isTLS: Bool {
        guard bytes.count >= 3 else { return bytes.first.map { (20...23).contains($0) } ?? false }
        return (20...23).contains(bytes[0]) && bytes[1] == 3 && bytes[2] <= 4
    }

    /// The number of the alert, if one came first. Source: RFC 8446, section 6.
    var alert: UInt8? { isTLS && bytes.count >= 7 && bytes[0] == 21 && bytes[4] == 2 ? bytes[6] : nil }

    /// The alert for versions that do not match.
    static let protocolVersionAlert: UInt8 = 70

    /// The version of a ServerHello, as in the record. TLS 1.3 states 1.2 there. Source: RFC 8446, section 4.1.3.
    var helloVersion: String? {
        guard isTLS, bytes.count >= 11, bytes[0] == 22, bytes[5] == 2, bytes[9] == 3 else { return nil }
        return switch bytes[10] {
        case 0: "SSL 3.0"
        case 1: "TLS 1.0"
        case 2: "TLS 1.1"
        default: "TLS 1.2"
        }
    }

    /// Returns an alert's name. Source: RFC 8446, section 6.
    static func alertName(_ number: UInt8) -> String {
        let names: [UInt8: String] = [
            10: "unexpected_message", 20: "bad_record_mac", 22: "record_overflow", 40: "handshake_failure",
            42: "bad_certificate", 43: "unsupported_certificate", 44: "certificate_revoked", 45: "certificate_expired",
            46: "certificate_unknown", 47: "illegal_parameter", 48: "unknown_ca", 49: "access_denied",
            50: "decode_error", 51: "decrypt_error", 70: "protocol_version", 71: "insufficient_security",
            80: "internal_error", 86: "inappropriate_fallback", 109: "missing_extension",
            110: "unsupported_extension", 112: "unrecognized_name", 116: "certificate_required",
            120: "no_application_protocol",
        ]
        return "the alert \(number)" + (names[number].map { " (\($0))" } ?? "")
    }

    /// The protocol that a server without TLS seems to speak.
    var spoken: String {
        let text = String(decoding: bytes, as: UTF8.self)
        let starts: [(String, String)] = [
            ("HTTP/", "plain HTTP"), ("<!DOCTYPE", "plain HTTP"), ("<html", "plain HTTP"), ("SSH-", "SSH"),
            ("220", "a greeting of SMTP or FTP"), ("* OK", "a greeting of IMAP"), ("+OK", "a greeting of POP3"),
            ("RFB ", "VNC"), ("AMQP", "AMQP"), ("<?xml", "XML, as XMPP does"), ("-ERR", "Redis"),
        ]
        let known = starts.first { text.lowercased().hasPrefix($0.0.lowercased()) }?.1
        let isFrame = bytes.count >= 9 && bytes[0] == 0 && bytes[3] == 4 && bytes[4] == 0
        return known ?? (isFrame ? "HTTP/2 without TLS" : "something unknown") + ", starting \(start)"
    }

    /// The first bytes as printable text, so that the server's control characters do not reach a terminal.
    private var start: String {
        let first = bytes.prefix(16)
        guard first.allSatisfy({ (0x20..<0x7F).contains($0) }) else {
            return first.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
        }
        return "\"\(String(decoding: first, as: UTF8.self))\""
    }
}

/// Keeps a server's first bytes before the TLS library sees them.
final class PreambleHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private(set) var preamble = PeerPreamble()
    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    /// Sends bytes as they are, past the TLS library.
    func send(_ text: String) {
        guard let context else { return }
        context.writeAndFlush(NIOAny(context.channel.allocator.buffer(string: text)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        preamble.append(buffer.readableBytesView, count: buffer.readableBytes)
        context.fireChannelRead(data)
    }
}
#endif
