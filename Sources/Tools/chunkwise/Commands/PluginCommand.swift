import ArgumentParser
import ByteSources
import RandomAccess
import Support
import SystemPackage

/// `chunkwise plugin`
struct PluginCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugin", abstract: "Starts a plug-in: AES in a shared library that chunkwise tests.",
        discussion: helpText(
            """
            EXAMPLES
              chunkwise plugin new mine --language c
              chunkwise verify --plugin "$PWD/mine/mine.so"

            EXIT CODES
              0 written; 64 the name or the folder cannot be; 74 it cannot be written
            """), subcommands: [New.self])

    /// `chunkwise plugin new`
    struct New: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "new",
            abstract: "Writes a folder with a plug-in to be filled in, its header and a Makefile.",
            discussion: helpText(
                """
                The plug-in compiles, loads, and passes nothing: each of its functions says that it is unsupported. docs/plugins.md
                says what belongs there.

                EXAMPLES
                  chunkwise plugin new mine --language c && make -C mine
                  chunkwise verify --plugin "$PWD/mine/mine.so"

                EXIT CODES
                  0 written; 64 the name or the folder cannot be; 74 it cannot be written
                """))

        @Argument(help: "The plug-in's name, and that of its folder: letters, digits and underscores.")
        var name: String

        @Option(help: "What it is written in.")
        var language = PluginTemplate.Language.c

        func run() throws {
            func isName(_ scalar: Unicode.Scalar) -> Bool {
                scalar.isASCII && (scalar.properties.isAlphabetic || scalar == "_")
            }
            let rest = name.unicodeScalars.dropFirst()
            try require(
                name.unicodeScalars.first.map(isName) == true
                    && rest.allSatisfy { isName($0) || ("0"..."9").contains($0) }, .usage,
                "\(name): expected a name of letters, digits and underscores that begins with a letter")
            let folder = FilePath(name)
            try attempt { try Folder.create(folder) }
            try require(
                try attempt { try Folder.entries(in: name) }.isEmpty, .usage,
                "\(name): it holds files: expected a new folder")
            for (path, text) in PluginTemplate(name: name, language: language).files {
                let file = folder.pushing(FilePath(path))
                try attempt { try Folder.create(file.removingLastComponent()) }
                try attempt { try TextFile.write(text, to: file) }
                print(file)
            }
            print("make -C \(name) && chunkwise verify --plugin \"$PWD/\(name)/\(name).so\"")
        }
    }
}

extension PluginTemplate.Language: ExpressibleByArgument {}
