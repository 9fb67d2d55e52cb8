import ArgumentParser
import CommandOptions

/// The root of the command line.
struct Chunkwise: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chunkwise",
        abstract: "Checks and measures decryption that starts in the middle of a file.",
        discussion: helpText(
            """
            EXAMPLES
              chunkwise run               verify, measure, report: the main job
              chunkwise backends          which crypto libraries are there
              chunkwise verify            are all ranges right, in every backend?
              chunkwise vectors generate  write the range reads as files for any language
              chunkwise limits            what this machine can do at most
              chunkwise measure --backend openssl --window 256KiB
              chunkwise recommend reports/2026-11-21-host --memory 64MiB --workload playback
              chunkwise gate --baseline 'old subject' --candidate 'new subject'
              chunkwise decrypt --key-file k --iv 000102… film.enc - --range 0-1023

            EXIT CODES
              0 yes; 1 the answer is no; 2 no answer; 64 usage; 65 bad data; 66 missing input; 74 I/O
            """),
        version: Program.version,
        subcommands: [
            RunCommand.self, BackendsCommand.self, VerifyCommand.self, VectorsCommand.self, LimitsCommand.self,
            MeasureCommand.self, SweepCommand.self, GateCommand.self, ReportCommand.self, RecommendCommand.self,
            CompareCommand.self, TrendCommand.self, EncryptCommand.self, DecryptCommand.self, ServeCommand.self,
            KeyServerCommand.self, KeyClientCommand.self,
            TLSCheckCommand.self, SubjectCommand.self,
        ])
}
