import BackendRegistry
import Conformance
import Measurement
import RandomAccess
import Results
import SubjectProtocol
import Support
import Vectors

/// A backend from outside of this program: a plug-in, a provider of OpenSSL, or a program that speaks the subject
/// protocol. Another process loads it and describes it to this one.
struct ForeignBackend: CipherBackend {
    /// The name that the user gave, such as `plugin:/opt/lib.so` or `subject:python3 reader.py`.
    let name: String
    /// The version that the library reports, with the digest of its file, or the one that a program reports.
    let version: String
    let ciphers: [CipherSupport] = []
    let cpuFeatures: [String] = []

    /// Returns whether a name is that of a foreign backend.
    static func isForeign(_ name: String) -> Bool {
        BackendRegistry.isForeign(name) || MeasuredProgram.command(of: name) != nil
    }

    /// The shell command that hosts the backend with a name. The name of a program contains its command.
    static func command(_ name: String) -> String {
        MeasuredProgram.command(of: name) ?? ShellText.joined(Program.subjectCommand() + ["--backend", name])
    }

    /// The command for the name of a foreign backend. Returns any other text unchanged, as a command.
    static func resolved(_ command: String) -> String {
        isForeign(command) ? self.command(command) : command
    }

    /// The foreign backends of a plan's cells.
    static func all(of plan: Plan) throws -> [ForeignBackend] {
        try Set(plan.cells.map(\.cell.backend)).filter(isForeign).sorted().map {
            try ForeignBackend($0)
        }
    }

    /// Starts the backend in another process, and reads its description.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - timeout: The timeout for the reply.
    /// - Throws: `CommandFailure` if the backend does not start.
    init(_ name: String, timeout: Duration = .seconds(60)) throws {
        let answer: JSONValue
        do throws(SubjectError) {
            let process = try SubjectProcess(
                command: ["/bin/sh", "-c", Self.command(name)], timeout: timeout)
            answer = try process.request(["op": "hello", "protocol": 1]).members
        } catch {
            // Its exit status has the same meaning as this program's.
            guard case .died(let status, let log) = error, status & 0x7F == 0,
                let exit = ExitStatus(rawValue: status >> 8 & 0xFF), exit.rawValue >= ExitStatus.noAnswer.rawValue
            else { throw CommandFailure(.badData, "\(name): \(error): expected it to load and to say what it is") }
            throw CommandFailure(exit, log)
        }
        self.name = name
        version = answer["version"]?.string ?? "unknown"
    }

    /// Runs vectors on the backend, as on any program that speaks the protocol.
    func verify(_ groups: [VectorGroup]) -> ConformanceRecord {
        defer { Terminal.clearProgress() }
        let verification = ExternalVerification(
            command: Self.command(name), timeout: .seconds(60), runsEverything: false, checksProtocol: false,
            explainingWith: Backends.available().first, isInterrupted: { Interruption.wasRequested })
        var record: ConformanceRecord
        do throws(ExternalVerification.Failure) {
            let display = ProgressDisplay()
            record = try verification.run(groups, tier: VectorTier(of: groups)) { finished, total in
                display.show(finished, of: total, "groups of vectors", name: name)
            }.record
        } catch {
            record = ConformanceRecord(
                subject: name, passed: 0, failed: 1, unsupported: 0, notRun: 0,
                failures: [.init(id: "start", flags: [], reason: "\(error)")])
        }
        record.subject = name
        return record
    }

    func makeContext(
        _ cipher: Cipher, _ direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext {
        throw .unsupported("\(name) in this process")
    }
}
