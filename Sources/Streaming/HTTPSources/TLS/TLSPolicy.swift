#if Network
/// Which servers a TLS connection is made with: safe unless a switch says otherwise.
///
/// Every check is a switch of its own, so that giving one up leaves the others. What is given up stands in
/// ``warnings``, and so in every result.
public struct TLSPolicy: Hashable, Sendable {
    /// Whose certificates may stand at the end of a chain.
    public enum Roots: Hashable, Sendable {
        /// Those that the system trusts.
        case system
        /// Those in a PEM file, and no others. A server's own certificate is trusted as well, if it stands there.
        case file(String)
    }

    /// Where trust starts.
    public var roots: Roots
    /// The public keys of which one must be in the chain; any, if there are none.
    ///
    /// Pins are checked beside everything else. With ``TLSAllowance/anyRoot`` nothing speaks for the certificates above
    /// the server's own, so that the pin must be that one's.
    public var pins: Set<PublicKeyPin>
    /// What is given up.
    public var allowances: Set<TLSAllowance>

    /// Creates a policy; without arguments one that gives nothing up.
    public init(roots: Roots = .system, pins: Set<PublicKeyPin> = [], allowances: Set<TLSAllowance> = []) {
        self.roots = roots
        self.pins = pins
        self.allowances = allowances
    }

    /// What every result must say: a line for each check that is given up, in a fixed order.
    public var warnings: [String] {
        TLSAllowance.allCases.filter(allowances.contains).map { allowance in
            let isPinned = allowance == .anyRoot && !pins.isEmpty
            return "TLS: \(allowance.warning)" + (isPinned ? ", but only with the pinned key" : "")
        }
    }

    /// The policy that gives up one thing more.
    func allowing(_ allowance: TLSAllowance) -> TLSPolicy {
        var policy = self
        policy.allowances.insert(allowance)
        return policy
    }
}
#endif
