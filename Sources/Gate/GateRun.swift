import Measurement
package import RandomAccess
import Results

/// One whole gate.
package struct GateRun {
    /// What is compared, and how.
    package let settings: GateSettings
    let encryption: any CipherBackend
    let programVersion: String
    let command: [String]
    let startedAt: String

    /// Prepares a gate; nothing is started yet.
    ///
    /// - Parameters:
    ///   - settings: What is compared, and how.
    ///   - encryption: What encrypts the objects.
    ///   - programVersion: The version of this program, for the record.
    ///   - command: The command line that repeats the run, for the record.
    ///   - startedAt: The time, in ISO 8601, for the record.
    package init(
        settings: GateSettings, encryption: any CipherBackend, programVersion: String, command: [String] = [],
        startedAt: String = ""
    ) {
        self.settings = settings
        self.encryption = encryption
        self.programVersion = programVersion
        self.command = command
        self.startedAt = startedAt
    }

    /// Runs it in a temporary folder that is gone afterwards, whatever happens; prints nothing.
    ///
    /// - Parameters:
    ///   - progress: Called before each block with what comes, for a person who waits.
    ///   - shouldStop: Asked before each block.
    /// - Returns: What was found.
    /// - Throws: `GateError`.
    package func run(
        progress: (String) -> Void = { _ in }, shouldStop: () -> Bool = { false }
    ) throws(GateError) -> GateResult {
        throw .interrupted
    }
}
