/// When, in the time before a key appears in a live playlist, its clients ask for it: evenly over a window.
///
/// The window ends `leadTime` before the key appears, or is cut at both ends by the time that is left. All times are whole
/// nanoseconds from the moment on when the client knows.
package struct KeyDispersal: Hashable, Sendable {
    /// When the window begins.
    package let startNanoseconds: UInt64
    /// How long it is; 0 if there is no time for one.
    package let windowNanoseconds: UInt64

    /// Places the window.
    ///
    /// - Parameters:
    ///   - appearsIn: How long it is until the key appears.
    ///   - policy: The window and the lead time.
    package init(appearsIn: Duration, policy: KeyPolicy) {
        let left = KeyTiming.nanoseconds(appearsIn)
        let lead = min(KeyTiming.nanoseconds(policy.leadTime), left)
        windowNanoseconds = min(KeyTiming.nanoseconds(policy.dispersalWindow), left - lead)
        startNanoseconds = left - lead - windowNanoseconds
    }

    /// When a client asks.
    ///
    /// - Parameter bits: Uniform random bits.
    /// - Returns: From the window's start to just before its end.
    package func nanoseconds(bits: UInt64) -> UInt64 {
        startNanoseconds + windowNanoseconds.multipliedFullWidth(by: bits).high
    }
}
