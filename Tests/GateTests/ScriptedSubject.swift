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
    /// The time that it claims for an iteration, and the width of the range above it that the time is drawn from.
    var nanoseconds = 1_000_000
    var spread = 4_000
    var strategies = ["cbc-continuous", "ctr"]
    var sources = ["path"]
    var measures = true
    var version = "1"
    /// The digest that it claims; the right one if `nil`.
    var digest: String?
    /// Arithmetic behind the claimed time, which grows with the object's length, as real times do.
    var scale = "* size / 65536"
    /// Shell code that runs before it answers `hello`, `open` and `time`.
    var atHello = ":"
    var atOpen = ":"
    var atTime = ":"

    /// A cell that it knows the answer for.
    static let cell = Cell(
        backend: "any", strategy: "cbc-continuous", windowByteCount: 4096, objectByteCount: 65536)

    /// The objects that it knows: the cell's and those of the control, by the length of their ciphertexts.
    private static let objects: [(ciphertext: UInt64, plaintext: UInt64, digest: String)] = {
        do {
            let folder = try TemporaryFolder()
            let store = ObjectStore(folder: FilePath(folder.path), encryption: try OpenSSL())
            let plain = InjectedLength.byteCount(for: cell, delivered: cell.objectByteCount)
            let lengths = [cell.objectByteCount, plain, InjectedLength.longer(plain, by: 0.03)]
            return try lengths.map { length in
                var cell = Self.cell
                cell.objectByteCount = length
                let object = try store.object(for: cell)
                let reads = try cell.workload(seed: 1, traces: [:]).reads(plaintextByteCount: length)
                let digest = try store.expectedDigest(of: object, cell: cell, reads: reads)
                return (try object.servedSource().byteCount, length, digest)
            }
        } catch {
            return [(0, 0, "\(error)")]
        }
    }()

    /// Writes the script, and returns the command that starts it; `DIR` is the folder.
    func command(_ name: String, in folder: TemporaryFolder) throws -> String {
        func list(_ names: [String]) -> String { names.map { "\"\($0)\"" }.joined(separator: ",") }
        let hello =
            #"{"ok":true,"protocol":1,"name":"\#(name)","version":"\#(version)","strategies":[\#(list(strategies))],"#
            + #""keyByteCounts":[16,32],"sources":[\#(list(sources))],"granularity":"block","measures":\#(measures)}"#
        let known = Self.objects.map { object in
            "\(object.ciphertext)) size=\(object.plaintext); digest=\(digest ?? object.digest);;"
        }.joined(separator: " ")
        let path = try folder.file(
            name,
            """
            DIR='\(folder.path)'; n=$$; ns=\(nanoseconds)
            while IFS= read -r line; do case "$line" in
            *'"op":"hello"'*) \(atHello); echo '\(hello)';;
            *'"op":"open"'*)
              case "$line" in
              *'"byteCount":'*) size=${line#*'"byteCount":'}; size=${size%%[!0-9]*};;
              *) path=${line#*'"path":"'}; size=$(wc -c <"${path%%'"'*}");;
              esac
              case "$size" in \(known) esac
              \(atOpen); echo "{\\"ok\\":true,\\"plaintextByteCount\\":$size}";;
            *'"digest"'*) echo "{\\"ok\\":true,\\"digest\\":\\"$digest\\",\\"deliveredByteCount\\":$size}";;
            *'"time"'*) \(atTime); n=$(( (n * 1103515245 + 12345) % 2147483648 ))
              echo "{\\"ok\\":true,\\"nanoseconds\\":[$(( (ns + n / 65536 % \(max(1, spread))) \(scale) ))]}";;
            *'"op":"close"'*) echo '{"ok":true}';;
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
