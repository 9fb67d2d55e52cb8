import Results
import Support

/// The wording of a plan.
enum ComputedPlanText {
    static func storage(_ storage: ComputedPlan.Storage) -> String {
        guard storage.client != nil else { return "a file in memory" }
        let latency = DurationText.text(nanoseconds: storage.latencyNanoseconds)
        return "storage that answers after \(latency)"
            + (storage.bytesPerSecond.map { " and delivers \(ByteCountText.size($0))/s" } ?? "")
    }

    static func subtitle(_ plan: ComputedPlan) -> String {
        let keys = plan.candidates.map(\.configuration).map(\.keyName).unique.sorted()
        let libraries = plan.candidates.map(\.configuration.backend).unique
        return [
            "object of \(ByteCountText.size(plan.objectByteCount))", plan.storage.client.map { "client \($0)" },
            libraries.joined(separator: ", "), keys.joined(separator: ", "), "computed, not timed",
        ].compactMap { $0 }.joined(separator: " · ")
    }

    private static func latency(_ storage: ComputedPlan.Storage) -> String {
        storage.latencyNanoseconds == 0 ? "0 ms" : DurationText.text(nanoseconds: storage.latencyNanoseconds)
    }

    /// Returns the object and the storage in a few words.
    static func question(_ plan: ComputedPlan) -> String {
        let storage = plan.storage
        let place =
            storage.client.map { client in
                ([latency(storage)]
                    + (storage.bytesPerSecond.map { ["\(ByteCountText.size($0))/s"] } ?? []) + [client])
                    .joined(separator: ", ")
            } ?? "in memory"
        return "\(ByteCountText.size(plan.objectByteCount)), \(place)"
    }

    /// Returns a question for a column's head: only the parts in which the questions differ.
    static func head(_ plan: ComputedPlan, among plans: [ComputedPlan]) -> String {
        let storage = plan.storage
        func varies(_ value: (ComputedPlan) -> some Hashable) -> Bool { Set(plans.map(value)).count > 1 }
        let latency = storage.client == nil ? "in memory" : latency(storage)
        let parts = [
            varies(\.objectByteCount) ? ByteCountText.size(plan.objectByteCount) : nil,
            varies(\.storage.latencyNanoseconds) ? latency : nil,
            varies(\.storage.bytesPerSecond)
                ? storage.bytesPerSecond.map { "\(ByteCountText.size($0))/s" } ?? "any rate" : nil,
            Set(plans.compactMap(\.storage.client)).count > 1 ? storage.client ?? "in memory" : nil,
        ].compactMap { $0 }
        return parts.isEmpty ? "p90, cold" : parts.unique.joined(separator: ", ")
    }

    static func client(_ name: String) -> String {
        name == "serial"
            ? "serial: one request after the other, over one connection"
            : "\(name): one round trip to open, ranges ahead over several connections"
    }

    /// Returns the name of a configuration: only the parts that the plan varies, and the library only if it matters.
    static func name(_ configuration: ComputedPlan.Configuration, in plan: ComputedPlan) -> String {
        let chunk = configuration.chunkByteCount.map { "chunks of \(ByteCountText.size($0))" }
        return [
            configuration.strategy, plan.variesInStrategy(\.keyName) ? configuration.keyName : nil, chunk,
            plan.varies(\.access) && configuration.chunkByteCount != nil && configuration.access != .block
                ? configuration.access.rawValue : nil,
            plan.varies(\.windowByteCount) ? "windows of \(ByteCountText.size(configuration.windowByteCount))" : nil,
            plan.variesInStrategy(\.backend) && plan.equalLibraries(for: configuration).isEmpty
                ? configuration.backend : nil,
        ].compactMap { $0 }.joined(separator: ", ")
    }

    static func access(_ access: AccessPolicy) -> String {
        access == .block ? "only the blocks needed" : access.rawValue
    }

    /// Returns the name of a line in a chart: a strategy with its access, and the other parts that the plan varies.
    static func series(_ configuration: ComputedPlan.Configuration, in plan: ComputedPlan) -> String {
        [
            configuration.strategy, configuration.access == .block ? nil : configuration.access.rawValue,
            plan.variesInStrategy(\.keyName) ? configuration.keyName : nil,
            plan.variesInStrategy(\.backend) ? configuration.backend : nil,
        ].compactMap { $0 }.joined(separator: ", ")
    }

    /// Returns the name of a row in a table: that of the line, with the chunk.
    static func row(_ configuration: ComputedPlan.Configuration, in plan: ComputedPlan) -> String {
        series(configuration, in: plan) + (configuration.chunkByteCount.map { ", \(ByteCountText.size($0))" } ?? "")
    }

    static func note(_ note: ComputedPlan.Note) -> String {
        func sizes(_ counts: [UInt64]) -> String { Verdict.list(counts.map(ByteCountText.size)) }
        return switch note {
        case .leftOut(let name, let counts): "Left out: \(name) of \(sizes(counts)), longer than the object."
        case .all(let name, let count):
            "The object is shorter than all \(name): those of \(sizes([count])) stand for it."
        case .whole(let counts): "Reads of \(sizes(counts)) are of the whole object."
        case .notComputed(let strategies):
            "\(RatioText.count(strategies.count, "format")) left out: \(strategies.joined(separator: "; "))."
        }
    }

    /// Returns the bytes that a format adds to an object, as a share of the object.
    static func overhead(_ candidate: ComputedPlan.Candidate, of byteCount: UInt64) -> String {
        overhead(candidate.layout.storedByteCount - min(candidate.layout.storedByteCount, byteCount), of: byteCount)
    }

    /// Returns added bytes as a share of an object.
    static func overhead(_ more: UInt64, of byteCount: UInt64) -> String {
        guard byteCount > 0, more > 0 else { return more == 0 ? "+0" : "+\(ByteCountText.size(more))" }
        return "+\(SignificantDigits.text(100 * Double(more) / Double(byteCount))) %"
    }

    static func time(_ nanoseconds: UInt64) -> String { DurationText.text(nanoseconds: nanoseconds) }

    /// Returns the change of a figure: `1.8× the time`; `nil` if it changes by less than 1 %.
    static func change(_ new: Double, _ old: Double, _ noun: String) -> String? {
        guard old > 0, new > 0 else { return nil }
        let ratio = new / old
        guard ratio > 1.01 || ratio < 0.99 else { return nil }
        return "\(RatioText.times(ratio)) the \(noun)"
    }

    /// The protection that a file needs if its format notices no change.
    static let guards =
        "something else must then protect the file: a signature or a MAC of all of it, checked before it is used, or "
        + "storage and transport that only you can write to"
}
