import ArgumentParser
import CommandOptions
import Gate
import Report

/// `chunkwise gate`
struct GateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gate",
        abstract: "Says whether a candidate is slower than a baseline: two programs that speak the subject protocol.",
        discussion: helpText(
            """
            Both run side by side in short turns, in fresh processes, and are compared with a copy of the baseline too. A
            candidate that delivers other bytes is wrong, however fast. What is slower is measured again before it is
            said. Without a plan, a few short cells that both sides support are compared; a plan's backend, access,
            threads, rounds and time mean nothing here, since the commands bring their own.

            Where there is no baseline to run, --record keeps the candidate's times over those of a reference that runs
            beside it, and --against compares with such a file.

            --self-test runs whole gates whose right answer is known: the baseline (this program's subject unless said)
            against itself, and against itself with extra work of a calibrated share. It prints how often the gate was
            right, with intervals; --output keeps every run as it ends, and a self-test that was stopped goes on from there.

            EXAMPLES
              chunkwise gate --baseline 'old/chunkwise subject' --candidate 'new/chunkwise subject'
              chunkwise gate --baseline 'python3 v1.py' --candidate 'python3 v2.py' --plan plan.yml --format json
              chunkwise gate --baseline './a' --candidate './b' --tolerance 5% --max-memory-growth 1MiB
              chunkwise gate --baseline './a' --candidate './b' --format github --write junit=gate.xml
              chunkwise gate --record ratios.json --candidate './a'
              chunkwise gate --against ratios.json --candidate './b'
              chunkwise gate --self-test --runs 100 --slowdown 3%,4% --busy --output gate-rates.jsonl

            EXIT CODES
              0 faster or same; 1 slower, wrong, or grown; 2 the host is unfit, inconclusive, or nothing was compared;
              with --self-test, 0 measured, whatever came out, and 2 stopped
            """))

    @OptionGroup var sides: GateSideOptions
    @OptionGroup var selfTest: SelfTestOptions
    @OptionGroup var options: GateOptions
    @OptionGroup var output: GateOutputOptions

    func run() throws {
        if selfTest.selfTest { return try SelfTestRunning.run(selfTest, of: sides, options, output: output) }
        try output.validate(for: sides)
        let result = try GateRunning.run(try options.settings(for: sides))
        try output.write(result, to: sides, allowsInconclusive: options.allowInconclusive)
        try GateRunning.requirePass(
            result, allowsInconclusive: options.allowInconclusive, isRecording: sides.isRecording)
    }
}
