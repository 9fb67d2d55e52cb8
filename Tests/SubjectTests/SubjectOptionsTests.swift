import Subject
import Support
import Testing

@Suite("options of a subject")
struct SubjectOptionsTests {
    @Test("without options it is libgcrypt by blocks; each option has two spellings, and the last one counts")
    func options() throws {
        let usual = try SubjectOptions(arguments: [])
        #expect(usual.backend == "libgcrypt" && usual.access == .block && usual.window == ByteSize(256 << 10))
        #expect(usual.threads == 1 && usual.extraWork == 0 && usual == SubjectOptions())
        let all = try SubjectOptions(arguments: [
            "--backend", "openssl", "--access=chunk-cache", "--window", "4096", "--window", "1MiB", "--threads=3",
            "--extra-work", "0.05",
        ])
        #expect(all.backend == "openssl" && all.access == .chunkCache && all.window == ByteSize(1 << 20))
        let configuration = try all.configuration()
        #expect(configuration.threadCount == 3 && configuration.windowByteCount == 1 << 20)
        #expect(configuration.extraWork?.share == 0.05)
    }

    @Test(
        "what cannot be is refused with what was expected",
        arguments: [
            ["--bakend", "openssl"], ["openssl"], ["--backend"], ["--access", "chunk"], ["--window", "a"],
            ["--threads", "x"], ["--extra-work", "much"],
        ])
    func mistakes(arguments: [String]) {
        let mistake = #expect(throws: SubjectOptions.Mistake.self) { try SubjectOptions(arguments: arguments) }
        #expect(mistake?.exitStatus == .usage && mistake?.description.contains("expected") == true)
    }

    @Test(
        "numbers out of range are refused",
        arguments: [
            ["--window", "0"], ["--window", "2GiB"], ["--threads", "0"], ["--threads", "257"], ["--extra-work", "11"],
            ["--extra-work=-1"], ["--extra-work", "nan"],
        ])
    func ranges(arguments: [String]) throws {
        let options = try SubjectOptions(arguments: arguments)
        #expect(throws: SubjectOptions.Mistake.self) { try options.configuration() }
    }
}
