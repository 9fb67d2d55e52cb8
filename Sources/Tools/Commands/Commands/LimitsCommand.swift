import ArgumentParser
import CommandOptions
import Measurement
import Results

/// `chunkwise limits`
struct LimitsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "limits",
        abstract: "Measures what no reader on this machine can exceed: AES unit, memory, page cache.",
        discussion: helpText(
            """
            Decryption of independent blocks by the CPU's AES instructions, copies in cache and in memory, and reads of a
            file that is in the page cache, first with one thread and then with all. Copies count each byte once.

            EXAMPLES
              chunkwise limits
              chunkwise limits --threads 4 --format json
              chunkwise limits --folder /mnt/data            on the file system that films are on

            EXIT CODES
              0 measured; 74 the folder takes no file
            """))

    @Option(help: "How many threads work side by side in the second half. (default: one for each CPU)")
    var threads: Int?

    @Option(
        help: ArgumentHelp(
            "Where the file for the page cache is, without a name while it is used, and gone after.",
            valueName: "folder"), completion: .directory)
    var folder = "/tmp"

    @OptionGroup var output: FormatOptions

    func run() throws {
        let host = ThisHost.describe()
        let options = LimitOptions(
            threads: try Validated.threads(threads ?? min(host.cpuCount, 256)), cacheByteCounts: host.cacheByteCounts,
            machineByteCount: host.memoryByteCount, folder: folder)
        let limits = try attempt { try MachineLimits.measure(options) }
        switch output.format {
        case .json: print(limits.json.text)
        case .text: print(limits.text)
        }
    }
}
