package import ArgumentParser
internal import BackendRegistry
internal import RandomAccess
internal import SubjectProtocol

/// What a shell proposes for options whose values it cannot know.
extension CompletionKind {
    /// Names of crypto libraries.
    package static let backends = list(BackendRegistry.names)

    /// Names of strategies.
    package static let strategies = list(Strategy.names + [PlaylistRequest.strategyName])

    /// Sizes that are worth a try.
    package static let sizes = list(["4KiB", "64KiB", "256KiB", "1MiB", "4MiB", "16MB", "16MiB", "100MiB"])
}
