import ByteSources
import RandomAccess

#if Network
import HTTPSources
#endif

/// Objects on servers, and what else takes an HTTP stack: the package's trait `Network` builds it, and is on by default.
enum Network {
    #if Network
    /// Whether this build has an HTTP stack.
    static let isBuiltIn = true

    /// Makes a client of HTTP; `nil` in a build without one.
    static func client() -> (any NetworkSources)? {
        // A server that goes away is an error of a connection, not the end of the process.
        Interruption.ignoreBrokenPipes()
        return HTTPNetwork()
    }
    #else
    /// Whether this build has an HTTP stack.
    static let isBuiltIn = false

    /// Makes a client of HTTP; `nil` in a build without one.
    static func client() -> (any NetworkSources)? { nil }
    #endif

    /// Makes a client of HTTP.
    ///
    /// - Throws: `CommandFailure` in a build without one.
    static func required() throws -> any NetworkSources {
        guard let client = client() else { throw missing("a source over HTTP") }
        return client
    }

    /// What a build without an HTTP stack says of what needs one.
    static func missing(_ what: String) -> CommandFailure {
        CommandFailure(
            .noAnswer, "\(what) is not in this build: expected a chunkwise built by swift build -c release")
    }

    /// Opens an object, and says on standard error what every result must say of it.
    static func open(_ object: RemoteObject) throws -> any ByteSource {
        let client = try required()
        let known = client.warnings(of: object)
        warn(known)
        let opened = try attempt { try client.open(object) }
        warn(opened.warnings.filter { !known.contains($0) })
        return opened.source
    }

    /// Says on standard error what every result must say.
    static func warn(_ warnings: [String]) {
        for warning in warnings { Terminal.warn("\(warning)") }
    }
}
