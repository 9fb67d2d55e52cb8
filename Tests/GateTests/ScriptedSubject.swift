import Gate
import Glibc
import Measurement
import OpenSSLBackend
import RandomAccess
import Results
import SystemPackage
import TestSupport

/// A subject that says how long its work took instead of doing any: verdicts then depend on no clock.
struct ScriptedSubject {
    /// What it claims for an iteration; drawn from a range this wide above it.
    var nanoseconds = 1_000_000
    var spread = 4_000
    var strategies = ["cbc-continuous", "ctr"]
    var sources = ["path"]
    var measures = true
    var version = "1"
    /// What it says the digest is; the right one unless said otherwise.
    var digest: String?
    /// Shell code that runs before it answers `hello`, `open` and `time`.
    var atHello = ":"
    var atOpen = ":"
    var atTime = ":"

    /// A cell that it knows the answer for.
    static let cell = Cell(
        backend: "any", strategy: "cbc-continuous", padding: "pkcs7", windowByteCount: 4096, objectByteCount: 65536)

    /// SHA-256 of the cell's plaintext, which a store makes.
    static let rightDigest: String = {
        do {
            let folder = try TemporaryFolder()
            let store = ObjectStore(folder: FilePath(folder.path), encryption: try OpenSSL())
            let reads = try cell.workload(seed: 1, traces: [:]).reads(plaintextByteCount: cell.objectByteCount)
            return try store.expectedDigest(of: try store.object(for: cell), cell: cell, reads: reads)
        } catch {
            return "\(error)"
        }
    }()

    /// Writes the script, and returns the command that starts it; `DIR` is the folder.
    func command(_ name: String, in folder: TemporaryFolder) throws -> String {
        func list(_ names: [String]) -> String { names.map { "\"\($0)\"" }.joined(separator: ",") }
        let hello =
            #"{"ok":true,"protocol":1,"name":"\#(name)","version":"\#(version)","strategies":[\#(list(strategies))],"#
            + #""keyByteCounts":[16],"sources":[\#(list(sources))],"granularity":"block","measures":\#(measures)}"#
        let digest = digest ?? Self.rightDigest
        let path = try folder.file(
            name,
            """
            DIR='\(folder.path)'; n=$$; ns=\(nanoseconds)
            while IFS= read -r line; do case "$line" in
            *'"op":"hello"'*) \(atHello); echo '\(hello)';;
            *'"op":"open"'*) \(atOpen); echo '{"ok":true,"plaintextByteCount":65536}';;
            *'"digest"'*) echo '{"ok":true,"digest":"\(digest)","deliveredByteCount":65536}';;
            *'"time"'*) \(atTime); n=$(( (n * 1103515245 + 12345) % 2147483648 ))
              echo "{\\"ok\\":true,\\"nanoseconds\\":[$(( ns + n / 65536 % \(max(1, spread)) ))]}";;
            *) echo '{"ok":true}'; exit 0;;
            esac; done
            """)
        return "sh '\(path)'"
    }
}

/// Runs a gate over scripted subjects, in process.
func gate(
    _ baseline: ScriptedSubject = ScriptedSubject(), _ candidate: ScriptedSubject, in folder: TemporaryFolder,
    cells: [Cell] = [ScriptedSubject.cell], change: (inout GateSettings) -> Void = { _ in },
    progress: @escaping (String) -> Void = { _ in }, shouldStop: @escaping () -> Bool = { false }
) throws -> GateResult {
    Programs.ignoreBrokenPipes()
    var settings = GateSettings(
        baseline: try baseline.command("baseline", in: folder),
        candidate: try candidate.command("candidate", in: folder),
        cells: cells, seed: 7)
    settings.secondsPerCell = 3
    change(&settings)
    return try GateRun(settings: settings, encryption: try OpenSSL(), programVersion: "0")
        .run(progress: progress, shouldStop: shouldStop)
}
