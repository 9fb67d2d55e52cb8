import BackendRegistry
import Conformance
import Measurement
import RandomAccess
import Results
import SubjectProtocol
import Support
import Vectors

/// A backend that is not this program's own: a plug-in, a provider of OpenSSL, or a program that speaks the subject
/// protocol. This process knows what another one says of it, and loads nothing.
struct ForeignBackend: CipherBackend {
    /// As it was asked for, such as `plugin:/opt/lib.so` or `subject:python3 reader.py`.
    let name: String
    /// What the library gives, with the digest of its file; what a program says.
    let version: String
    let ciphers: [CipherSupport] = []
    let cpuFeatures: [String] = []

    /// Whether a name is of such a backend.
    static func isForeign(_ name: String) -> Bool {
        BackendRegistry.isForeign(name) || MeasuredProgram.command(of: name) != nil
    }

    /// The command that hosts a backend of that name, or that it names, for a shell.
    static func command(_ name: String) -> String {
        MeasuredProgram.command(of: name) ?? ShellText.joined(Program.subjectCommand() + ["--backend", name])
    }

    /// The command that is meant by the name of such a backend, or by a command.
    static func resolved(_ command: String) -> String {
        isForeign(command) ? self.command(command) : command
    }

    /// Those that a plan's cells are measured with.
    static func all(of plan: Plan) throws -> [ForeignBackend] {
        try Set(plan.cells.map(\.cell.backend)).filter(isForeign).sorted().map {
            try ForeignBackend($0)
        }
    }

    /// Starts it in another process, and asks it what it is.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - timeout: How long it may take.
    /// - Throws: `CommandFailure` if it does not start.
    init(_ name: String, timeout: Duration = .seconds(60)) throws {
        let answer: JSONValue
        do throws(SubjectError) {
            let process = try SubjectProcess(
                command: ["/bin/sh", "-c", Self.command(name)], timeout: timeout)
            answer = try process.request(["op": "hello", "protocol": 1]).members
        } catch {
            // It says by its status what is wrong, as this program does.
            guard case .died(let status, let log) = error, status & 0x7F == 0,
                let exit = ExitStatus(rawValue: status >> 8 & 0xFF), exit.rawValue >= ExitStatus.noAnswer.rawValue
            else { throw CommandFailure(.badData, "\(name): \(error): expected it to load and to say what it is") }
            throw CommandFailure(exit, log)
        }
        self.name = name
        version = answer["version"]?.string ?? "unknown"
    }

    /// Puts it to vectors, as any program that speaks the protocol.
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
