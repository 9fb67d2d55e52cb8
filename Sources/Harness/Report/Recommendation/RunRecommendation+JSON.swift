import Results
package import Support

extension RunRecommendation {
    /// The recommendation as one object with the members that scripts rely on: `choice`, `runnerUp` and `reasons`.
    ///
    /// Bytes and nanoseconds are integers; `choice` and `runnerUp` are `null` if there is none.
    package var json: JSONValue {
        JSONValue(members: questionJSON.merging(answerJSON) { $1 })
    }

    private var questionJSON: [String: any Encodable] {
        let workload = JSONValue(members: [
            "asked": request.workload, "measured": pool.workload, "reason": pool.workloadReason,
        ])
        let budgets = JSONValue(members: [
            "memoryByteCount": request.budgets.memoryByteCount,
            "firstByteNanoseconds": request.budgets.firstByteNanoseconds,
            "amplification": request.budgets.amplification, "bytesPerSecond": request.budgets.bytesPerSecond,
        ])
        return [
            "results": name, "host": summary.results.header.host.json,
            "startedAt": summary.results.header.startedAt, "isComplete": summary.results.isComplete,
            "workload": workload, "integrity": request.integrity.rawValue, "ranking": meritName, "budgets": budgets,
            "compared": advice.candidates.count, "notCompared": pool.others.map { json($0.group, $0.count) },
        ]
    }

    private var answerJSON: [String: any Encodable] {
        let nearBest = advice.nearBest.members.map {
            JSONValue(members: ["name": $0.id, "slowerByAtMost": advice.nearBest.bounds[$0.id]])
        }
        return [
            "fitting": advice.fitting.count, "choice": advice.choice.map(json),
            "runnerUp": advice.runnerUp.map { json($0.candidate) }, "runnerUpTies": advice.runnerUp?.isTie,
            "nearBest": nearBest, "front": advice.front.map(\.id), "costs": advice.costs.map(json),
            "raises": advice.raises.map(json),
            "withoutFigure": Dictionary(advice.withoutFigure.map { ($0.budget.rawValue, $0.count) }) { $1 },
            "security": SecurityTable(pool.cells).profiles.map(json),
            "noticesChanges": pool.protection == .integrity, "withoutIntegrity": withoutIntegrityJSON,
            "steps": steps.map { json(["step": $0.change, "name": $0.cell.cell.id], $0.ratio) }, "reasons": reasons,
        ]
    }

    /// The choice if changes need not be noticed, and its merit ÷ that of the choice.
    private var withoutIntegrityJSON: JSONValue {
        guard let other = unguarded?.choice, other.id != advice.choice?.id else { return .null }
        return json(["name": other.id], advice.choice.map { ratio(of: other, over: $0) })
    }

    /// Returns an object with a ratio, and with the ends of its interval.
    private func json(_ members: [String: any Encodable], _ ratio: SpeedRatio?) -> JSONValue {
        let interval = ratio?.hasInterval == true ? ratio : nil
        let figures: [String: any Encodable] = [
            "ratio": ratio?.ratio, "ratioLow": interval?.low, "ratioHigh": interval?.high,
        ]
        return JSONValue(members: members.merging(figures) { $1 })
    }

    private func json(_ group: ComparisonGroup, _ count: Int) -> JSONValue {
        JSONValue(members: [
            "description": group.description, "cells": count, "options": group.options(insteadOf: pool.group),
        ])
    }

    /// Returns a cell as under `measure`, with the figures that budgets limit.
    private func json(_ candidate: Candidate) -> JSONValue {
        JSONValue(
            encoding: cell(candidate)?.json,
            adding: [
                "latencyNanoseconds": candidate.latencyNanoseconds,
                "firstByteNanoseconds": candidate.firstByteNanoseconds,
                "memoryGrowthByteCount": candidate.memoryByteCount,
            ])
    }

    private func json(_ cost: Advice.BudgetCost) -> JSONValue {
        json(
            [
                "budget": cost.budget.rawValue, "choiceWithout": cost.alternative.id,
                "bytesPerSecondWithout": cost.alternative.bytesPerSecond, "isFaster": cost.isFaster,
            ], advice.choice.map { ratio(of: cost.alternative, over: $0) })
    }

    private func json(_ set: BudgetRelaxation) -> JSONValue {
        let raises = set.raises.map { raise in
            JSONValue(members: [
                "budget": raise.budget.rawValue, "given": Self.number(raise.budget, raise.given),
                "needed": Self.number(raise.budget, raise.needed), "option": BudgetText.option(raise),
            ])
        }
        return JSONValue(members: ["raises": raises, "fits": set.candidate.id])
    }

    private static func number(_ budget: Budget, _ value: Double) -> JSONValue {
        budget == .amplification ? .number(value) : JSONValue(encoding: value)
    }

    private func json(_ profile: SecurityProfile) -> JSONValue {
        var members: [String: any Encodable] = ["strategy": profile.title]
        for property in SecurityProperty.allCases {
            let answer = profile[property]
            members[property.rawValue] = ["answer": answer.text, "detail": answer.detail, "source": answer.source]
        }
        return JSONValue(members: members)
    }

    /// Returns several recommendations, each for its own results, as one object.
    package static func json(_ recommendations: [RunRecommendation]) -> JSONValue {
        JSONValue(members: ["recommendations": recommendations.map(\.json)])
    }
}
