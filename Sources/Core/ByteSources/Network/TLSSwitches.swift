/// What a user said about the servers that are taken, as it stands on a command line; nothing is given up by default.
package struct TLSSwitches: Hashable, Sendable {
    /// A check that is given up.
    package enum Allowance: String, CaseIterable, Hashable, Sendable {
        /// A certificate of any issuer.
        case anyRoot = "--allow-any-root"
        /// Certificates that have expired.
        case expired = "--allow-expired"
        /// A certificate for any name.
        case anyName = "--allow-any-name"
    }

    /// The PEM file with the only certificates that are trusted; `nil` for the system's.
    package var certificateFile: String?
    /// The public keys of which one must be in the chain, as they were written.
    package var pins: [String]
    /// What is given up.
    package var allowances: Set<Allowance>

    /// Creates switches; without arguments those that give nothing up.
    package init(certificateFile: String? = nil, pins: [String] = [], allowances: Set<Allowance> = []) {
        self.certificateFile = certificateFile
        self.pins = pins
        self.allowances = allowances
    }

    /// The options that give something up, in a fixed order.
    package var options: [String] { Allowance.allCases.filter(allowances.contains).map(\.rawValue) }
}
