/// A check of a server's certificate that can be given up, each on its own. Its raw value is the command line's option.
public enum TLSAllowance: String, CaseIterable, Hashable, Sendable {
    /// A certificate from any authority: self-signed, of an unknown authority, or with a chain that leads nowhere.
    case anyRoot = "--allow-any-root"
    /// A chain of which a certificate has expired; one that is not valid yet is refused all the same.
    case expired = "--allow-expired"
    /// A certificate for another name than the one that was asked for.
    case anyName = "--allow-any-name"

    /// The option of the command line.
    public var option: String { rawValue }
}

/// What a user said about the servers that are taken, as it stands on a command line; nothing is given up by default.
package struct TLSSwitches: Hashable, Sendable {
    /// The PEM file with the only certificates that are trusted; `nil` for the system's.
    package var certificateFile: String?
    /// The public keys of which one must be in the chain, as they were written.
    package var pins: [String]
    /// What is given up.
    package var allowances: Set<TLSAllowance>

    /// Creates switches; without arguments those that give nothing up.
    package init(certificateFile: String? = nil, pins: [String] = [], allowances: Set<TLSAllowance> = []) {
        self.certificateFile = certificateFile
        self.pins = pins
        self.allowances = allowances
    }

    /// The options that give something up, in a fixed order.
    package var options: [String] { TLSAllowance.allCases.filter(allowances.contains).map(\.option) }
}
