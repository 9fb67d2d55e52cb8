import ByteSources
import CommandOptions
import Conformance
import Measurement
import Report
import Results
import SystemPackage
import Vectors

/// Puts the evidence of a verification on disk.
enum EvidenceWriting {
    /// Creates the folder, so that one that cannot be is found before the work is done.
    static func prepare(_ folder: String) throws {
        try attempt { try Folder.create(FilePath(folder)) }
    }

    /// Renders evidence into a folder, which is created if need be.
    static func write(
        _ records: [ConformanceRecord], vectorFiles: [String], mutants: [Evidence.MutantOutcome]?,
        tampering: [TamperRecord]?, to folder: String
    ) throws {
        let backends = Backends.available().map {
            RunHeader.Backend(name: $0.name, version: $0.version, cpuFeatures: $0.cpuFeatures)
        }
        let pins = try pins(vectorFiles)
        let evidence = Evidence(
            programVersion: Program.version, command: Program.command, startedAt: Program.time(),
            host: ThisHost.describe(), backends: backends, vectorFiles: pins,
            flags: flags(of: records), requirements: Requirements.all, subjects: records, mutants: mutants,
            tampering: tampering)
        try ReportWriting.write(renderEvidence(evidence), to: FilePath(folder))
    }

    /// The classes of vectors; of those that only subjects in other processes meet, the ones that were.
    private static func flags(of records: [ConformanceRecord]) -> [Evidence.FlagExplanation] {
        let known = Set(VectorFlag.allCases.map(\.rawValue))
        let met = Set(records.flatMap { ($0.flags ?? []).map(\.flag) })
        return VectorFlag.allCases.map { .init(flag: $0.rawValue, explanation: $0.explanation, source: $0.source) }
            + ExternalFlag.allCases.filter { met.contains($0.rawValue) && !known.contains($0.rawValue) }.map {
                .init(flag: $0.rawValue, explanation: $0.explanation, source: $0.source)
            }
    }

    /// The pins of what was run: files that were named, or else the known answers and what the generator writes.
    private static func pins(_ vectorFiles: [String]) throws -> [Evidence.VectorFilePin] {
        let files = vectorFiles.isEmpty ? DefaultVectors.files : vectorFiles
        var pins = try files.map { name in
            let path = FilePath(name)
            return Evidence.VectorFilePin(
                name: path.lastComponent?.string ?? path.string, sha256: try attempt { try FileDigest.sha256(path) })
        }
        guard vectorFiles.isEmpty else { return pins }
        for vectors in VectorSet.files {
            let digest = try attempt { try VectorWriter.sha256(of: vectors) }
            pins.append(.init(name: vectors.name + ".json", sha256: digest))
        }
        return pins
    }
}
