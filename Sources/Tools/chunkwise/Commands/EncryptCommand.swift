import ArgumentParser
import BackendRegistry
import ByteSources
import Measurement
import RandomAccess
import Support
import SystemPackage

/// `chunkwise encrypt`
struct EncryptCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "encrypt",
        abstract: "Encrypts a file for reads from the middle.",
        discussion: helpText(
            """
            The output file gets its name only when it is complete. Some strategies, such as CBC and CTR, need a
            different IV for each file. Without --iv, encrypt draws one at random. It writes the IV to a file NAME.iv
            beside the output NAME, where decrypt, serve and measure find it.

            EXAMPLES
              chunkwise encrypt --key-file k film.mp4 film.enc
              chunkwise encrypt --key-file k --strategy cbc-chunked:chunk=16MB film.mp4 film.enc
              tar c folder | chunkwise encrypt --key-file k --strategy cobblestone-128 - folder.enc
              chunkwise encrypt --key-file k --strategy cobblestone-128 film.mp4 film.enc

            chunkwise format list shows the strategies, and chunkwise format show shows which changes of a file each of
            them detects. CBC, CTR and XTS only hide the data: they detect no change.

            EXIT CODES
              0 encrypted; 64 usage; 65 a key or a length is wrong; 66 a file is missing; 74 I/O
            """))

    @OptionGroup var layout: StrategyOptions
    @OptionGroup var ivOptions: IVOptions
    @OptionGroup var keyOptions: KeyOptions

    @OptionGroup var backendOptions: BackendOptions

    @Option(
        help: .taking("size", "The number of plaintext bytes to encrypt in one step. (default: 256KiB)"),
        completion: .sizes, transform: ByteSize.argument)
    var window = ByteSize(256 << 10)

    @Option(
        help: """
            The number of threads that encrypt chunks of a file in parallel. CBC, CTR, and formats whose header is in \
            the first chunk need 1.
            """)
    var threads = 1

    @Argument(help: "The file to encrypt, or - for standard input.", completion: .file())
    var input: String

    @Argument(help: "The encrypted file, or - for standard output.", completion: .file())
    var output: String

    func run() throws {
        CoreDumps.disable()
        try OutputFile.requireOther(
            output, than: [("the key", keyOptions.keyFile), ("the description", layout.descriptionPath)])
        let windowByteCount = try Validated.window(window)
        let threadCount = try Validated.threads(threads, window: window)
        var isIVDrawn = false
        let strategy = try layout.strategy(ivOptions, keyOptions) { iv in
            isIVDrawn = true
            return (0..<(iv.byteCounts?.first ?? Block.byteCount)).map { _ in .random(in: .min ... .max) }
        }
        let key = try keyOptions.key(for: layout)
        let cipher = try backendOptions.backend(for: strategy, key)
        if try attempt("--strategy \(layout.text)", { try strategy.facts().sharesNonces }) {
            Terminal.warn(
                "by \(strategy.name), objects with one key and the same parameters have the same nonces: expected a "
                    + "key of its own for each")
        }
        let source = try attemptInput { try StreamInput(input) }
        let encryptor = try attempt {
            try ObjectEncryptor(strategy: strategy, backend: cipher, key: key, windowByteCount: windowByteCount)
        }
        let isParallel = source.isNamedFile && encryptor.hasSeparateChunks
        try require(
            threadCount == 1 || isParallel,
            "--threads \(threadCount): expected 1, except for a file and a format that encrypts chunks by themselves")
        let stepByteCount = isParallel ? max(UInt64(windowByteCount), encryptor.geometry.chunkByteCount) : 0
        // A thread has a step of plaintext, and two of ciphertext.
        try require(
            BufferLimit.allows(threads: threadCount, windowByteCount: 3 * stepByteCount),
            "--threads \(threadCount) with steps of \(ByteSize(stepByteCount)): expected \(BufferLimit.expectation)")
        let plaintext = try isParallel ? attemptInput { try FileSource(path: FilePath(input)) } : nil
        let transfer = plaintext.flatMap { ChunkTransfer(encryptor, of: $0, windowByteCount: windowByteCount) }
        let sink = try attempt { try Output.open(output) }
        // A pipe or a device has no folder for an IV file.
        let value = strategy.outer.hasIVInFront ? nil : strategy[Format.Input.ivName]?.bytes?.array
        // An IV of no bytes, as where it is part of the key, needs no file.
        let iv = value?.isEmpty == true ? nil : value
        let file = iv == nil ? nil : sink as? FileSink
        try require(
            file != nil || !isIVDrawn || iv == nil, .usage,
            "output \(output) without --iv: expected --iv, or a regular file, beside which the IV is stored")
        if file != nil { try requirePlaceOfIV(strategy.format.ivInput?.byteCounts) }
        try attempt(input == "-" ? nil : input) {
            let progress = { (done: UInt64) in Terminal.showProgress("\(ByteSize((done >> 20) << 20)) of \(input)") }
            if let transfer {
                try transfer.run(to: sink, threadCount: threadCount, progress: progress)
            } else {
                try source.encrypt(with: encryptor, to: sink, progress: progress)
            }
            if let file, let iv { try IVFile.commit(file, at: FilePath(output), iv: iv) } else { try sink.commit() }
        }
        Terminal.clearProgress()
    }

    /// Refuses an output whose IV file would replace the input, the key, or any file that is not an IV file.
    private func requirePlaceOfIV(_ byteCounts: [Int]?) throws {
        let path = IVFile.path(of: FilePath(output))
        if let replaced = OutputFile.identity(of: path.string) {
            try require(
                ![input, keyOptions.keyFile].contains { $0.flatMap(OutputFile.identity) == replaced },
                "output \(output): its IV would replace \(path), which is read: expected another name")
        }
        try attempt { try IVFile.requirePlace(beside: FilePath(output), byteCounts: byteCounts) }
    }
}
