import FoundationEssentials
package import Results
import Statistics
import Support

extension StoredRatios {
    /// Reads a file of stored ratios.
    ///
    /// - Parameters:
    ///   - text: The content of the file.
    ///   - file: The name of the file in errors.
    /// - Returns: The ratios, at least one.
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

    /// The maximum number of blocks: days of measuring one cell.
    private static let maxBlocks = 10_000

    /// The maximum logarithm of a ratio: about 0.5 billion times as slow, which no program is.
    private static let largestLogRatio = 20.0

    /// Returns a message if a ratio has too few blocks for an interval, otherwise `nil`.
    func shortage(of name: String, settings: GateSettings) -> String? {
        let alpha = settings.alpha / Double(ratios.count)
        guard let ratio = ratios.first(where: { $0.name == name }),
            let minimum = SignedRankInterval.minCount(
                upTo: 1000, alpha: { _ in alpha }), ratio.logRatios.count < minimum
        else { return nil }
        return "recorded with \(ratio.logRatios.count) blocks: expected at least \(minimum)"
    }

    /// Returns a message if these ratios cannot be compared: recorded on another CPU, with another reference, or with
    /// another library of the same candidate. Otherwise returns `nil`.
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
        // The path of the program does not matter.
        if ShellText.options(of: reference.command) != ShellText.options(of: now.command) {
            return "recorded with reference \(reference.command): expected the same options as of \(now.command)"
        }
        let (before, after) = (candidate, sides.candidate)
        if before.name == after.name, let old = Self.library(before), let new = Self.library(after), old != new {
            return "recorded with \(before.name) on \(old): expected this library (\(new))"
        }
        return nil
    }

    /// Returns the library in a version: the text in parentheses, up to a comma. `chunkwise subject` and others name it
    /// there.
    private static func library(_ side: GateSide) -> Substring? {
        guard let start = side.version.firstIndex(of: "("), side.version.last == ")" else { return nil }
        return side.version[side.version.index(after: start)...].prefix { $0 != "," && $0 != ")" }
    }
}
