import Results

extension ProcessUsage {
    /// The figures in words; what nobody tells is said to be unavailable.
    var text: String {
        func count(_ number: UInt64?) -> String {
            number.map(SignificantDigits.grouped) ?? "unavailable"
        }
        return [
            "CPU \(DurationText.text(nanoseconds: userNanoseconds)) user and "
                + "\(DurationText.text(nanoseconds: systemNanoseconds)) system",
            "page faults \(count(minorFaults)) minor and \(count(majorFaults)) major",
            "switches \(count(voluntarySwitches)) voluntary and \(count(involuntarySwitches)) not",
            "instructions \(count(instructions))", "cycles \(count(cycles))",
        ].joined(separator: ", ")
    }
}
