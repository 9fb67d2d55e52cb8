import Conformance
import RandomAccess
import Vectors

/// The vectors, mutants and objects to tamper with for the formats of `verify --strategy`.
struct FormatVerification {
    private let formats: [Format]
    private let vectors: DescribedVectors

    /// Reads the formats with the given names or paths.
    ///
    /// - Throws: `CommandFailure`.
    init(_ words: [String]) throws {
        formats = try words.map(FormatFiles.format)
        let formats = formats
        vectors = try attempt("--strategy") { try DescribedVectors(formats) }
    }

    func groups() throws -> [VectorGroup] { try attempt("--strategy") { try vectors.groups() } }

    /// The vectors for mutants.
    func chosenGroups() throws -> [VectorGroup] { try attempt("--strategy") { try vectors.chosenGroups() } }

    func tamperTargets() throws -> [TamperTarget] { try attempt("--strategy") { try vectors.tamperTargets() } }

    /// The mutants: the formats with one rule changed each.
    var mutants: [Mutant] { Mutant.rules(of: formats) }
}
