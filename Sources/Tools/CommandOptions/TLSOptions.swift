package import ArgumentParser
package import ByteSources

/// Which servers are taken, over TLS.
package struct TLSOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Trust the certificates in this PEM file, and no others.", valueName: "file"))
    package var caFile: String?

    @Option(
        help: ArgumentHelp(
            "A public key of the chain: sha256// and base64, or 64 hexadecimal digits. May be repeated.",
            valueName: "pin"))
    package var pin: [String] = []

    @Flag(help: "Take a certificate from anybody.")
    package var allowAnyRoot = false

    @Flag(help: "Take certificates that have expired.")
    package var allowExpired = false

    @Flag(help: "Take a certificate for any name.")
    package var allowAnyName = false

    package init() {}

    /// The options as values.
    package var switches: TLSSwitches {
        let allowances: [(TLSSwitches.Allowance, Bool)] = [
            (.anyRoot, allowAnyRoot), (.expired, allowExpired), (.anyName, allowAnyName),
        ]
        return TLSSwitches(
            certificateFile: caFile, pins: pin, allowances: Set(allowances.filter(\.1).map(\.0)))
    }

    /// Refuses the options where nothing comes over TLS: whoever gave one would believe that it holds.
    package func refuse(_ source: String) throws {
        guard switches != TLSSwitches() else { return }
        throw CommandFailure(
            .usage,
            "--ca-file, --pin and --allow-…: expected them only with a source over https, found \(source)")
    }
}
