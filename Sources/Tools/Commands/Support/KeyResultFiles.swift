import ByteSources
import CommandOptions
import Glibc
import RandomAccess
import Results
import SystemPackage

/// Results on keys, as `key-client measure` and `chunkwise-keys load` leave them in a folder.
enum KeyResultFiles {
    /// Reads what a folder holds.
    ///
    /// - Returns: What is there; nothing of files that are not.
    /// - Throws: `CommandFailure`: 65 for a file that is damaged or of another schema, 66 for one that cannot be read.
    static func read(_ folder: FilePath) throws -> KeyResults {
        KeyResults(
            waits: try record(folder.appending(KeyWaitsRecord.fileName)),
            load: try record(folder.appending(KeyLoadRecord.fileName)),
            loopback: try record(folder.appending(KeyLoadRecord.loopbackFileName)))
    }

    private static func record<Record: KeyRecord>(_ path: FilePath) throws -> Record? {
        let text: String
        do throws(DecryptionError) {
            text = try TextFile.read(path.string)
        } catch {
            switch error {
            case .io(_, code: ENOENT, _): return nil
            // Too long for what it should be.
            case .io(_, code: 0, _): throw CommandFailure(.badData, "\(error)")
            default: throw CommandFailure(.missingInput, "\(error)")
            }
        }
        do throws(KeyResultsError) {
            return try Record(file: Array(text.utf8))
        } catch {
            throw CommandFailure(.badData, "\(path): \(error)")
        }
    }
}
