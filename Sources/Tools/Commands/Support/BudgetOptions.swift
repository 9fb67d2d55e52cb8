import ArgumentParser
import CommandOptions
import Measurement
import Report
import Support

/// What a configuration must keep.
struct BudgetOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The most that memory may rise, such as 64MiB.", valueName: "size"))
    var memory: String?

    @Option(help: ArgumentHelp("The longest time to the first byte, such as 5ms or 20us.", valueName: "time"))
    var firstByte: String?

    @Option(
        help: ArgumentHelp("The most ciphertext bytes fetched per plaintext byte, such as 1.1.", valueName: "ratio"))
    var amplification: String?

    @Option(help: ArgumentHelp("The least plaintext bytes per second, such as 1GB/s.", valueName: "rate"))
    var throughput: String?

    /// Reads the options.
    func budgets() throws -> Budgets {
        Budgets(
            memoryByteCount: try value(memory, "--memory", "a size above 0 such as 64KiB, 16MB or 100MiB") {
                ByteSize($0).flatMap { $0.byteCount > 0 ? $0.byteCount : nil }
            },
            firstByteNanoseconds: try value(
                firstByte, "--first-byte", "a duration above 0 such as 20us, 2.5ms or 1s", DurationArgument.nanoseconds),
            amplification: try value(amplification, "--amplification", "a ratio above 0 such as 1.1") { text in
                let digits = text.allSatisfy { $0.isASCII && ($0.isNumber || $0 == ".") }
                return digits ? Double(text).flatMap { $0 > 0 && $0 < 1e15 ? $0 : nil } : nil
            },
            bytesPerSecond: try value(
                throughput, "--throughput", TimeText.bandwidthExpectation, TimeText.bytesPerSecond))
    }

    private func value<Value>(
        _ text: String?, _ name: String, _ expected: String, _ read: (String) -> Value?
    ) throws -> Value? {
        guard let text else { return nil }
        guard let value = read(text) else { throw CommandFailure(.usage, "\(name) \"\(text)\": expected \(expected)") }
        return value
    }
}

/// Durations with a decimal fraction.
enum DurationArgument {
    private static let units: [(String, Double)] = [("ns", 1), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)]

    /// Reads digits, possibly with a fraction, and `ns`, `us`, `µs`, `ms` or `s`.
    ///
    /// - Returns: Nanoseconds, rounded; `nil` for anything else, for 0, and for more than a day.
    static func nanoseconds(_ text: String) -> UInt64? {
        guard let unit = units.first(where: { text.hasSuffix($0.0) }) else { return nil }
        let digits = text.dropLast(unit.0.count)
        guard digits.count <= 12, digits.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }),
            let number = Double(digits)
        else { return nil }
        let nanoseconds = (number * unit.1).rounded()
        return nanoseconds >= 1 && nanoseconds <= 86_400e9 ? UInt64(nanoseconds) : nil
    }
}
