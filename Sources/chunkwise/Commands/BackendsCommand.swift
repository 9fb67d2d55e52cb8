import ArgumentParser
import BackendRegistry
import JSON
import RandomAccess

/// `chunkwise backends`
struct BackendsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backends",
        abstract: "Lists the crypto libraries: versions, key sizes, modes, CPU features in use.",
        discussion: """
            EXAMPLES
              chunkwise backends
              chunkwise backends --format json
              OPENSSL_ia32cap=~0x200000200000000 chunkwise backends    OpenSSL without AES-NI
            """)

    @OptionGroup var output: FormatOptions

    func run() throws {
        let found = BackendRegistry.entries.map { entry in (entry.name, try? entry.make()) }
        switch output.format {
        case .json:
            let list = found.map { name, backend -> JSONValue in
                [
                    "name": .string(name), "version": JSONValue(backend?.version),
                    "available": .bool(backend != nil),
                    "keyByteCounts": .array((backend?.keyByteCounts ?? []).map { .integer(UInt64($0)) }),
                    "modes": JSONValue(strings: (backend?.modes ?? []).map(\.rawValue)),
                    "cpuFeatures": JSONValue(strings: backend?.cpuFeatures ?? []),
                ]
            }
            print(JSONValue.object(["backends": .array(list)]).text)
        case .text:
            var rows = [["name", "version", "AES", "modes", "CPU features in use"]]
            for (name, backend) in found {
                guard let backend else {
                    rows.append([name, "not available", "", "", ""])
                    continue
                }
                rows.append([
                    name, backend.version, backend.keyByteCounts.map { "\($0 * 8)" }.joined(separator: "/"),
                    backend.modes.map(\.rawValue).joined(separator: " "),
                    backend.cpuFeatures.isEmpty ? "none" : backend.cpuFeatures.joined(separator: " "),
                ])
            }
            print(table(rows))
        }
    }
}
