import Conformance
import RandomAccess
import Vectors

/// The vectors, planted faults and objects to tamper with that follow from the formats of `verify --strategy`.
struct FormatVerification {
    private let formats: [Format]
    private let vectors: DescribedVectors

    /// Reads the formats that names or paths are of.
    ///
    /// - Throws: `CommandFailure`.
    init(_ words: [String]) throws {
        formats = try words.map(FormatFiles.format)
        let formats = formats
        vectors = try attempt("--strategy") { try DescribedVectors(formats) }
    }

    func groups() throws -> [VectorGroup] { try attempt("--strategy") { try vectors.groups() } }

    /// The vectors that planted faults are put to.
    func chosenGroups() throws -> [VectorGroup] { try attempt("--strategy") { try vectors.chosenGroups() } }

    func tamperTargets() throws -> [TamperTarget] { try attempt("--strategy") { try vectors.tamperTargets() } }

    /// The formats with one rule changed.
    var mutants: [Mutant] { Mutant.rules(of: formats) }
}
