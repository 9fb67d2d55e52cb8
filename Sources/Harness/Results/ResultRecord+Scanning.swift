import Support

extension ResultRecord {
    /// Reads a record that looks as this program writes it, or returns `nil`: then a general decoder has the last word.
    ///
    /// Headers and outcomes of vectors, of which a file has few, are left to the decoder altogether.
    /// - Parameters:
    ///   - line: The line, without its end.
    ///   - samples: A list to use again from line to line.
    init?(scanning line: UnsafeRawBufferPointer, samples: inout [UInt64]) {
        var scanner = JSONScanner(line)
        var record: ResultRecord?
        do throws(JSONScanner.Unusual) {
            try scanner.object { (scanner, name) throws(JSONScanner.Unusual) in
                guard record == nil else { throw JSONScanner.Unusual() }
                switch name {
                case "time": record = .time(try TimeRecord(&scanner, samples: &samples))
                case "check": record = .check(try CheckRecord(&scanner))
                case "latency": record = .latency(try LatencyRecord(&scanner))
                case "memory": record = .memory(try MemoryRecord(&scanner))
                default: throw JSONScanner.Unusual()
                }
            }
            try scanner.end()
        } catch {
            return nil
        }
        guard let record, record.isPlausible else { return nil }
        self = record
    }
}

/// Returns a member that a record must have; without it a decoder says what is wrong.
private func required<Value>(_ value: Value?) throws(JSONScanner.Unusual) -> Value {
    guard let value else { throw JSONScanner.Unusual() }
    return value
}

extension TimeRecord {
    fileprivate init(_ scanner: inout JSONScanner, samples: inout [UInt64]) throws(JSONScanner.Unusual) {
        var (cellID, round, nanoseconds) = (String?.none, Int?.none, [UInt64]?.none)
        var (resident, used, warmUps, steady) = (UInt64?.none, ProcessUsage?.none, Int?.none, Bool?.none)
        try scanner.object { (scanner, name) throws(JSONScanner.Unusual) in
            switch name {
            case "cellID": try scanner.read(&cellID)
            case "round": try scanner.read(&round)
            case "nanoseconds":
                guard nanoseconds == nil else { throw JSONScanner.Unusual() }
                try scanner.unsigned(into: &samples)
                // A copy of just the right length: there may be millions of samples.
                nanoseconds = samples.withUnsafeBufferPointer { Array($0) }
            case "residentByteCount": try scanner.read(&resident)
            case "usage": try scanner.read(&used, as: ProcessUsage.init)
            case "warmUpIterationCount": try scanner.read(&warmUps)
            case "isSteady": try scanner.read(&steady)
            default: throw JSONScanner.Unusual()
            }
        }
        self.init(cellID: try required(cellID), round: try required(round), nanoseconds: try required(nanoseconds))
        residentByteCount = resident
        usage = used
        warmUpIterationCount = warmUps
        isSteady = steady
    }
}

extension ProcessUsage {
    fileprivate init(_ scanner: inout JSONScanner) throws(JSONScanner.Unusual) {
        var (user, system, minor, major) = (UInt64?.none, UInt64?.none, UInt64?.none, UInt64?.none)
        var (voluntary, involuntary, instructions, cycles) = (UInt64?.none, UInt64?.none, UInt64?.none, UInt64?.none)
        try scanner.object { (scanner, name) throws(JSONScanner.Unusual) in
            switch name {
            case "userNanoseconds": try scanner.read(&user)
            case "systemNanoseconds": try scanner.read(&system)
            case "minorFaults": try scanner.read(&minor)
            case "majorFaults": try scanner.read(&major)
            case "voluntarySwitches": try scanner.read(&voluntary)
            case "involuntarySwitches": try scanner.read(&involuntary)
            case "instructions": try scanner.read(&instructions)
            case "cycles": try scanner.read(&cycles)
            default: throw JSONScanner.Unusual()
            }
        }
        self.init(
            userNanoseconds: try required(user), systemNanoseconds: try required(system),
            minorFaults: try required(minor), majorFaults: try required(major), voluntarySwitches: voluntary,
            involuntarySwitches: involuntary, instructions: instructions, cycles: cycles)
    }
}

extension CheckRecord {
    fileprivate init(_ scanner: inout JSONScanner) throws(JSONScanner.Unusual) {
        var (cell, digest) = (Cell?.none, String?.none)
        var (delivered, fetched, decrypted) = (UInt64?.none, UInt64?.none, UInt64?.none)
        try scanner.object { (scanner, name) throws(JSONScanner.Unusual) in
            switch name {
            case "cell": try scanner.read(&cell, as: Cell.init)
            case "digest": try scanner.read(&digest)
            case "deliveredByteCount": try scanner.read(&delivered)
            case "fetchedByteCount": try scanner.read(&fetched)
            case "decryptedByteCount": try scanner.read(&decrypted)
            default: throw JSONScanner.Unusual()
            }
        }
        self.init(
            cell: try required(cell), digest: try required(digest), deliveredByteCount: try required(delivered),
            fetchedByteCount: try required(fetched), decryptedByteCount: try required(decrypted))
    }
}

