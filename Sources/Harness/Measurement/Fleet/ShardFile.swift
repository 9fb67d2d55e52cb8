import ByteSources
import RandomAccess
package import Results
import Support
package import SystemPackage

/// The file of one attempt at a shard on one host: records as in any result file, and a seal over them.
package struct ShardFile: Sendable {
    package let path: FilePath
    /// What is true of the attempt; it has a shard.
    package internal(set) var header: RunHeader
    package let shard: RunHeader.Shard
    /// The host that made the attempt.
    package let host: HostKey
    /// Whether the file ends as it was written. Of one that was cut, its whole records count.
    package let isSealed: Bool
    /// Whether the attempt says that it came to its end.
    private let isEnded: Bool
    /// How many whole records there are, without header, end and seal.
    package let recordCount: Int
    /// Where they stand in the file.
    private let records: Range<UInt64>
    /// How many of the shard's cells have failed.
    private(set) var failedCellCount = 0
    /// How many vectors were put to each subject.
    private(set) var vectorCounts: [String: Int] = [:]
    /// What of the shard is not in the file; `nil` if all is.
    private var lacking: String?

    /// Whether all of the shard is in the file, as it was written.
    package var isComplete: Bool { isEnded && isSealed && lacking == nil }

    /// Why a file that says that it is whole is not; `nil` where it does not say so, or is.
    var flaw: String? {
        if !isSealed { return "was cut: its \(recordCount) whole records count" }
        return isEnded ? lacking.map { "lacks \($0), and has an end: it counts as a part of its shard" } : nil
    }

    /// `12 records of n1`.
    package var description: String { "\(recordCount) records of \(host.name)" }

    /// Why a file in a job's folder is left out.
    package enum Unusable: Error, Hashable, Sendable, CustomStringConvertible {
        /// There is no whole header in it.
        case cut
        /// Its records are others than those that were sealed, or are none.
        case damaged(String)
        /// It is the result of a run of its own.
        case otherResults

        package var description: String {
            switch self {
            case .cut: "was cut within its header"
            case .damaged(let reason): "is damaged, as \(reason)"
            case .otherResults: "is no shard's file"
            }
        }
    }

    /// The name of an attempt's file: no other attempt, on whichever host, writes to it.
    package static func name(_ shard: RunHeader.Shard, _ host: RunHeader.Host) -> String {
        let number = String(repeating: "0", count: max(0, 5 - "\(shard.number)".count)) + "\(shard.number)"
        let node = host.label.map {
            $0.isASCII && ($0.isLetter || $0.isNumber || "-.".contains($0)) ? $0 : "_"
        }
        return "\(number)-\(String(node.prefix(60)))-\(shard.attempt).jsonl"
    }

    /// Copies a result file into a shard's file: sealed, on the disk, and then renamed, in place of what
    /// the same attempt had put there before.
    ///
    /// The corresponding C functions are `fsync` and `rename`; nothing is locked and nothing appended to.
    /// - Parameters:
    ///   - log: The result file.
    ///   - path: The shard's file.
    /// - Throws: `DecryptionError.io`.
    package static func publish(_ log: FilePath, as path: FilePath) throws {
        let source = try FileSource(path: log, waits: false)
        let sink = try FileSink(path: path)
        let hash = SHA256Hasher()
        var offset: UInt64 = 0
        // A log has whole lines only: what a process writes, it has written.
        try forEachPiece(of: source, 0..<source.byteCount) { piece in
            hash.update(piece)
            try sink.write(piece, at: offset)
            offset += UInt64(piece.count)
        }
        let seal = try ResultRecord.seal(SealRecord(sha256: Hexadecimal.encode(hash.finish()))).line()
        try seal.withUnsafeBytes { try sink.write($0, at: offset) }
        try sink.commit()
    }

    /// Looks through a file, with no more of it in memory than a piece.
    ///
    /// - Throws: `Unusable`; `DecryptionError.io`; `ResultsError.unknownSchema`.
    package init(reading path: FilePath) throws {
        let source = try FileSource(path: path, waits: false)
        // The last two lines are short, and a header is no longer than a plan.
        let tail = try Self.bytes(source, source.byteCount - min(source.byteCount, 1 << 12)..<source.byteCount)
        var lines = tail.split(separator: Self.newline, omittingEmptySubsequences: false).dropLast()
        var end = source.byteCount - UInt64(tail.count) + UInt64((tail.lastIndex(of: Self.newline) ?? -1) + 1)
        var seal: SealRecord?
        if let last = lines.last, last.starts(with: ResultRecord.sealStart),
            case .seal(let found)? = try? ResultRecord(line: last)
        {
            seal = found
            lines = lines.dropLast()
            end -= UInt64(last.count + 1)
        }
        isEnded = lines.last?.starts(with: ResultRecord.endStart) ?? false
        let hash = SHA256Hasher()
        var (header, lineCount) = ([UInt8](), 0)
        try Self.forEachPiece(of: source, 0..<end) { piece in
            hash.update(piece)
            if lineCount == 0 { header += piece[..<(piece.firstIndex(of: Self.newline).map { $0 + 1 } ?? piece.count)] }
            if header.count > Self.maxHeaderByteCount {
                throw Unusable.damaged("its first line has more than \(Self.maxHeaderByteCount) bytes")
            }
            lineCount += piece.reduce(0) { $0 &+ ($1 == Self.newline ? 1 : 0) }
        }
        guard header.last == Self.newline, case .header(let first)? = try ResultRecord.read(header).records.first else {
            throw Unusable.cut
        }
        guard let shard = first.shard else { throw Unusable.otherResults }
        if let seal, seal.sha256 != Hexadecimal.encode(hash.finish()) {
            throw Unusable.damaged("its records are others than those that were sealed")
        }
        (self.path, self.header, self.shard, host) = (path, first, shard, HostKey(first))
        isSealed = seal != nil
        let endByteCount = isEnded ? (lines.last?.count ?? 0) + 1 : 0
        records = UInt64(header.count)..<max(UInt64(header.count), end - UInt64(endByteCount))
        recordCount = lineCount - 1 - (isEnded ? 1 : 0)
    }

    private static let newline = UInt8(ascii: "\n")
    /// A plan is no longer, as it is read from a text file.
    private static let maxHeaderByteCount = 32 << 20

    /// The header of a result file; `nil` if there is no file, or if it begins with none.
    static func header(of path: FilePath) -> RunHeader? {
        guard let source = try? FileSource(path: path, waits: false) else { return nil }
        var line: [UInt8] = []
        while !line.contains(newline), UInt64(line.count) < source.byteCount {
            let end = min(source.byteCount, max(1 << 16, 2 * UInt64(line.count)))
            guard let more = try? bytes(source, UInt64(line.count)..<end) else { return nil }
            line += more
        }
        guard case .header(let header)? = try? ResultRecord(line: line.prefix { $0 != newline }) else { return nil }
        return header
    }

    private static func bytes(_ source: FileSource, _ range: Range<UInt64>) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try forEachPiece(of: source, range) { bytes += $0 }
        return bytes
    }

    private static func forEachPiece(
        of source: FileSource, _ range: Range<UInt64>, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
        defer { buffer.deallocate() }
        var offset = range.lowerBound
        while offset < range.upperBound {
            let count = Int(min(UInt64(buffer.count), range.upperBound - offset))
            let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
            try source.fetch(at: offset, into: piece)
            try body(UnsafeRawBufferPointer(piece))
            offset += UInt64(count)
        }
    }

    /// Calls `body` with the records as they stand in the file, without header, end and seal, piece by piece.
    func forEachPiece(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        try Self.forEachPiece(of: try FileSource(path: path, waits: false), records, body)
    }

    /// Calls `body` with each record between the header and the end record.
    ///
    /// - Throws: What `body` throws; `Unusable.damaged` for a line that is no record of a shard; `DecryptionError.io`.
    func forEachRecord(_ body: (RecordLine) throws -> Void) throws {
        var (number, rest) = (1, [UInt8]())
        try forEachPiece { piece in
            var start = piece.startIndex
            while let end = piece[start...].firstIndex(of: Self.newline) {
                number += 1
                let bytes = rest + piece[start...end]
                // What is sealed was written by this program; of a file that was cut, each record is looked at whole.
                guard let line = RecordLine(bytes), isSealed || (try? ResultRecord(line: bytes.dropLast())) != nil
                else {
                    throw Unusable.damaged("line \(number) is no record of a shard")
                }
                try body(line)
                (rest, start) = ([], end + 1)
            }
            rest += piece[start...]
        }
    }

    /// Reads all records, and finds out what of the shard they are.
    ///
    /// - Parameters:
    ///   - share: What the shard holds.
    ///   - plaintexts: Those of the job's other files.
    /// - Throws: `Unusable.damaged`; `FleetError.externalShard` for records of another shard; `FleetError.contradiction`.
    mutating func check(_ share: Manifest.Share, _ plaintexts: SharedPlaintexts) throws {
        var keys = Set<RecordLine.Key>()
        var (checked, measured, failed) = (Set<String>(), Set<String>(), Set<String>())
        var counts: [String: Int] = [:]
        try forEachRecord { line in
            guard keys.insert(line.key).inserted else {
                throw Unusable.damaged("it has a record of \(line.key.subject) twice")
            }
            if case .conformance(let outcome)? = line.verdict, share.cells.isEmpty {
                counts[outcome.subject, default: 0] += outcome.count
                return
            }
            guard share.cells.contains(line.key.subject) else {
                throw FleetError.externalShard(
                    file: path.string, difference: "it has results of \(line.key.subject), which its shard does not")
            }
            switch line.verdict {
            case .check(let check):
                try plaintexts.note(check, in: self)
                checked.insert(line.key.subject)
            case .failure: failed.insert(line.key.subject)
            default: if line.key.kind == .time { measured.insert(line.key.subject) }
            }
        }
        (failedCellCount, vectorCounts) = (failed.count, counts)
        let left = share.cells.subtracting(checked.intersection(measured)).subtracting(failed)
        if let first = left.min() { lacking = "\(left.count) of \(share.cells.count) cells, the first is \(first)" }
    }

    /// Notes where subjects were not put to all of the shard's vectors.
    ///
    /// - Parameters:
    ///   - subjects: Those that the job's other files have.
    ///   - backends: The backends that any of the job's hosts has.
    ///   - share: What the shard holds.
    mutating func requireVectors(of subjects: Set<String>, _ backends: Set<String>, _ share: Manifest.Share) {
        // The first shard also counts files that no backend can be put to.
        let left = subjects.filter { vectorCounts[$0, default: 0] < share.vectorCount(of: $0) }
        if let first = left.min() {
            lacking =
                "vectors of \(left.count) of \(subjects.count) subjects, the first is \(first) with "
                + "\(vectorCounts[first, default: 0]) of \(share.vectorCount(of: first))"
        }
        let absent = backends.intersection(subjects).subtracting(header.backends.map(\.name))
        if let first = absent.filter({ share.vectorCount(of: $0) > 0 }).min() {
            lacking = "vectors of \(first), which \(host.name) does not have and another host of the job does"
        }
    }
}

