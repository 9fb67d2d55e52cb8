import ByteSources
import FoundationEssentials
import Glibc
import Measurement
import RandomAccess
import Results
import Support
import SystemPackage

/// Counts the work of both sides in an iteration: in separate processes under callgrind, and once more without it.
///
/// All processes use the same seed for hash tables, or their collisions would differ between runs. Runs of two lengths
/// are counted. Their difference is the count of the iterations by which the lengths differ, without the start and end
/// of the program.
///
/// - Source: the Callgrind format specification of the Valgrind manual, section "Callgrind Format Specification".
struct CountComparison {
    let sides: SidePair
    let settings: GateSettings
    let limit: Double
    /// The folder for profiles until they are read.
    let folder: FilePath
    let shouldStop: () -> Bool

    /// The number of runs of each length and side: a few first, and more if these leave a count inconclusive.
    private static let runCounts = [2, 5]
    /// The iterations of the shorter run, which warms up, and the additional ones of the longer run.
    private static let (shortCount, moreCount): (UInt64, UInt64) = (2, 18)

    /// The maximum duration of an iteration that is counted, in nanoseconds. valgrind takes fifty times as long.
    private static let longestIteration: UInt64 = 20_000_000

    /// Counts all cells with short iterations.
    func run(_ all: [PreparedCell], progress: (String) -> Void) throws(GateError) -> GateCounts {
        var found: [GateCounts.Cell] = []
        let cells = all.filter { $0.iterationNanoseconds <= Self.longestIteration }
        for cell in cells {
            progress("counting: \(cell.name)")
            do throws(SideFailure) {
                var (baseline, candidate, counts) = ([Figures](), [Figures](), [GateCounts.Count]())
                for runCount in Self.runCounts
                where counts.isEmpty || counts.contains(where: { $0.verdict == .inconclusive }) {
                    baseline += try figures(sides.baseline, cell, runCount: runCount - baseline.count)
                    candidate += try figures(sides.candidate, cell, runCount: runCount - candidate.count)
                    counts = GateCounts.Quantity.allCases.map { quantity in
                        GateCounts.Count(
                            quantity, baseline: baseline.map { $0[quantity] ?? 0 },
                            candidate: candidate.map { $0[quantity] ?? 0 }, limit: limit)
                    }
                }
                found.append(.init(name: cell.name, counts: counts))
            } catch {
                let (role, what) = try error.ofSide()
                let reason = "the \(role.rawValue) could not be counted with valgrind: \(what)"
                found.append(.init(name: cell.name, reason: reason, counts: []))
            }
        }
        let tooLong = all.map(\.name).filter { name in !cells.contains { $0.name == name } }
        return GateCounts(limit: limit, cells: found, tooLong: tooLong)
    }

    private typealias Figures = [GateCounts.Quantity: Double]

    private func figures(
        _ side: GateSide, _ cell: PreparedCell, runCount: Int
    ) throws(SideFailure) -> [Figures] {
        var all: [Figures] = []
        for _ in 0..<runCount {
            if shouldStop() { throw .interrupted }
            let (short, long) = (Self.shortCount, Self.shortCount + Self.moreCount)
            let (before, after) = (try counted(side, cell, short), try counted(side, cell, long))
            var figures = after.merging(before) { $0 - $1 }.mapValues { $0 / Double(Self.moreCount) }
            // Page faults are counted without valgrind, which uses memory of its own.
            let faults = (try faults(side, cell, short), try faults(side, cell, long))
            figures[.pageFaults] = max(0, faults.1 - faults.0) / Double(Self.moreCount)
            all.append(figures)
        }
        return all
    }

