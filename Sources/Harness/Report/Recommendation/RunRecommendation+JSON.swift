import Results
package import Support

extension RunRecommendation {
    /// The recommendation as one object with the members that scripts rely on: `choice`, `runnerUp` and `reasons`.
    ///
    /// Bytes and nanoseconds are integers; `choice` and `runnerUp` are `null` if there is none.
    package var json: JSONValue {
        .object(questionJSON.merging(answerJSON) { $1 })
    }

    private var questionJSON: [String: JSONValue] {
        [
            "results": .string(name),
            "host": summary.results.header.host.json,
            "startedAt": .string(summary.results.header.startedAt),
            "isComplete": .bool(summary.results.isComplete),
            "workload": .object([
                "asked": JSONValue(request.workload), "measured": .string(pool.workload),
                "reason": JSONValue(pool.workloadReason),
            ]),
            "integrity": .string(request.integrity.rawValue),
            "ranking": .string(meritName),
            "budgets": .object([
                "memoryByteCount": JSONValue(request.budgets.memoryByteCount),
                "firstByteNanoseconds": JSONValue(request.budgets.firstByteNanoseconds),
                "amplification": Self.number(request.budgets.amplification),
                "bytesPerSecond": JSONValue(request.budgets.bytesPerSecond),
            ]),
            "compared": JSONValue(count: advice.candidates.count),
            "notCompared": .array(pool.others.map { json($0.group, $0.count) }),
        ]
    }

    private var answerJSON: [String: JSONValue] {
        [
            "fitting": JSONValue(count: advice.fitting.count),
            "choice": advice.choice.map(json) ?? .null,
            "runnerUp": advice.runnerUp.map { json($0.candidate) } ?? .null,
            "runnerUpTies": advice.runnerUp.map { .bool($0.isTie) } ?? .null,
            "nearBest": .array(
                advice.nearBest.members.map {
                    .object(["name": .string($0.id), "slowerByAtMost": Self.number(advice.nearBest.bounds[$0.id])])
                }),
            "front": JSONValue(strings: advice.front.map(\.id)),
            "costs": .array(advice.costs.map(json)),
            "raises": .array(advice.raises.map(json)),
            "withoutFigure": .object(
                Dictionary(advice.withoutFigure.map { ($0.budget.rawValue, JSONValue(count: $0.count)) }) { $1 }),
            "security": .array(SecurityTable(pool.cells).profiles.map(json)),
            "noticesChanges": .bool(pool.protection == .integrity),
            "withoutIntegrity": withoutIntegrityJSON,
            "steps": .array(steps.map(json)),
            "reasons": JSONValue(strings: reasons),
        ]
    }

    /// The choice if changes need not be noticed, and its merit ÷ that of the choice.
    private var withoutIntegrityJSON: JSONValue {
        guard let other = unguarded?.choice, other.id != advice.choice?.id else { return .null }
        let ratio: SpeedRatio? = advice.choice.map { self.ratio(of: other, over: $0) }
        return .object(["name": .string(other.id)].merging(ratioJSON(ratio)) { $1 })
    }

    private func json(_ step: ChoiceStep) -> JSONValue {
        .object(
            ["step": .string(step.change), "name": .string(step.cell.cell.id)].merging(ratioJSON(step.ratio)) { $1 })
    }

    private func ratioJSON(_ ratio: SpeedRatio?) -> [String: JSONValue] {
        let interval: SpeedRatio? = ratio.flatMap { $0.hasInterval ? $0 : nil }
        return [
            "ratio": Self.number(ratio?.ratio), "ratioLow": Self.number(interval?.low),
            "ratioHigh": Self.number(interval?.high),
        ]
    }

    private func json(_ group: ComparisonGroup, _ count: Int) -> JSONValue {
        .object([
            "description": .string(group.description), "cells": JSONValue(count: count),
            "options": .string(group.options(insteadOf: pool.group)),
        ])
    }

    /// Returns a cell as under `measure`, with the figures that budgets limit.
    private func json(_ candidate: Candidate) -> JSONValue {
        guard case .object(var members) = cell(candidate)?.json else { return .null }
        members["latencyNanoseconds"] = JSONValue(candidate.latencyNanoseconds)
        members["firstByteNanoseconds"] = JSONValue(candidate.firstByteNanoseconds)
        members["memoryGrowthByteCount"] = JSONValue(candidate.memoryByteCount)
        return .object(members)
    }

    private func json(_ cost: Advice.BudgetCost) -> JSONValue {
        let ratio: SpeedRatio? = advice.choice.map { self.ratio(of: cost.alternative, over: $0) }
        let members: [String: JSONValue] = [
            "budget": .string(cost.budget.rawValue),
            "choiceWithout": .string(cost.alternative.id),
            "bytesPerSecondWithout": .integer(cost.alternative.bytesPerSecond),
            "isFaster": .bool(cost.isFaster),
        ]
        return .object(members.merging(ratioJSON(ratio)) { $1 })
    }

    private static func number(_ value: Double?) -> JSONValue { value.map(JSONValue.number) ?? .null }

    private func json(_ set: BudgetRelaxation) -> JSONValue {
        let raises = set.raises.map { raise in
            JSONValue.object([
                "budget": .string(raise.budget.rawValue), "given": Self.number(raise.budget, raise.given),
                "needed": Self.number(raise.budget, raise.needed), "option": .string(BudgetText.option(raise)),
            ])
        }
        return .object(["raises": .array(raises), "fits": .string(set.candidate.id)])
    }

    private static func number(_ budget: Budget, _ value: Double) -> JSONValue {
        budget == .amplification ? .number(value) : UInt64(exactly: value).map(JSONValue.integer) ?? .number(value)
    }

    private func json(_ profile: SecurityProfile) -> JSONValue {
        var members: [String: JSONValue] = ["strategy": .string(profile.title)]
        for property in SecurityProperty.allCases {
            let answer = profile[property]
            members[property.rawValue] = .object([
                "answer": .string(answer.text), "detail": .string(answer.detail), "source": .string(answer.source),
            ])
        }
        return .object(members)
    }

    /// Returns several recommendations, each for its own results, as one object.
    package static func json(_ recommendations: [RunRecommendation]) -> JSONValue {
        .object(["recommendations": .array(recommendations.map(\.json))])
    }
}
