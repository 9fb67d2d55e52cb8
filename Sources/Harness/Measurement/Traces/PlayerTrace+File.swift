package import Support

/// Why a trace cannot be replayed.
package struct TraceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file, what failed, what was expected.
    package let description: String

    init(_ file: String, _ message: String) {
        self.description = "\(file): \(message)"
    }
}

extension PlayerTrace {
    /// Reads a trace. Source: data/schemas/traces.json.
    ///
    /// - Parameters:
    ///   - json: The file's value, or `nil` if it is no JSON.
    ///   - file: What errors call it.
    /// - Throws: `TraceError` for what the schema does not allow.
    package init(_ json: JSONValue?, file: String) throws(TraceError) {
        guard let json, case .object(let members) = json else { throw TraceError(file, "expected a JSON object") }
        let known = ["schema", "name", "title", "source", "leastByteCount", "requests"]
        if let name = members.keys.sorted().first(where: { !known.contains($0) }) {
            throw TraceError(file, "member \"\(name)\": expected one of \(known.joined(separator: ", "))")
        }
        guard json["schema"] == 1 else { throw TraceError(file, "schema: expected 1") }
        guard let name = json["name"]?.string, let source = json["source"]?.string, json["title"]?.string != nil else {
            throw TraceError(file, "expected texts \"name\", \"title\" and \"source\"")
        }
        guard let minimum = json["leastByteCount"]?.integer, (1...1 << 53).contains(minimum) else {
            throw TraceError(file, "leastByteCount: expected a number of bytes, at least 1")
        }
        var requests: [Request] = []
        for (index, request) in (json["requests"]?.array ?? []).enumerated() {
            guard let offset = request["offset"]?.integer, offset < minimum else {
                throw TraceError(file, "request \(index + 1): expected an offset below leastByteCount")
            }
            let count = request["count"]?.integer
            guard count != nil || request["count"] == .null, count ?? 1 > 0, count ?? 1 <= minimum - offset else {
                throw TraceError(file, "request \(index + 1): expected a count up to leastByteCount, or null")
            }
            let time = request["nanoseconds"]
            guard time == nil || time?.integer != nil else {
                throw TraceError(file, "request \(index + 1): expected nanoseconds as a number, or none")
            }
            requests.append(Request(offset: offset, count: count, nanoseconds: time?.integer))
        }
        guard !requests.isEmpty else { throw TraceError(file, "requests: expected at least one") }
        self.init(name: name, source: source, minByteCount: minimum, requests: requests)
    }
}
