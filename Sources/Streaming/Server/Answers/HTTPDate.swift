#if Network
import Glibc

/// Times as HTTP writes them, in whole seconds since 1970. Source: RFC 9110, section 5.6.7.
package enum HTTPDate {
    /// Writes a time, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    package static func text(_ seconds: Int64) -> String {
        var time = time_t(seconds)
        var parts = tm()
        guard gmtime_r(&time, &parts) != nil else { return text(0) }
        // Not strftime: its names depend on the locale.
        let weekday = weekdays[Int(parts.tm_wday)]
        return "\(weekday), \(two(parts.tm_mday)) \(months[Int(parts.tm_mon)]) "
            + "\(four(parts.tm_year + 1900)) \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) GMT"
    }

    /// Reads a time in any of the three forms that a recipient has to accept. The corresponding C function is `timegm`.
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

    /// The time now. The corresponding C function is `time`.
    package static var now: Int64 { Int64(time(nil)) }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func two(_ number: Int32) -> String { (number < 10 ? "0" : "") + "\(number)" }

    private static func four(_ number: Int32) -> String {
        String(repeating: "0", count: max(0, 4 - "\(number)".count)) + "\(number)"
    }
}
#endif
