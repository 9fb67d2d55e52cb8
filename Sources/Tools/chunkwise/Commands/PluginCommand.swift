import ArgumentParser
import ByteSources
import RandomAccess
import Support
import SystemPackage

/// `chunkwise plugin`
struct PluginCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugin", abstract: "Creates a plug-in: AES in a shared library, for chunkwise to test.",
        discussion: helpText(
            """
            EXAMPLES
              chunkwise plugin new mine --language c
              chunkwise verify --plugin "$PWD/mine/mine.so"

            EXIT CODES
              0 written; 64 the name or the folder is invalid; 74 it cannot be written
            """), subcommands: [New.self])

    /// `chunkwise plugin new`
    struct New: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "new",
            abstract: "Writes a folder with the skeleton of a plug-in, its header and a Makefile.",
            discussion: helpText(
                """
                The plug-in compiles and loads, but passes no test: each of its functions returns "unsupported".
                docs/plugins.md explains how to implement them.

                EXAMPLES
                  chunkwise plugin new mine --language c && make -C mine
                  chunkwise verify --plugin "$PWD/mine/mine.so"

                EXIT CODES
                  0 written; 64 the name or the folder is invalid; 74 it cannot be written
                """))

        @Argument(help: "The plug-in's name, and that of its folder: letters, digits and underscores.")
        var name: String

        @Option(help: "The programming language.")
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
