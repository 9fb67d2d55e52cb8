/// A check of a server's certificate that the user can disable. Its raw value is the command line's option.
public enum TLSAllowance: String, CaseIterable, Hashable, Sendable {
    /// Accepts a certificate from any authority: self-signed, of an unknown authority, or with an incomplete chain.
    case anyRoot = "--allow-any-root"
    /// Accepts a chain with an expired certificate; one that is not valid yet is refused all the same.
    case expired = "--allow-expired"
    /// Accepts a certificate for another name than the requested one.
    case anyName = "--allow-any-name"

    /// The command line's option.
    public var option: String { rawValue }
}

/// The user's choice of certificate checks, as on a command line. All checks are on by default.
package struct TLSSwitches: Hashable, Sendable {
    /// The PEM file with the only certificates that are trusted; `nil` for the system's.
    package var certificateFile: String?
    /// The public keys, as the user wrote them; one of them must be in the chain.
    package var pins: [String]
    /// The disabled checks.
    package var allowances: Set<TLSAllowance>

    package init(certificateFile: String? = nil, pins: [String] = [], allowances: Set<TLSAllowance> = []) {
        self.certificateFile = certificateFile
        self.pins = pins
        self.allowances = allowances
    }

    /// The options that disable a check, in a fixed order.
    package var options: [String] { TLSAllowance.allCases.filter(allowances.contains).map(\.option) }
}
