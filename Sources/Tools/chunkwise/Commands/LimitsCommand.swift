import ArgumentParser
import Measurement
import Report
import Results
import Support

/// `chunkwise limits`
struct LimitsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "limits",
        abstract: "Measures the limits of this machine for any reader: AES unit, memory, page cache.",
        discussion: helpText(
            """
            limits measures decryption of independent blocks with the CPU's AES instructions, copies in cache and in
            memory, and reads of a file in the page cache, first with one thread and then with all. In a copy, each byte
            counts once.

            EXAMPLES
              chunkwise limits
              chunkwise limits --threads 4 --format json
              chunkwise limits --folder /mnt/data            on the file system that films are on

            EXIT CODES
              0 measured; 74 no file can be created in the folder
            """))

    @Option(help: "The number of threads of the second pass. (default: one for each CPU)")
    var threads: Int?

    @Option(
        help: .taking(
            "folder", "The folder for the file in the page cache. The file has no name, and is deleted after use."),
        completion: .directory)
    var folder = "/tmp"

    @OptionGroup var output: FormatOptions

    func run() throws {
        let host = ThisHost.describe()
        let options = LimitOptions(
            threads: try Validated.threads(threads ?? min(host.cpuCount, 256)), cacheByteCounts: host.cacheByteCounts,
            machineByteCount: host.memoryByteCount, folder: folder)
        let limits = try attempt { try MachineLimits.measure(options) }
        output.show(limits.text, json: limits.json)
    }
}

extension MachineLimits {
    /// A table with a row for each limit: with one thread, and with all threads.
    var text: String {
        var rows = [["", "1 thread", "\(allThreads.threads) threads"]]
        func add(_ name: String, _ one: Rate, _ all: Rate?) {
            rows.append([
                name, ByteCountText.rate(one.bytesPerSecond), all.map { ByteCountText.rate($0.bytesPerSecond) } ?? "–",
            ])
        }
        for one in oneThread.aesDecrypt {
            let all = allThreads.aesDecrypt.first { $0.keyByteCount == one.keyByteCount }
            add("AES-\(one.keyByteCount * 8) decryption, \(aesUnit)", one.rate, all?.rate)
        }
        let copies = [
            ("in cache", oneThread.cacheCopy, allThreads.cacheCopy),
            ("in memory", oneThread.memoryCopy, allThreads.memoryCopy),
        ]
        for (level, one, all) in copies {
            add("copy of \(ByteCountText.size(one.bufferByteCount)) \(level)", one.rate, all.rate)
        }
        let reads = [
            ("memory", oneThread.memoryRead, allThreads.memoryRead),
            ("page cache", oneThread.pageCacheRead, allThreads.pageCacheRead),
        ]
        for (source, ones, alls) in reads {
            for one in ones {
                let all = alls.first { $0.bufferByteCount == one.bufferByteCount }
                add("\(source) into \(ByteCountText.size(one.bufferByteCount))", one.rate, all?.rate)
            }
        }
        let isAlone = allThreads.threads == 1
        return table(rows.map { isAlone ? Array($0.prefix(2)) : $0 }, rightAligned: [1, 2])
    }

    /// All figures with their samples.
    var json: JSONValue {
        JSONValue(members: ["aesUnit": aesUnit, "oneThread": oneThread.json, "allThreads": allThreads.json])
    }
}

extension ThreadLimits {
    fileprivate var json: JSONValue {
        JSONValue(members: [
            "threads": threads,
            "aesDecrypt": aesDecrypt.map { JSONValue(encoding: $0.rate, adding: ["keyByteCount": $0.keyByteCount]) },
            "cacheCopy": cacheCopy.json, "memoryCopy": memoryCopy.json, "memoryRead": memoryRead.map(\.json),
            "pageCacheRead": pageCacheRead.map(\.json),
        ])
    }
}

extension BufferRate {
    fileprivate var json: JSONValue { JSONValue(encoding: rate, adding: ["bufferByteCount": bufferByteCount]) }
}