/// What makes results those of one host: a scheduler's nodes may share a name, and a machine with more CPUs given, or CPUs of
/// another kind, or with other versions of the libraries, is another one to compare with.
package struct HostKey: Hashable, Sendable, Comparable {
    /// The node's name, or the host's where no scheduler gave one.
    package let name: String
    private let facts: [String]

    package init(_ header: RunHeader) {
        let host = header.host
        name = host.label
        facts =
            [
                host.machineID ?? host.name, host.cpuModel, host.microcode ?? "", "\(host.usableCPUCount)",
                host.cpuKind ?? "", host.kernel, host.transparentHugePages ?? "",
            ]
            + header.backends.map { "\($0.name) \($0.version)" }.sorted()
    }

    package static func < (one: HostKey, other: HostKey) -> Bool {
        ([one.name] + one.facts).lexicographicallyPrecedes([other.name] + other.facts)
    }

    /// What hosts are called: those of one name by a number as well.
    static func names(of hosts: [HostKey]) -> [HostKey: String] {
        var names: [HostKey: String] = [:]
        for (name, group) in Dictionary(grouping: hosts, by: \.name) {
            for (index, host) in group.sorted().enumerated() {
                names[host] = group.count == 1 ? name : "\(name) (\(index + 1))"
            }
        }
        return names
    }
}
