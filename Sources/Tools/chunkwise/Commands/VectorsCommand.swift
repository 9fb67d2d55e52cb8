import ArgumentParser
import ByteSources
import RandomAccess
import SystemPackage
import Vectors

/// `chunkwise vectors`
struct VectorsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vectors",
        abstract: "Writes the range-read vectors as files that any language can use.",
        discussion: helpText(
            """
            EXAMPLES
              chunkwise vectors generate --check
              chunkwise vectors objects --output served

            EXIT CODES
              0 written, or the same; 1 --check found a difference; 64 usage; 65 bad data; 66 missing input; 74 I/O
            """),
        subcommands: [Generate.self, Objects.self])

    /// `chunkwise vectors objects`
    struct Objects: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "objects",
            abstract: "Writes the ciphertexts of the vectors as files, for a server.",
            discussion: helpText(
                """
                Each file is named after its SHA-256. chunkwise verify reads them from a server by the URL of the
                folder. Ciphertexts of more than 1 MiB are left out.

                EXAMPLES
                  chunkwise vectors objects --output served
                  chunkwise verify --source https://example.org/served

                EXIT CODES
                  0 written; 64 usage; 65 a vector file is wrong; 66 one is missing; 74 the folder cannot be written
                """))

        @Option(help: .taking("folder", "The folder for the files, created if necessary."), completion: .directory)
        var output: String

        @Option(
            help: .taking("file", "Write only the ciphertexts of this vector file. May be repeated."),
            completion: .file(extensions: ["json", "rsp"]))
        var vectors: [String] = []

        func run() throws {
            var names: Set<String> = []
            try attempt { try Folder.create(FilePath(output)) }
            let files = try vectors.map { path in try attempt { try VectorFile(path: path) } }
            for group in try files.isEmpty ? DefaultVectors.groups() : files.flatMap(\.groups) {
                let sources = group.playlist.map { $0.resources.values.map { MemorySource($0) as any ByteSource } }
                for source in sources ?? [group.ciphertext] where source.byteCount <= ServedVectors.largestByteCount {
                    let name = try attempt(group.id) { try ServedVectors.objectName(of: source) }
                    guard names.insert(name).inserted else { continue }
                    try attemptInput {
                        let sink = try FileSink(path: FilePath(output).appending(name))
                        try ServedVectors.bytes(of: source).withUnsafeBytes { try sink.write($0, at: 0) }
                        try sink.commit()
                    }
                }
            }
            print("\(names.count) files in \(output) written")
        }
    }

    /// `chunkwise vectors generate`
    struct Generate: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "generate",
            abstract: "Writes the generated vectors. The bytes are the same each time.",
            discussion: helpText(
                """
                The header of each file says how to expand and check it. The schema is data/schemas/vectors.json.

                EXAMPLES
                  chunkwise vectors generate
                  chunkwise vectors generate --check      do the files hold what would be written?

                EXIT CODES
                  0 written, or the same; 1 --check found a difference; 66 no such folder
                """))

        @Option(help: .taking("folder", "The folder for the files."), completion: .directory)
        var output = "data/vectors"

        @Flag(help: "Compare with the existing files instead of writing.")
        var check = false

        func run() throws {
            let files = VectorSet.files
            let display = ProgressDisplay()
            defer { Terminal.clearProgress() }
            for (finished, vectors) in files.enumerated() {
                display.show(finished, of: files.count, "files", name: vectors.name)
                let path = FilePath(output).appending("\(vectors.name).json")
                let text = try attempt(vectors.name) { try VectorWriter.text(of: vectors) }
                if check {
                    let found = try attemptInput { try TextFile.read(path.string) }
                    guard let difference = FirstDifference(found: found, expected: text) else { continue }
                    throw CommandFailure(.no, "\(path), \(difference); run chunkwise vectors generate")
                }
                try attemptInput {
                    let sink = try FileSink(path: path)
                    try Array(text.utf8).withUnsafeBytes { try sink.write($0, at: 0) }
                    try sink.commit()
                }
            }
            Terminal.clearProgress()
            print("\(files.count) files in \(output) \(check ? "are the same" : "written")")
        }
    }
}