extension Cell {
    fileprivate init(_ scanner: inout JSONScanner) throws(JSONScanner.Unusual) {
        var (backend, strategy, ivRule, padding) = (String?.none, String?.none, String?.none, String?.none)
        var (workload, access, source, label) = (String?.none, String?.none, String?.none, String?.none)
        var (chunk, window, object, readCount) = (UInt64?.none, UInt64?.none, UInt64?.none, Int?.none)
        var (threads, key, isCold) = (Int?.none, Int?.none, Bool?.none)
        var (latency, bandwidth) = (UInt64?.none, UInt64?.none)
        try scanner.object { (scanner, name) throws(JSONScanner.Unusual) in
            switch name {
            case "backend": try scanner.read(&backend)
            case "strategy": try scanner.read(&strategy)
            case "ivRule": try scanner.read(&ivRule)
            case "padding": try scanner.read(&padding)
            case "chunkByteCount": try scanner.read(&chunk)
            case "windowByteCount": try scanner.read(&window)
            case "workload": try scanner.read(&workload)
            case "readCount": try scanner.read(&readCount)
            case "access": try scanner.read(&access)
            case "threads": try scanner.read(&threads)
            case "keyByteCount": try scanner.read(&key)
            case "objectByteCount": try scanner.read(&object)
            case "source": try scanner.read(&source)
            case "isCold": try scanner.read(&isCold)
            case "remoteLatencyNanoseconds": try scanner.read(&latency)
            case "remoteBytesPerSecond": try scanner.read(&bandwidth)
            case "label": try scanner.read(&label)
            default: throw JSONScanner.Unusual()
            }
        }
        self.init(
            backend: try required(backend), strategy: try required(strategy), ivRule: ivRule, padding: padding,
            chunkByteCount: chunk, windowByteCount: try required(window), workload: try required(workload),
            readCount: readCount, access: try required(access), threads: try required(threads),
            keyByteCount: try required(key), objectByteCount: try required(object), source: try required(source),
            label: label)
        self.isCold = isCold
        remoteLatencyNanoseconds = latency
        remoteBytesPerSecond = bandwidth
    }
}

extension LatencyRecord {
    fileprivate init(_ scanner: inout JSONScanner) throws(JSONScanner.Unusual) {
        var (cellID, latency, firstByte) = (String?.none, Latency?.none, Latency?.none)
        var playback = Playback?.none
        try scanner.object { (scanner, name) throws(JSONScanner.Unusual) in
            switch name {
            case "cellID": try scanner.read(&cellID)
            case "latency": try scanner.read(&latency, as: Latency.init)
            case "firstByte": try scanner.read(&firstByte, as: Latency.init)
            case "playback": try scanner.read(&playback, as: Playback.init)
            default: throw JSONScanner.Unusual()
            }
        }
        self.init(
            cellID: try required(cellID), latency: try required(latency), firstByte: firstByte,
            playback: playback)
    }
}

extension LatencyRecord.Playback {
    fileprivate init(_ scanner: inout JSONScanner) throws(JSONScanner.Unusual) {
        var (rate, first, start, stalled) = (UInt64?.none, UInt64?.none, UInt64?.none, UInt64?.none)
        var stallCount = Int?.none
        try scanner.object { (scanner, name) throws(JSONScanner.Unusual) in
            switch name {
            case "bitsPerSecond": try scanner.read(&rate)
            case "firstByteNanoseconds": try scanner.read(&first)
            case "startNanoseconds": try scanner.read(&start)
            case "stallCount": try scanner.read(&stallCount)
            case "stallNanoseconds": try scanner.read(&stalled)
            default: throw JSONScanner.Unusual()
            }
        }
        self.init(
            bitsPerSecond: try required(rate), firstByteNanoseconds: try required(first),
            startNanoseconds: try required(start), stallCount: try required(stallCount),
            stallNanoseconds: try required(stalled))
    }
}

extension LatencyRecord.Latency {
    fileprivate init(_ scanner: inout JSONScanner) throws(JSONScanner.Unusual) {
        var (p50, p90, p99, p999) = (UInt64?.none, UInt64?.none, UInt64?.none, UInt64?.none)
        var (max, readCount) = (UInt64?.none, Int?.none)
        try scanner.object { (scanner, name) throws(JSONScanner.Unusual) in
            switch name {
            case "readCount": try scanner.read(&readCount)
            case "p50": try scanner.read(&p50)
            case "p90": try scanner.read(&p90)
            case "p99": try scanner.read(&p99)
            case "p999": try scanner.read(&p999)
            case "max": try scanner.read(&max)
            default: throw JSONScanner.Unusual()
            }
        }
        self.init(
            readCount: try required(readCount), p50: try required(p50), p90: try required(p90),
            p99: try required(p99), p999: try required(p999), max: try required(max))
    }
}

extension MemoryRecord {
    fileprivate init(_ scanner: inout JSONScanner) throws(JSONScanner.Unusual) {
        var (cellID, memory) = (String?.none, Memory?.none)
        try scanner.object { (scanner, name) throws(JSONScanner.Unusual) in
            switch name {
            case "cellID": try scanner.read(&cellID)
            case "memory": try scanner.read(&memory, as: Memory.init)
            default: throw JSONScanner.Unusual()
            }
        }
        self.init(cellID: try required(cellID), memory: try required(memory))
    }
}

extension MemoryRecord.Memory {
    fileprivate init(_ scanner: inout JSONScanner) throws(JSONScanner.Unusual) {
        var (baseline, peak, bound) = (UInt64?.none, UInt64?.none, UInt64?.none)
        var (anonymous, file) = (UInt64?.none, UInt64?.none)
        try scanner.object { (scanner, name) throws(JSONScanner.Unusual) in
            switch name {
            case "baselineByteCount": try scanner.read(&baseline)
            case "peakByteCount": try scanner.read(&peak)
            case "boundByteCount": try scanner.read(&bound)
            case "anonymousGrowthByteCount": try scanner.read(&anonymous)
            case "fileGrowthByteCount": try scanner.read(&file)
            default: throw JSONScanner.Unusual()
            }
        }
        self.init(
            baselineByteCount: try required(baseline), peakByteCount: try required(peak), boundByteCount: bound,
            anonymousGrowthByteCount: anonymous, fileGrowthByteCount: file)
    }
}
