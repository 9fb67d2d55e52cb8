#if Network
import Glibc
package import RandomAccess
import Support
import Synchronization

/// A validator for one version of an object. Source: RFC 9110, section 8.8.3.
package struct EntityTag: Hashable, Sendable {
    /// The text between the quotation marks.
    package let opaque: String
    /// True if equal tags may belong to different bytes.
    package let isWeak: Bool
    /// The tag's text in a field.
    package let text: String

    /// - Parameters:
    ///   - opaque: The text between the quotation marks. It must not contain quotation marks.
    ///   - isWeak: True if equal tags may belong to different bytes.
    package init(opaque: String, isWeak: Bool = false) {
        self.opaque = opaque
        self.isWeak = isWeak
        self.text = (isWeak ? "W/" : "") + "\"\(opaque)\""
    }

    /// Derives a strong tag. None of the parts can be read from it.
    ///
    /// - Parameters:
    ///   - parts: The properties that tell versions apart.
    ///   - key: The key that the bytes are decrypted with; another key yields other bytes.
    package init(of parts: [String], key: SecretKey? = nil) {
        let secret = key?.withUnsafeBytes { Array($0) } ?? []
        let digest = SHAFunction.sha256.mac(
            key: Array("chunkwise entity tag".utf8) + secret, Array(parts.joined(separator: "\n").utf8))
        self.init(opaque: Hexadecimal.encode(digest.prefix(16)))
    }

    /// A weak tag unlike any other, for bytes that may belong to two versions.
    static var unlikeAny: EntityTag {
        EntityTag(opaque: EntityTag(of: ["\(UInt64.random(in: 0...UInt64.max))"]).opaque, isWeak: true)
    }

    /// Reads one tag: `"…"` or `W/"…"`.
    ///
    /// - Returns: `nil` for anything else.
    package init?(_ text: some StringProtocol) {
        self.init(Array(text.utf8)[...])
    }

    /// Reads one tag from bytes, because a character may join a quotation mark and a combining mark.
    fileprivate init?(_ bytes: ArraySlice<UInt8>) {
        let isWeak = bytes.starts(with: "W/".utf8)
        let quoted = isWeak ? bytes.dropFirst(2) : bytes
        let mark = UInt8(ascii: "\"")
        guard quoted.count >= 2, quoted.first == mark, quoted.last == mark else { return nil }
        let opaque = quoted.dropFirst().dropLast()
        // Source: RFC 9110, section 8.8.3, "etagc".
        guard opaque.allSatisfy({ $0 == 0x21 || ($0 >= 0x23 && $0 != 0x7F) }) else { return nil }
        self.init(opaque: String(decoding: opaque, as: UTF8.self), isWeak: isWeak)
    }

    /// Returns whether both tags stand for the same bytes. Source: RFC 9110, section 8.8.3.2.
    package func matchesStrongly(_ other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && opaque == other.opaque
    }

    /// Returns whether both tags stand for equivalent content. Source: RFC 9110, section 8.8.3.2.
    package func matchesWeakly(_ other: EntityTag) -> Bool {
        opaque == other.opaque
    }
}

/// The value of `If-Match` or `If-None-Match`. Source: RFC 9110, sections 13.1.1 and 13.1.2.
package enum EntityTagList: Hashable, Sendable {
    /// `*`, which matches everything.
    case any
    /// One or more tags.
    case tags([EntityTag])

    /// Reads a list.
    ///
    /// - Returns: `nil` if the text is malformed.
    package init?(_ text: String) {
        let (mark, comma) = (UInt8(ascii: "\""), UInt8(ascii: ","))
        func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var rest = Array(text.utf8)[...]
        if rest.filter({ !isSpace($0) }) == [UInt8(ascii: "*")] {
            self = .any
            return
        }
        // A tag may contain a comma.
        var tags: [EntityTag] = []
        while true {
            rest = rest.drop { isSpace($0) || $0 == comma }
            guard !rest.isEmpty else { break }
            guard let open = rest.firstIndex(of: mark), let close = rest[(open + 1)...].firstIndex(of: mark),
                let tag = EntityTag(rest[...close])
            else { return nil }
            tags.append(tag)
            rest = rest[(close + 1)...].drop(while: isSpace)
            guard rest.isEmpty || rest.first == comma else { return nil }
        }
        guard !tags.isEmpty else { return nil }
        self = .tags(tags)
    }

    /// Returns whether one of the tags passes the test; `*` always does.
    package func contains(where test: (EntityTag) -> Bool) -> Bool {
        switch self {
        case .any: true
        case .tags(let tags): tags.contains(where: test)
        }
    }
}

