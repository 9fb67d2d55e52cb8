import Conformance
import Measurement
import Report
import Results
import SystemPackage
import Vectors

/// Puts the evidence of a verification on disk.
enum EvidenceWriting {
    /// Renders evidence into a folder, which is created if need be.
    static func write(
        _ records: [ConformanceRecord], vectorFiles: [String], mutants: [Evidence.MutantOutcome]?, to folder: String
    ) throws {
        let backends = Backends.available().map {
            RunHeader.Backend(name: $0.name, version: $0.version, cpuFeatures: $0.cpuFeatures)
        }
        let pins = try vectorFiles.map { name in
            let path = FilePath(name)
            return Evidence.VectorFilePin(
                name: path.lastComponent?.string ?? path.string, sha256: try attempt { try FileDigest.sha256(path) })
        }
        let evidence = Evidence(
            programVersion: Program.version, command: Program.command, startedAt: Program.time(),
            host: ThisHost.describe(), backends: backends, vectorFiles: pins,
            flags: VectorFlag.allCases.map {
                .init(flag: $0.rawValue, explanation: $0.explanation, source: $0.source)
            }, requirements: Requirements.all, subjects: records, mutants: mutants)
        try ReportWriting.write(renderEvidence(evidence), to: FilePath(folder))
    }
}
