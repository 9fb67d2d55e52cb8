package import Support

extension RunRecommendation {
    /// Several recommendations, each of its own results, as one object.
    package static func json(_ recommendations: [RunRecommendation]) -> JSONValue {
        .object(["recommendations": .array(recommendations.map(\.json))])
    }
}
