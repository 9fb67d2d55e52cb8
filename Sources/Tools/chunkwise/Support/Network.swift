import ByteSources
import RandomAccess

#if Network
import HTTPSources
#endif

/// Access to servers, which needs an HTTP stack. The package's trait `Network` builds it, and is on by default.
enum Network {
    #if Network
    /// True if this build has an HTTP stack.
    static let isBuiltIn = true

    /// Makes a client of HTTP; `nil` in a build without one.
    static func client() -> (any NetworkSources)? {
        // A closed connection is an error, not the end of the process.
        Interruption.ignoreBrokenPipes()
        return HTTPNetwork()
    }
    #else
    /// True if this build has an HTTP stack.
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

    /// The failure of a build without an HTTP stack for a feature that needs one.
    static func missing(_ what: String) -> CommandFailure {
        CommandFailure(
            .noAnswer, "\(what) is not in this build: expected a chunkwise built by scripts/build --all")
    }

    /// Opens an object, and prints its warnings.
    static func open(_ object: RemoteObject) throws -> any ByteSource {
        let client = try required()
        let known = client.warnings(of: object)
        warn(known)
        let opened = try attempt { try client.open(object) }
        warn(opened.warnings.filter { !known.contains($0) })
        return opened.source
    }

    /// Prints warnings on standard error.
    static func warn(_ warnings: [String]) {
        for warning in warnings { Terminal.warn("\(warning)") }
    }
}