    private func counted(
        _ side: GateSide, _ cell: PreparedCell, _ iterationCount: UInt64
    ) throws(SideFailure) -> Figures {
        var counted = side
        let suffix = ".callgrind" + ObjectStore.fileSuffix
        let path = ShellText.joined([folder.appending("%p" + suffix).string])
        counted.command = """
            export SWIFT_DETERMINISTIC_HASHING=1 PYTHONHASHSEED=0; \
            exec valgrind -q --vgdb=no --tool=callgrind --trace-children=yes --collect-systime=yes \
            --compress-strings=no --compress-pos=no --callgrind-out-file=\(path) \
            /bin/sh -c \(ShellText.joined([side.command]))
            """
        let process = try SideProcess(counted, timeout: settings.timeout * 10, shouldStop: shouldStop)
        try iterate(process, cell, iterationCount)
        // callgrind writes its figures when the process ends.
        process.end(grace: settings.timeout)
        var profile = CallgrindProfile()
        do {
            for name in try Folder.entries(in: folder.string).map(\.name) where name.hasSuffix(suffix) {
                let path = folder.appending(name).string
                profile.add(String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self))
                unlink(path)
            }
        } catch {
            throw .failed(side.role, "\(error)")
        }
        guard profile.instructionCount > 0 else { throw .failed(side.role, "no profile: expected one that it wrote") }
        return [
            .instructions: Double(profile.instructionCount - profile.libraryInstructionCount),
            .allocations: Double(profile.allocationCount),
            .libraryInstructions: Double(profile.libraryInstructionCount),
            .systemCalls: Double(profile.systemCallCount),
        ]
    }

    private func faults(
        _ side: GateSide, _ cell: PreparedCell, _ iterationCount: UInt64
    ) throws(SideFailure) -> Double {
        let process = try SideProcess(side, timeout: settings.timeout, shouldStop: shouldStop)
        try iterate(process, cell, iterationCount)
        let usage = OutsideUsage.now(of: process.processID)
        process.end()
        return usage.map { Double($0.minorFaults + $0.majorFaults) } ?? 0
    }

    private func iterate(
        _ process: SideProcess, _ cell: PreparedCell, _ iterationCount: UInt64
    ) throws(SideFailure) {
        try process.greet()
        try process.open(cell.object, isServed: cell.isServed)
        let times = try process.time(cell.workload, iterationCount: iterationCount)
        guard times.count == iterationCount else {
            throw .failed(process.role, "it ran \(times.count) iterations: expected \(iterationCount)")
        }
    }
}

/// The sums over callgrind's files.
package struct CallgrindProfile: Hashable, Sendable {
    /// All instructions.
    package private(set) var instructionCount: UInt64 = 0
    /// The instructions in libraries that belong neither to the language nor to the system.
    package private(set) var libraryInstructionCount: UInt64 = 0
    /// Calls to the allocator. Calls from within the allocator do not count.
    package private(set) var allocationCount: UInt64 = 0
    /// System calls.
    package private(set) var systemCallCount: UInt64 = 0

    private static let allocators: Set<Substring> = [
        "malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign", "mmap",
    ]

    /// The table in which Swift's runtime looks up conformances. It is hashed by address, so the number of probes
    /// depends on the layout and differs between links. Instructions in it are not counted.
    private static let addressTable = "ConcurrentReadableHashMap"

    private static let systemLibraries = [
        "ld-linux", "libc.", "libc-", "libm.", "libpthread", "libswift", "libstdc++", "libgcc", "libFoundation",
        "lib_Foundation", "libdispatch", "vgpreload",
    ]

    package init() {}

    /// Adds the figures of a file. The file has names and positions in full, and instructions in front of system calls.
    package mutating func add(_ text: String) {
        var isLibrary = false
        var called = Substring()
        var isInclusive = false
        var isLookup = false
        var systemCallColumn: Int?
        for line in text.utf8.split(separator: UInt8(ascii: "\n")).map({ Substring($0) }) {
            guard let first = line.utf8.first else { continue }
            if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) {
                // The line after a call has the cost of the callee, which is listed with the callee as well.
                defer { isInclusive = false }
                if isInclusive { continue }
                let numbers = line.split(separator: " ")
                guard !isLookup, numbers.count > 1, let cost = UInt64(numbers[1]) else { continue }
                instructionCount &+= cost
                if isLibrary { libraryInstructionCount &+= cost }
                if let systemCallColumn, numbers.count > systemCallColumn {
                    systemCallCount &+= UInt64(numbers[systemCallColumn]) ?? 0
                }
            } else if line.hasPrefix("calls=") {
                isInclusive = true
                if Self.allocators.contains(called) {
                    allocationCount &+= UInt64(line.dropFirst(6).prefix { $0 != " " }) ?? 0
                }
            } else if line.hasPrefix("cfn=") {
                called = line.dropFirst(4)
            } else if line.hasPrefix("fn=") {
                isLookup = line.contains(Self.addressTable)
            } else if line.hasPrefix("ob=") {
                isLibrary = Self.isLibrary(line.dropFirst(3))
            } else if line.hasPrefix("events: ") {
                systemCallColumn = line.split(separator: " ").firstIndex(of: "sysCount")
            }
        }
    }

    /// Returns whether an object file may be a backend's library: not the program, the loader, the C library or
    /// Swift's.
    private static func isLibrary(_ path: Substring) -> Bool {
        let name = path.split(separator: "/").last ?? path
        guard name.contains(".so") else { return false }
        return !systemLibraries.contains { name.hasPrefix($0) }
    }
}