/// Times in the notation of HTTP, in whole seconds since 1970. Source: RFC 9110, section 5.6.7.
package enum HTTPDate {
    /// The times that can be written: those of the years 1 to 9999.
    static let range: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

    /// Returns a time's text, such as `Sun, 06 Nov 1994 08:49:37 GMT`. Times outside of ``range`` are clamped to it.
    package static func text(_ seconds: Int64) -> String {
        var time = time_t(min(max(seconds, range.lowerBound), range.upperBound))
        var parts = tm()
        guard gmtime_r(&time, &parts) != nil else { return text(0) }
        // Not strftime: its names depend on the locale.
        let weekday = weekdays[Int(parts.tm_wday)]
        let (day, year) = (two(parts.tm_mday), two((parts.tm_year + 1900) / 100) + two((parts.tm_year + 1900) % 100))
        let clock = two(parts.tm_hour) + ":" + two(parts.tm_min) + ":" + two(parts.tm_sec)
        return weekday + ", " + day + " " + months[Int(parts.tm_mon)] + " " + year + " " + clock + " GMT"
    }

    /// Reads a time in any of the three forms that a recipient must accept. The corresponding C function is `timegm`.
    ///
    /// - Returns: `nil` for anything else.
    package static func seconds(_ text: String) -> Int64? {
        guard text.utf8.count < 64 else { return nil }
        let words = text.split { $0 == " " || $0 == "," }.map(String.init)
        switch words.count {
        case 6 where words[5] == "GMT":  // Sun, 06 Nov 1994 08:49:37 GMT
            return seconds(weekday: words[0], day: words[1], month: words[2], year: number(words[3], 4...4), words[4])
        case 4 where words[3] == "GMT":  // Sunday, 06-Nov-94 08:49:37 GMT
            let parts = words[1].split(separator: "-").map(String.init)
            guard parts.count == 3, let year = number(parts[2], 2...2) else { return nil }
            // Source: RFC 6265, section 5.1.1, for the century, which the form leaves out.
            return seconds(
                weekday: String(words[0].prefix(3)), day: parts[0], month: parts[1],
                year: year + (year < 70 ? 2000 : 1900), words[2])
        case 5:  // Sun Nov  6 08:49:37 1994
            return seconds(weekday: words[0], day: words[2], month: words[1], year: number(words[4], 4...4), words[3])
        default:
            return nil
        }
    }

    private static func seconds(
        weekday: String, day: String, month: String, year: Int32?, _ time: String
    ) -> Int64? {
        let clock = time.split(separator: ":").map { number(String($0), 2...2) }
        guard weekdays.contains(weekday), let day = number(day, 1...2), (1...31).contains(day),
            let month = months.firstIndex(of: month), let year, year >= 1900, clock.count == 3,
            let hour = clock[0], let minute = clock[1], let second = clock[2], hour < 24, minute < 60, second <= 60
        else { return nil }
        var parts = tm()
        (parts.tm_mday, parts.tm_mon, parts.tm_year) = (day, Int32(month), year - 1900)
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (hour, minute, second)
        return Int64(timegm(&parts))
    }

    private static func number(_ digits: String, _ lengths: ClosedRange<Int>) -> Int32? {
        guard lengths.contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int32(digits)
    }

    /// The current time. The corresponding C function is `time`.
    package static var now: Int64 { Int64(time(nil)) }

    /// The text of the current time, formatted once a second.
    static var nowText: String {
        let now = now
        return written.withLock { written in
            if written.seconds != now { written = (now, text(now)) }
            return written.text
        }
    }
    private static let written = Mutex((seconds: Int64.min, text: ""))

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func two(_ number: Int32) -> String { (number < 10 ? "0" : "") + "\(number)" }
}
#endif
