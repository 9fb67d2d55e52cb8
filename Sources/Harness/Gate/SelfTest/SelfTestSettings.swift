/// How a gate is measured: which whole runs of it, how often.
package struct SelfTestSettings: Sendable {
    /// The gate that is run again and again: baseline, cells, tolerance, seconds a cell, timeout. Its candidate and seed
    /// mean nothing here.
    package var gate: GateSettings
    /// How often each kind of run is made.
    package var runCount: Int
    /// The slowdowns that are planted: 0.03 for 3 %.
    package var slowdowns: [Double]
    /// Whether there are runs with nothing planted too.
    package var includesUnchanged: Bool
    /// Whether all other cores are kept busy.
    package var isBusy: Bool

    /// Creates settings.
    package init(
        gate: GateSettings, runCount: Int, slowdowns: [Double], includesUnchanged: Bool = true, isBusy: Bool = false
    ) {
        self.gate = gate
        self.runCount = runCount
        self.slowdowns = slowdowns
        self.includesUnchanged = includesUnchanged
        self.isBusy = isBusy
    }

    /// The kinds of runs: 0 for nothing planted, then the slowdowns.
    package var kinds: [Double] { (includesUnchanged ? [0] : []) + slowdowns }
}
