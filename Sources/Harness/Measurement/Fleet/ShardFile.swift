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
    /// Whether the attempt came to its end.
    package let isComplete: Bool
    /// Whether the file ends as it was written. Of one that was cut, its whole records count.
    package let isSealed: Bool
    /// How many whole records there are, without header, end and seal.
    package let recordCount: Int
    /// Where they stand in the file.
    private let records: Range<UInt64>

    /// The host that made the attempt.
    package var host: HostKey { HostKey(header.host) }

    /// `12 records of n1`.
    package var description: String { "\(recordCount) records of \(host.name)" }

    /// Why a file in a job's folder is left out.
    package enum Unusable: Error, Hashable, Sendable {
        /// There is no whole header in it.
        case cut
        /// Its records are others than those that were sealed.
        case damaged
    }

    /// The name of an attempt's file: no other attempt, on whichever host, writes to it.
    package static func name(_ shard: RunHeader.Shard, _ host: RunHeader.Host) -> String {
        let number = String(repeating: "0", count: max(0, 5 - "\(shard.number)".count)) + "\(shard.number)"
        let node = HostKey(host).name.map { $0.isASCII && ($0.isLetter || $0.isNumber || "-.".contains($0)) ? $0 : "_" }
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
        let source = try FileSource(path: log)
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
        let source = try FileSource(path: path)
        // The last two lines are short, and a header is no longer than a plan.
        let tail = try Self.bytes(source, from: source.byteCount - min(source.byteCount, 1 << 12))
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
        let isComplete = lines.last?.starts(with: ResultRecord.endStart) ?? false
        let hash = SHA256Hasher()
        var (header, lineCount) = ([UInt8](), 0)
        try Self.forEachPiece(of: source, 0..<end) { piece in
            hash.update(piece)
            if lineCount == 0 { header += piece[..<(piece.firstIndex(of: Self.newline).map { $0 + 1 } ?? piece.count)] }
            lineCount += piece.reduce(0) { $0 &+ ($1 == Self.newline ? 1 : 0) }
        }
        guard case .header(let first)? = try ResultRecord.read(header).records.first, let shard = first.shard else {
            throw Unusable.cut
        }
        if let seal, seal.sha256 != Hexadecimal.encode(hash.finish()) { throw Unusable.damaged }
        (self.path, self.header, self.shard) = (path, first, shard)
        (self.isComplete, isSealed) = (isComplete, seal != nil)
        let endByteCount = isComplete ? (lines.last?.count ?? 0) + 1 : 0
        records = UInt64(header.count)..<max(UInt64(header.count), end - UInt64(endByteCount))
        recordCount = lineCount - 1 - (isComplete ? 1 : 0)
    }

    private static let newline = UInt8(ascii: "\n")

    private static func bytes(_ source: FileSource, from start: UInt64) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try forEachPiece(of: source, start..<source.byteCount) { bytes += $0 }
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
    package func forEachPiece(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        try Self.forEachPiece(of: try FileSource(path: path), records, body)
    }

    /// Calls `body` with each record's line, its end included, between the header and the end record.
    package func forEachLine(_ body: (_ line: [UInt8]) throws -> Void) throws {
        var rest: [UInt8] = []
        try forEachPiece { piece in
            var start = piece.startIndex
            while let end = piece[start...].firstIndex(of: Self.newline) {
                try body(rest + piece[start...end])
                (rest, start) = ([], end + 1)
            }
            rest += piece[start...]
        }
    }

    /// Calls `body` with each record between the header and the end record, and with its line.
    ///
    /// - Throws: What `body` throws; `SweepError.damaged` for a whole line that is no record.
    package func forEachRecord(_ body: (ResultRecord, _ line: [UInt8]) throws -> Void) throws {
        var (number, samples) = (1, [UInt64]())
        try forEachLine { line in
            number += 1
            let record = line.withUnsafeBytes {
                ResultRecord(scanning: UnsafeRawBufferPointer(rebasing: $0.dropLast()), samples: &samples)
            }
            guard let record = record ?? (try? ResultRecord(line: line.dropLast())) else {
                throw SweepError.damaged(path.string, .damagedLine(number))
            }
            if case .seal = record { return }
            try body(record, line)
        }
    }
}

/// What makes results those of one host: a scheduler's nodes may share a name, and a machine with other CPUs given is
/// another one to compare with.
package struct HostKey: Hashable, Sendable, Comparable {
    /// The node's name, or the host's where no scheduler gave one.
    package let name: String
    private let facts: [String]

    package init(_ host: RunHeader.Host) {
        name = host.nodeName ?? host.name
        facts = [host.machineID ?? host.name, host.cpuModel, host.microcode ?? "", "\(host.usableCPUCount)"]
    }

    package static func < (one: HostKey, other: HostKey) -> Bool {
        ([one.name] + one.facts).lexicographicallyPrecedes([other.name] + other.facts)
    }
}
