import ByteSources
import RandomAccess
package import Results
import Support
package import SystemPackage

/// The file of one attempt at a shard on one host: records as in any result file, and a seal over them.
package struct ShardFile: Sendable {
    package let path: FilePath
    /// The header of the attempt. It has a shard.
    package internal(set) var header: RunHeader
    package let shard: RunHeader.Shard
    /// The host that made the attempt.
    package let host: HostKey
    /// True if the file has its seal. In a file that was cut, the complete records count.
    package let isSealed: Bool
    /// True if the file has an end record.
    private let isEnded: Bool
    /// The number of complete records, without header, end and seal.
    package let recordCount: Int
    /// The byte range of the records in the file.
    private let records: Range<UInt64>
    /// The number of the shard's cells that have failed.
    private(set) var failedCellCount = 0
    /// The number of vectors that ran on each subject.
    private(set) var vectorCounts: [String: Int] = [:]
    /// The part of the shard that is not in the file, in words; `nil` if the file has all.
    private var lacking: String?

    /// True if the file has the whole shard and its seal.
    package var isComplete: Bool { isEnded && isSealed && lacking == nil }

    /// The fault of a file that was cut, or that has an end record but not the whole shard; `nil` for other files.
    var flaw: String? {
        if !isSealed { return "was cut: its \(recordCount) whole records count" }
        return isEnded ? lacking.map { "lacks \($0), and has an end: it counts as a part of its shard" } : nil
    }

    /// `12 records of n1`.
    package var description: String { "\(recordCount) records of \(host.name)" }

    /// A reason to leave out a file in a job's folder.
    package struct Unusable: Error, Hashable, Sendable, CustomStringConvertible {
        package let description: String
    }

    /// The name of an attempt's file. No other attempt, on any host, writes to it.
    package static func name(_ shard: RunHeader.Shard, _ host: RunHeader.Host) -> String {
        let number = String(repeating: "0", count: max(0, 5 - "\(shard.number)".count)) + "\(shard.number)"
        let node = host.label.map {
            $0.isASCII && ($0.isLetter || $0.isNumber || "-.".contains($0)) ? $0 : "_"
        }
        return "\(number)-\(String(node.prefix(60)))-\(shard.attempt).jsonl"
    }

    /// Copies a result file into a shard's file with a seal. The new file is on the disk before it replaces an earlier
    /// file of the same attempt.
    ///
    /// The corresponding C functions are `fsync` and `rename`. No file is locked or appended to.
    /// - Parameters:
    ///   - log: The result file.
    ///   - path: The shard's file.
    /// - Throws: `DecryptionError.io`.
    package static func publish(_ log: FilePath, as path: FilePath) throws {
        let source = try FileSource(path: log, waits: false)
        let sink = try FileSink(path: path)
        let hash = SHA256Hasher()
        var offset: UInt64 = 0
        // A log has only complete lines, because this process writes it.
        try forEachPiece(of: source, 0..<source.byteCount) { piece in
            hash.update(piece)
            try sink.write(piece, at: offset)
            offset += UInt64(piece.count)
        }
        let seal = try ResultRecord.seal(SealRecord(sha256: Hexadecimal.encode(hash.finish()))).line()
        try seal.withUnsafeBytes { try sink.write($0, at: offset) }
        try sink.commit()
    }

    /// Reads the header and the seal of a file, and hashes its records. At most a piece of it is in memory.
    ///
    /// - Throws: `Unusable`; `DecryptionError.io`; `ResultsError.unknownSchema`.
    package init(reading path: FilePath) throws {
        let source = try FileSource(path: path, waits: false)
        // The last two lines are short.
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
                throw Unusable(
                    description: "is damaged, as its first line has more than \(Self.maxHeaderByteCount) bytes")
            }
            lineCount += piece.reduce(0) { $0 &+ ($1 == Self.newline ? 1 : 0) }
        }
        guard header.last == Self.newline, case .header(let first)? = try ResultRecord.read(header).records.first else {
            throw Unusable(description: "was cut within its header")
        }
        guard let shard = first.shard else { throw Unusable(description: "is no shard's file") }
        if let seal, seal.sha256 != Hexadecimal.encode(hash.finish()) {
            throw Unusable(description: "is damaged, as its records are others than those that were sealed")
        }
        (self.path, self.header, self.shard, host) = (path, first, shard, HostKey(first))
        isSealed = seal != nil
        let endByteCount = isEnded ? (lines.last?.count ?? 0) + 1 : 0
        records = UInt64(header.count)..<max(UInt64(header.count), end - UInt64(endByteCount))
        recordCount = lineCount - 1 - (isEnded ? 1 : 0)
    }

    private static let newline = UInt8(ascii: "\n")
    /// The maximum length of a header. A plan cannot be longer, because it is read from a text file.
    private static let maxHeaderByteCount = 32 << 20

    /// The header of a result file; `nil` if there is no file, or if it does not begin with a header.
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

    /// Calls `body` with the bytes of the records, without header, end and seal, piece by piece.
    func forEachPiece(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        try Self.forEachPiece(of: try FileSource(path: path, waits: false), records, body)
    }

    /// Calls `body` with each record between the header and the end record.
    ///
    /// - Throws: The errors of `body`; `Unusable` for a line that is not a record of a shard;
    ///   `DecryptionError.io`.
    func forEachRecord(_ body: (RecordLine) throws -> Void) throws {
        var (number, rest) = (1, [UInt8]())
        try forEachPiece { piece in
            var start = piece.startIndex
            while let end = piece[start...].firstIndex(of: Self.newline) {
                number += 1
                let bytes = rest + piece[start...end]
                // This program wrote a sealed file. In a file that was cut, each record is decoded completely.
                guard let line = RecordLine(bytes), isSealed || (try? ResultRecord(line: bytes.dropLast())) != nil
                else {
                    throw Unusable(description: "is damaged, as line \(number) is no record of a shard")
                }
                try body(line)
                (rest, start) = ([], end + 1)
            }
            rest += piece[start...]
        }
    }

    /// Reads all records, and compares them with the content of the shard.
    ///
    /// - Parameters:
    ///   - share: The content of the shard.
    ///   - plaintexts: The plaintexts of the job's other files.
    /// - Throws: `Unusable`; `FleetError.externalShard` for records of another shard;
    ///   `FleetError.contradiction`.
    mutating func check(_ share: Manifest.Share, _ plaintexts: SharedPlaintexts) throws {
        var keys = Set<RecordLine.Key>()
        var (checked, measured, failed) = (Set<String>(), Set<String>(), Set<String>())
        var counts: [String: Int] = [:]
        try forEachRecord { line in
            guard keys.insert(line.key).inserted else {
                throw Unusable(description: "is damaged, as it has a record of \(line.key.subject) twice")
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

    /// Notes subjects that did not run all of the shard's vectors.
    ///
    /// - Parameters:
    ///   - subjects: The subjects in any of the job's files.
    ///   - backends: The backends of any of the job's hosts.
    ///   - share: The content of the shard.
    mutating func requireVectors(of subjects: Set<String>, _ backends: Set<String>, _ share: Manifest.Share) {
        // The first shard also counts unsupported vectors.
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

/// The identity of a host in comparisons. Nodes of a scheduler may share a name. The same machine with another number
/// or kind of CPUs, or with other versions of the libraries, counts as another host.
package struct HostKey: Hashable, Sendable, Comparable {
    /// The node's name, or the host's name without a scheduler.
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

    /// The names of hosts. Hosts with the same name also get a number.
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
