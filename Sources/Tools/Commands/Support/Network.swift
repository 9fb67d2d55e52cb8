import ByteSources
import CommandOptions
import RandomAccess

/// What this program reads objects on servers with.
enum Network {
    /// What ``CommandLineProgram/run(network:)`` was given.
    @TaskLocal static var sources: (any NetworkSources)?

    /// The sources; a program without any is replaced by the one that has them, started with the same arguments.
    ///
    /// - Throws: `CommandFailure` if that one is not there.
    static func required() throws -> any NetworkSources {
        if let sources { return sources }
        try SiblingProgram.replace("chunkwise-https", arguments: Array(CommandLine.arguments.dropFirst()))
    }

    /// Goes on as the program that has them where arguments name an object on a server: to find that out from the options,
    /// both programs would parse them. If it is not there, nothing happens yet.
    static func goOnAtOnce(_ arguments: [String]) {
        let readers = ["decrypt", "measure", "sweep", "verify"]
        guard let command = arguments.dropFirst().first, readers.contains(command) else { return }
        let isObject = zip(arguments, arguments.dropFirst()).contains { option, value in
            option != "--key-server" && RemoteObject.isURL(value)
        }
        if isObject { try? SiblingProgram.replace("chunkwise-https", arguments: Array(arguments.dropFirst())) }
    }

    /// Opens an object, and says on standard error what every result must say of it.
    static func open(_ place: RemoteObject) throws -> any ByteSource {
        let sources = try required()
        let known = sources.warnings(of: place)
        warn(known)
        let object = try attempt { try sources.open(place) }
        warn(object.warnings.filter { !known.contains($0) })
        return object.source
    }

    /// Says on standard error what every result must say.
    static func warn(_ warnings: [String]) {
        for warning in warnings { Terminal.writeError("chunkwise: warning: \(warning)") }
    }
}
