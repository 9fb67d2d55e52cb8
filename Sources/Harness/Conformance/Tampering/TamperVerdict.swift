internal import Results
internal import Vectors

/// What has to come of a tampering, whatever the subject.
struct TamperVerdict {
    let target: TamperTarget
    let tampering: TamperCase

    /// What is wrong with how two readers fared, or `nil`.
    ///
    /// An error that PROTOCOL.md asks of `open` is asked for. An authenticated format is to deliver no wrong byte, nothing
    /// from behind the end, and not to end without an error. Of CBC and CTR nothing else can be asked.
    func failure(sequential: TamperRecord.Outcome, touching: TamperRecord.Outcome) -> String? {
        mismatch(in: sequential) ?? mismatch(in: touching).map { "of the places alone: \($0)" }
    }

    private func mismatch(in outcome: TamperRecord.Outcome) -> String? {
        let demanded = tampering.openingErrors.map(\.rawValue)
        if outcome.state == .noAnswer { return "no answer: \(outcome.error ?? "none")" }
        let damage = damage(of: outcome)
        guard demanded.isEmpty else {
            if outcome.state == .detectedAtOpen || outcome.state == .otherError && outcome.read == nil {
                let found = outcome.error ?? ""
                return demanded.contains(found)
                    ? nil : "the error \(found): expected the error \(demanded.joined(separator: " or "))"
            }
            return "opened\(damage): expected the error \(demanded.joined(separator: " or "))"
        }
        guard target.isAuthenticated else { return nil }
        guard outcome.isDetected else {
            let end = outcome.error.map { "the error \($0)" } ?? "not noticed"
            return "\(end)\(damage): expected the error authenticationFailed"
        }
        if outcome.releasedByteCount > 0 {
            return "\(outcome.releasedByteCount) bytes of a chunk that is not authentic were left: expected none"
        }
        return damage.isEmpty ? nil : "noticed\(damage) before: expected none"
    }

    private func damage(of outcome: TamperRecord.Outcome) -> String {
        var parts: [String] = []
        func bytes(_ count: UInt64, _ adjective: String) -> String {
            "\(count) \(adjective)byte\(count == 1 ? "" : "s")"
        }
        if outcome.wrongByteCount > 0 { parts.append(bytes(outcome.wrongByteCount, "wrong ")) }
        if outcome.extraByteCount > 0 { parts.append(bytes(outcome.extraByteCount, "") + " too many") }
        if outcome.missingByteCount > 0 { parts.append(bytes(outcome.missingByteCount, "") + " too few") }
        return parts.isEmpty ? "" : ", " + parts.joined(separator: " and ")
    }
}
