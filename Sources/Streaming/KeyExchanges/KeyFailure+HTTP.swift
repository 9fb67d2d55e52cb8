#if Network
import Foundation
import HTTPSources
import Keys

/// What the ends of an exchange over HTTP mean to a session.
extension KeyFailure {
    /// No answer came.
    init(_ failure: HTTPPost.Failure, deadline: Duration) {
        switch failure {
        case .noAnswer: self = .timedOut(after: deadline)
        case .tls(.silent(_, let milliseconds)): self = .timedOut(after: .milliseconds(milliseconds))
        case .tls(.closed(let count)): self = .unreachable(reason: "\(TLSFailure.closed(afterByteCount: count))")
        // What a certificate or a protocol is, it is a moment later as well.
        case .tls(let failure): self = .refused(reason: "\(failure)")
        case .unreachable(let reason): self = .unreachable(reason: reason)
        case .tooLong(let count):
            self = .malformed(reason: "its body has more than \(count) bytes: expected at most what was asked for")
        case .invalid(let reason): self = .malformed(reason: reason)
        }
    }

    /// An answer came that has no keys; `nil` for one that may have some.
    ///
    /// - Source: KEY-PROTOCOL.md, "Errors"; RFC 9110, section 15.
    init?(_ answer: HTTPPost.Answer, from place: String) {
        switch answer.status {
        case 200:
            let type = answer["Content-Type"] ?? "none"
            guard type.lowercased().prefix(AnswerSealer.mediaType.count) != AnswerSealer.mediaType else { return nil }
            self = .malformed(reason: "its type is \(Self.shown(type)): expected \(AnswerSealer.mediaType)")
        case 429, 503: self = .busy(retryAfter: Self.retryAfter(answer["Retry-After"], date: answer["Date"]))
        case 408, 500, 502, 504:
            self = .unreachable(reason: "\(place) answers with status \(answer.status): expected 200")
        case 401, 403:
            self = .refused(reason: "\(place) answers with status \(answer.status): expected a token that it knows")
        case 404, 405, 410:
            self = .refused(reason: "\(place) answers with status \(answer.status): expected the URL of a key server")
        case 300..<400:
            self = .refused(
                reason: "\(place) answers with status \(answer.status): expected the URL of the server itself")
        default:
            // The first line says what, if it is one of ours.
            let text = String(decoding: answer.body.prefix(200), as: UTF8.self)
            let line = text.split(separator: "\n").first.map(String.init) ?? ""
            self = .refused(
                reason: "\(place) answers with status \(answer.status): expected 200"
                    + (line.isEmpty ? "" : " (\(Self.shown(line)))"))
        }
    }

    /// What somebody else wrote, as a part of a line.
    private static func shown(_ text: String) -> String {
        String(decoding: text.utf8.filter { (0x20..<0x7F).contains($0) }.prefix(120), as: UTF8.self)
    }

    /// Seconds, or a date; at most a day. Source: RFC 9110, section 10.2.3.
    static func retryAfter(_ text: String?, date: String?) -> Duration? {
        guard let text else { return nil }
        let day = 86_400
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return .seconds(min(Int(text) ?? day, day))
        }
        // By the server's own clock, where it says what that shows.
        guard let then = Self.time(text) else { return nil }
        let now = date.flatMap(Self.time) ?? Date()
        return .seconds(min(max(Int(then.timeIntervalSince(now).rounded(.up)), 0), day))
    }

    /// A date as RFC 9110, section 5.6.7, prefers it.
    private static func time(_ text: String) -> Date? {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(secondsFromGMT: 0)
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.date(from: text)
    }
}
#endif
