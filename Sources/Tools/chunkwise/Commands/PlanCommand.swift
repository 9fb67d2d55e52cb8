import ArgumentParser
import ByteSources
import Measurement
import RandomAccess
import Report
import Results
import Subject
import SubjectProtocol
import Support
import SystemPackage

/// `chunkwise plan`
struct PlanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Computes which chunk size, strategy and window suit a storage, in seconds.",
        discussion: helpText(
            """
            The readers read an object that is not there, and what they ask for is counted: requests, bytes, blocks. A
            read takes its requests' latencies, its bytes' transfer and its decryption, one after the other. Nothing is
            timed but the cipher, in cache. What is printed: the choice, what a step in each direction would change, and
            each strategy and chunk.

            Of the configurations within the memory, those are looked at whose 90th percentile of a read is within 5 % of
            the soonest; of these the one with the least memory is taken, then the fewest bytes fetched, then the fastest
            download. Measure the choice: chunkwise measure --latency --bandwidth.

            EXAMPLES
              chunkwise plan --object-size 4GB --latency 20ms --bandwidth 100MB/s --memory 64MiB
              chunkwise plan --latency 20ms --bandwidth 100MB/s --reads 64KiB,1MiB --output plan
              chunkwise plan --strategies cbc-chunked --chunks 1MiB,16MB,100MiB --accesses block,chunk-cache
              chunkwise plan --strategies cobblestone-128,tink-aes-gcm-hkdf --format json

            EXIT CODES
              0 a choice; 1 nothing fits the memory; 64 usage; 74 the folder cannot be written
            """))

    @Option(help: .taking("size", "The object's length."), completion: .sizes, transform: ByteSize.argument)
    var objectSize = ByteSize(1 << 30)

    @Option(help: .taking("time", "The time from a request to its answer's first byte. (default: none)"))
    var latency: String?

    @Option(help: .taking("rate", "The bandwidth, such as 100MB/s or 800Mbit/s. (default: any)"))
    var bandwidth: String?

    @Option(help: .taking("size", "The max memory of a reader and its buffer."), transform: ByteSize.argument)
    var memory: ByteSize?

    @Option(help: .taking("sizes", "Lengths of reads, the one that decides first."))
    var reads = "64KiB,4KiB,1MiB"

    @Option(help: .taking("sizes", "Chunks of cbc-chunked, segments of Tink's."))
    var chunks = "16KiB,64KiB,256KiB,1MiB,4MiB,16MB,100MiB"

    @Option(help: .taking("sizes", "What is decrypted in one step, at most."))
    var windows = "64KiB,256KiB,1MiB,4MiB"

    @Option(help: .taking("names", "Strategies. (default: all but cobblestone-256)"))
    var strategies: String?

    @Option(help: .taking("names", "What is read of a chunk: block, chunk-cache, whole-chunk, fresh-buffers."))
    var accesses = "block,chunk-cache"

    @Option(help: "The crypto library; see chunkwise backends.", completion: .backends)
    var backend = "libgcrypt"

    @Option(help: "What offsets are drawn from.")
    var seed: UInt64 = 1

    @Option(help: .taking("folder", "Write a page with pictures too."), completion: .directory)
    var output: String?

    @OptionGroup var format: FormatOptions

    func run() throws {
        let report = PlanReport(try attempt { try ComputedPlan(try inputs()) })
        if let output { try ReportWriting.write(report.files, to: FilePath(output)) }
        switch format.format {
        case .text: print(report.text)
        case .json: print(report.json.text)
        }
        if !report.hasChoice { throw ExitCode(1) }
    }

    private func inputs() throws -> PlanInputs {
        try require(
            (1...(1 << 60)).contains(objectSize.byteCount), "--object-size \(objectSize): expected 1 byte to 1EiB")
        let cipher = try Validated.backend(backend)
        let names = try Self.list(
            strategies ?? Strategy.names.filter { $0 != "cobblestone-256" }.joined(separator: ","), "--strategies"
        ) { Strategy.names.contains($0) ? $0 : nil }
        let modes = Set(names.map { Strategy.mode(ofName: $0) })
        var rates: [CipherMode: UInt64] = [:]
        for mode in modes { rates[mode] = try attempt(backend) { try CipherRate.bytesPerSecond(of: cipher, mode) } }
        let lengths = try Self.sizes(reads, "--reads", atMost: min(Workload.largestRead, objectSize.byteCount))
        var inputs = PlanInputs(
            objectByteCount: objectSize.byteCount, link: try Validated.link(latency: latency, bandwidth: bandwidth),
            strategies: names,
            chunkByteCounts: try Self.sizes(chunks, "--chunks", atMost: 1 << 30),
            accesses: try Self.list(accesses, "--accesses") { AccessPolicy(rawValue: $0) },
            windowByteCounts: try Self.sizes(windows, "--windows", atMost: 256 << 20), rangeByteCounts: lengths,
            backend: backend, cipherBytesPerSecond: rates, copiesInLibrary: UInt64(cipher.copyCountPerCall),
            memoryBudget: memory?.byteCount, seed: seed)
        inputs.callNanoseconds = CipherRate.callNanoseconds()
        return inputs
    }

    private static func list<Value>(
        _ text: String, _ option: String, _ read: (String) -> Value?
    ) throws -> [Value] {
        let words = text.split(separator: ",", omittingEmptySubsequences: false).map {
            String($0).trimmingPrefix(" ")
        }
        try require(words.count <= 32, "\(option): expected at most 32 of them")
        return try words.map { word in
            try require(
                read(String(word)), .usage,
                "\(option) \"\(word)\": expected a list such as \(option == "--accesses" ? "block,chunk-cache" : "ctr")"
            )
        }
    }

    private static func sizes(_ text: String, _ option: String, atMost maximum: UInt64) throws -> [UInt64] {
        var sizes: [UInt64] = []
        for size in try list(text, option, ByteSize.init(_:)) {
            try require(
                (1...maximum).contains(size.byteCount), "\(option) \(size): expected 1 byte to \(ByteSize(maximum))")
            if !sizes.contains(size.byteCount) { sizes.append(size.byteCount) }
        }
        return sizes
    }
}
