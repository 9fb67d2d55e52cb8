#if Network
import ByteSources

/// A check of a server's certificate that can be given up, each on its own.
public enum TLSAllowance: String, CaseIterable, Hashable, Sendable {
    /// A certificate from anybody: self-signed, of an unknown authority, or with a chain that leads nowhere.
    case anyRoot
    /// A chain of which a certificate has expired; one that is not valid yet is refused all the same.
    case expired
    /// A certificate for another name than the one that was asked for.
    case anyName

    /// The option of the command line.
    public var option: String {
        switch self {
        case .anyRoot: TLSSwitches.Allowance.anyRoot.rawValue
        case .expired: TLSSwitches.Allowance.expired.rawValue
        case .anyName: TLSSwitches.Allowance.anyName.rawValue
        }
    }

    /// What it means for the connection.
    var warning: String {
        switch self {
        case .anyRoot: "any root is allowed (\(option)): whoever is in between can read and change everything"
        case .expired: "expired certificates are allowed (\(option)): a key stolen long ago is as good as the server's"
        case .anyName: "any name is allowed (\(option)): every server with a certificate can stand in for this one"
        }
    }
}
#endif
