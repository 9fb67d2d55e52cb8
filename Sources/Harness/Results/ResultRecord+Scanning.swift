import Support

extension ResultRecord {
    /// Reads a round of timings in the form that this program writes; `nil` for any other line.
    ///
    /// The general decoder then reads the line. Nearly all bytes of a file are samples of rounds, so the other records
    /// are always left to the decoder.
    /// - Parameters:
    ///   - line: The line, without the newline.
    ///   - samples: A buffer that is used again for each line.
    package init?(scanning line: UnsafeRawBufferPointer, samples: inout [UInt64]) {
        var scanner = JSONScanner(line)
        var record: ResultRecord?
        do throws(JSONScanner.Unsupported) {
            try scanner.object { (scanner, name) throws(JSONScanner.Unsupported) in
                guard record == nil, "time" ~= name else { throw JSONScanner.Unsupported() }
                record = .time(try TimeRecord(&scanner, samples: &samples))
            }
            try scanner.end()
        } catch {
            return nil
        }
        guard let record, Self.hasSmallNumbers(line) || Self.isBounded(record), record.isPlausible else { return nil }
        self = record
    }
}

/// Returns a member that a record must have. Throws if it is missing, so that the decoder reports the error.
private func required<Value>(_ value: Value?) throws(JSONScanner.Unsupported) -> Value {
    guard let value else { throw JSONScanner.Unsupported() }
    return value
}

extension TimeRecord {
    fileprivate init(_ scanner: inout JSONScanner, samples: inout [UInt64]) throws(JSONScanner.Unsupported) {
        var (cellID, round, nanoseconds) = (String?.none, Int?.none, [UInt64]?.none)
        var (resident, used, warmUps) = (UInt64?.none, ProcessUsage?.none, Int?.none)
        try scanner.object { (scanner, name) throws(JSONScanner.Unsupported) in
            switch name {
            case "cellID": try scanner.read(&cellID)
            case "round": try scanner.read(&round)
            case "nanoseconds":
                guard nanoseconds == nil else { throw JSONScanner.Unsupported() }
                try scanner.unsigned(into: &samples)
                // A copy of exactly this length, as there may be millions of samples.
                nanoseconds = samples.withUnsafeBufferPointer { Array($0) }
            case "residentByteCount": try scanner.read(&resident)
            case "usage": try scanner.read(&used, as: ProcessUsage.init)
            case "warmUpIterationCount": try scanner.read(&warmUps)
            default: throw JSONScanner.Unsupported()
            }
        }
        self.init(cellID: try required(cellID), round: try required(round), nanoseconds: try required(nanoseconds))
        residentByteCount = resident
        usage = used
        warmUpIterationCount = warmUps
    }
}

extension ProcessUsage {
    fileprivate init(_ scanner: inout JSONScanner) throws(JSONScanner.Unsupported) {
        var (user, system, minor, major) = (UInt64?.none, UInt64?.none, UInt64?.none, UInt64?.none)
        var (voluntary, involuntary, instructions, cycles) = (UInt64?.none, UInt64?.none, UInt64?.none, UInt64?.none)
        try scanner.object { (scanner, name) throws(JSONScanner.Unsupported) in
            switch name {
            case "userNanoseconds": try scanner.read(&user)
            case "systemNanoseconds": try scanner.read(&system)
            case "minorFaults": try scanner.read(&minor)
            case "majorFaults": try scanner.read(&major)
            case "voluntarySwitches": try scanner.read(&voluntary)
            case "involuntarySwitches": try scanner.read(&involuntary)
            case "instructions": try scanner.read(&instructions)
            case "cycles": try scanner.read(&cycles)
            default: throw JSONScanner.Unsupported()
            }
        }
        self.init(
            userNanoseconds: try required(user), systemNanoseconds: try required(system),
            minorFaults: try required(minor), majorFaults: try required(major), voluntarySwitches: voluntary,
            involuntarySwitches: involuntary, instructions: instructions, cycles: cycles)
    }
}
