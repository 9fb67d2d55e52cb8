/// Gathers the records of one result file, in their order.
///
/// Nothing that stands in a file is added up blindly: a round that is there twice counts once, a record of a cell that no
/// check announced counts for nothing, and both are counted.
struct RunResultsBuilder {
    private(set) var header: RunHeader?
    private var conformance: [ConformanceRecord] = []
    private var mutants: MutantsRecord?
    private var cells: [CellResult] = []
    private var indices: [String: Int] = [:]
    private var timed: Set<TimedRound> = []
    private var isComplete = false
    private var leftOut = RunResults.LeftOut()

    private struct TimedRound: Hashable {
        var cell: Int
        var round: Int
    }

    /// Adds a record.
    ///
    /// - Parameters:
    ///   - record: The record.
    ///   - line: The number of its line, for errors.
    /// - Throws: `ResultsError.missingHeader` if the first record is not a header, `.unknownSchema` if it is of another
    ///   schema, `.secondHeader` if one comes that says otherwise.
    mutating func add(_ record: ResultRecord, line: Int) throws(ResultsError) {
        guard let header else {
            guard case .header(let first) = record else { throw .missingHeader }
            guard first.schema == RunHeader.currentSchema else { throw .unknownSchema(first.schema) }
            header = first
            return
        }
        switch record {
        case .header(let other):
            if let difference = other.difference(from: header) {
                throw .secondHeader(line: line, difference: difference)
            }
        case .conformance(let outcome):
            if conformance.contains(outcome) { leftOut.repeatedRecordCount += 1 } else { conformance.append(outcome) }
        case .mutants(let outcome): mutants = outcome
        case .check(let check): note(check)
        case .failure(let failure):
            let index = index(of: failure.cell)
            cells[index].failure = cells[index].failure ?? failure.reason
        case .time(let time): note(time)
        case .latency(let latency):
            update(latency.cellID, isThere: { $0.latency != nil }) {
                $0.latency = latency.latency
                $0.firstByte = latency.firstByte
                $0.playback = latency.playback
            }
        case .memory(let memory):
            update(memory.cellID, isThere: { $0.memory != nil }) { $0.memory = memory.memory }
        case .end: isComplete = true
        }
    }

    /// Ends the file.
    ///
    /// - Parameter cutByteCount: The bytes of a last record that is not whole.
    /// - Returns: What was gathered.
    /// - Throws: `ResultsError.missingHeader` if there was not even a header.
    func results(cutByteCount: Int = 0) throws(ResultsError) -> RunResults {
        guard let header else { throw .missingHeader }
        var results = RunResults(
            header: header, conformance: conformance, mutants: mutants, cells: cells, isComplete: isComplete)
        results.leftOut = leftOut
        results.leftOut.cutByteCount = cutByteCount
        return results
    }

    private mutating func index(of cell: Cell) -> Int {
        let id = cell.id
        if let known = indices[id] { return known }
        indices[id] = cells.count
        cells.append(CellResult(cell: cell))
        return cells.count - 1
    }

    private mutating func note(_ check: CheckRecord) {
        let index = index(of: check.cell)
        guard let earlier = cells[index].check else {
            cells[index].check = check
            return
        }
        leftOut.repeatedRecordCount += 1
        // Which of two plaintexts was the right one, nobody can tell any more.
        if earlier.digest != check.digest, cells[index].failure == nil {
            cells[index].failure =
                "checked twice with two digests, \(earlier.digest) and \(check.digest): expected one"
        }
    }

    private mutating func note(_ time: TimeRecord) {
        guard let index = indices[time.cellID] else {
            leftOut.orphanRecordCount += 1
            return
        }
        guard timed.insert(TimedRound(cell: index, round: time.round)).inserted else {
            leftOut.repeatedRecordCount += 1
            return
        }
        cells[index].note(time)
    }

    private mutating func update(
        _ cellID: String, isThere: (CellResult) -> Bool, _ change: (inout CellResult) -> Void
    ) {
        guard let index = indices[cellID] else {
            leftOut.orphanRecordCount += 1
            return
        }
        if isThere(cells[index]) { leftOut.repeatedRecordCount += 1 } else { change(&cells[index]) }
    }
}

extension RunHeader {
    /// What makes another header in the same file that of another run, or `nil` if it says the same.
    fileprivate func difference(from first: RunHeader) -> String? {
        guard self != first else { return nil }
        let texts: [(String, String, String)] = [
            ("schema", schema, first.schema), ("host", host.name, first.host.name),
            ("CPU", host.cpuModel, first.host.cpuModel), ("program version", programVersion, first.programVersion),
            ("start", startedAt, first.startedAt), ("seed", "\(seed)", "\(first.seed)"),
        ]
        if let text = texts.first(where: { $0.1 != $0.2 }) { return "\(text.0) \"\(text.1)\" after \"\(text.2)\"" }
        if host != first.host { return "another description of host \"\(host.name)\"" }
        return backends == first.backends ? "another plan, command or limits" : "other backends"
    }
}
