import FoundationEssentials
package import Results
import Statistics
import Support

extension StoredRatios {
    /// Reads a file.
    ///
    /// - Parameters:
    ///   - text: Its text.
    ///   - file: What errors call it.
    /// - Returns: The ratios, one at least.
    /// - Throws: `GateError.badFile`, also for another schema.
    package static func read(_ text: [UInt8], file: String) throws(GateError) -> StoredRatios {
        guard let schema = JSONValue.parse(text)?["schema"]?.string else {
            throw .badFile("\(file): no member \"schema\": expected a file that gate --record wrote")
        }
        guard schema == currentSchema else {
            throw .badFile("\(file): schema \(schema): expected \(currentSchema)")
        }
        let ratios: StoredRatios
        do {
            ratios = try JSONDecoder().decode(StoredRatios.self, from: Data(text))
        } catch {
            throw .badFile(
                "\(file): a member is missing, of another type or impossible: expected a file that gate --record wrote")
        }
        guard !ratios.ratios.isEmpty else { throw .badFile("\(file): no ratios: expected at least one") }
        var names: Set<String> = []
        for ratio in ratios.ratios {
            guard ratio.name == ratio.cell.gateName, names.insert(ratio.name).inserted else {
                throw .badFile("\(file): a ratio called \(ratio.name): expected \(ratio.cell.gateName), once")
            }
            guard (1...Self.maxBlocks).contains(ratio.logRatios.count),
                ratio.logRatios.allSatisfy({ abs($0) < Self.largestLogRatio })
            else {
                throw .badFile(
                    "\(file): the blocks of \(ratio.name): expected 1 to \(Self.maxBlocks) logRatios "
                        + "between ±\(Self.largestLogRatio)")
            }
        }
        return ratios
    }

    /// Days of measuring one cell.
    private static let maxBlocks = 10_000

    /// Half a billion times as slow: no program is.
    private static let largestLogRatio = 20.0

    /// Says that a ratio has too few blocks for an interval, if it has.
    func shortage(of name: String, settings: GateSettings) -> String? {
        let alpha = settings.alpha / Double(ratios.count)
        guard let ratio = ratios.first(where: { $0.name == name }),
            let minimum = SignedRankInterval.minCount(
                upTo: 1000, alpha: { _ in alpha }), ratio.logRatios.count < minimum
        else { return nil }
        return "recorded with \(ratio.logRatios.count) blocks: expected at least \(minimum)"
    }

    /// What makes these ratios none to compare with: another CPU, another reference, or another library under the
    /// candidate.
    func difference(from sides: SidePair, host: RunHeader.Host) -> String? {
        if cpuModel != host.cpuModel {
            return "recorded on another CPU model (\(cpuModel)): expected this one (\(host.cpuModel))"
        }
        if let cpu, cpu != CPU(host) {
            return "recorded on a CPU with other features or caches: expected this one's"
        }
        let now = sides.baseline
        if reference.name != now.name || reference.version != now.version {
            return
                "recorded with reference \(reference.name) \(reference.version): expected this one (\(now.name) "
                + "\(now.version))"
        }
        // Where the program lies is of no matter.
        if ShellText.options(of: reference.command) != ShellText.options(of: now.command) {
            return "recorded with reference \(reference.command): expected the same options as of \(now.command)"
        }
        let (before, after) = (candidate, sides.candidate)
        if before.name == after.name, let old = Self.library(before), let new = Self.library(after), old != new {
            return "recorded with \(before.name) on \(old): expected this library (\(new))"
        }
        return nil
    }

    /// What a version says in parentheses before a comma, where `chunkwise subject` and others name their library.
    private static func library(_ side: GateSide) -> Substring? {
        guard let start = side.version.firstIndex(of: "("), side.version.last == ")" else { return nil }
        return side.version[side.version.index(after: start)...].prefix { $0 != "," && $0 != ")" }
    }
}
