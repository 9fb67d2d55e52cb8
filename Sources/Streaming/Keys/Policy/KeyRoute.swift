/// Where plaintext goes: this device's own output, or another one's that needs keys of its own.
public struct KeyRoute: Hashable, Sendable {
    /// The name that servers and messages know the route by.
    public let name: String
    /// Whether keys that are bound to this device may be used on it.
    public let acceptsPersistable: Bool

    /// Creates a route.
    public init(_ name: String, acceptsPersistable: Bool) {
        self.name = name
        self.acceptsPersistable = acceptsPersistable
    }

    /// The device's own output.
    public static let local = KeyRoute("local", acceptsPersistable: true)
}
