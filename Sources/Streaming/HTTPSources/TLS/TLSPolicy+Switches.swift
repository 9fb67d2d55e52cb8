#if Network
package import ByteSources
package import RandomAccess

extension TLSPolicy {
    /// The policy that a command line asks for.
    ///
    /// - Throws: `DecryptionError.invalidParameter` for a pin that is none.
    package init(_ switches: TLSSwitches) throws(DecryptionError) {
        var pins: Set<PublicKeyPin> = []
        for text in switches.pins {
            guard let pin = PublicKeyPin(text) else {
                throw .invalidParameter(
                    name: "--pin", value: text,
                    expected: "sha256// and 44 characters of base64, or 64 hexadecimal digits")
            }
            pins.insert(pin)
        }
        let allowances = switches.allowances.map { allowance -> TLSAllowance in
            switch allowance {
            case .anyRoot: .anyRoot
            case .expired: .expired
            case .anyName: .anyName
            }
        }
        self.init(
            roots: switches.certificateFile.map { .file($0) } ?? .system, pins: pins, allowances: Set(allowances))
    }
}
#endif
