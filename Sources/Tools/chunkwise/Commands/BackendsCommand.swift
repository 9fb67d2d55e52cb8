import ArgumentParser
import BackendRegistry
import RandomAccess
import Support

/// `chunkwise backends`
struct BackendsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backends",
        abstract: "Lists the crypto libraries: versions, key sizes, modes, CPU features in use.",
        discussion: helpText(
            """
            EXAMPLES
              chunkwise backends
              chunkwise backends --format json
              OPENSSL_ia32cap=~0x200000200000000 chunkwise backends    OpenSSL without AES-NI

            EXIT CODES
              0 listed, even if some are not available; 64 usage
            """))

    @OptionGroup var output: FormatOptions

    func run() throws {
        let found = BackendRegistry.entries.map { entry in (entry.name, Self.make(entry)) }
        switch output.format {
        case .json:
            let list = found.map { name, outcome -> JSONValue in
                let backend = try? outcome.get()
                return JSONValue(members: [
                    "name": name, "version": backend?.version, "available": backend != nil,
                    "reason": Self.reason(outcome), "keyByteCounts": backend?.keyByteCounts ?? [],
                    "modes": (backend?.ciphers ?? []).map(\.cipher.mode), "cpuFeatures": backend?.cpuFeatures ?? [],
                ])
            }
            print(JSONValue(members: ["backends": list]).text)
        case .text:
            var rows = [["name", "version", "AES", "modes", "CPU features in use"]]
            for (name, outcome) in found {
                guard let backend = try? outcome.get() else {
                    rows.append([name, "not available", "", "", ""])
                    continue
                }
                rows.append([
                    name, backend.version,
                    backend.aesCiphers.isEmpty
                        ? "none" : backend.keyByteCounts.map { "\($0 * 8)" }.joined(separator: "/"),
                    backend.ciphers.map(\.cipher.mode).joined(separator: " "),
                    backend.cpuFeatures.isEmpty ? "none" : backend.cpuFeatures.joined(separator: " "),
                ])
            }
            print(table(rows))
            for reason in found.compactMap({ Self.reason($0.1) }) { print(TextWrapping.text(reason)) }
        }
    }

    private static func make(_ entry: BackendRegistry.Entry) -> Result<any CipherBackend, DecryptionError> {
        do throws(DecryptionError) {
            return .success(try entry.make())
        } catch {
            return .failure(error)
        }
    }

    /// The reason that a backend is not available; `nil` if it is.
    private static func reason(_ outcome: Result<any CipherBackend, DecryptionError>) -> String? {
        if case .failure(let error) = outcome { "\(error)" } else { nil }
    }
}
