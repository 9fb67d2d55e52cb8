import ArgumentParser
import RandomAccess
import SystemPackage

/// The option for films.
struct FilmOptions: ParsableArguments {
    @Option(
        name: .customLong("init"),
        help: .taking("file", "film: the file with the film's box moov, if its fragments are in files without it."),
        completion: .file())
    var start: String?

    init() {}

    /// The file, which only a film may have.
    func start(with layout: StrategyOptions) throws -> FilePath? {
        guard let start else { return nil }
        try require(layout.list == .film, "--init \(start): expected none with the strategy \(layout.strategy)")
        return FilePath(start)
    }
}
