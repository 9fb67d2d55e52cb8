#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A file of results on keys.
package protocol KeyRecord: Codable, Sendable {
    /// The version of the format.
    static var currentSchema: String { get }

    /// What cannot be in such a file, or `nil`.
    var fault: String? { get }
}

extension KeyRecord {
    /// Reads a file.
    ///
    /// - Parameter bytes: All of it.
    /// - Throws: `KeyResultsError`.
    package init(file bytes: [UInt8]) throws(KeyResultsError) {
        let data = Data(bytes)
        let decoder = JSONDecoder()
        guard let named = try? decoder.decode(AnySchema.self, from: data) else {
            throw .damaged("no JSON object with a schema", expected: Self.currentSchema)
        }
        guard named.schema == Self.currentSchema else {
            throw .unknownSchema(named.schema, expected: Self.currentSchema)
        }
        do {
            self = try decoder.decode(Self.self, from: data)
        } catch {
            throw .damaged(Self.reason(error), expected: Self.currentSchema)
        }
        if let fault { throw .damaged(fault, expected: Self.currentSchema) }
    }

    private static func reason(_ error: any Error) -> String {
        func place(_ path: [any CodingKey]) -> String {
            path.map { $0.intValue.map { "[\($0)]" } ?? ".\($0.stringValue)" }.joined()
        }
        switch error {
        case DecodingError.keyNotFound(let key, let context): return "no \(place(context.codingPath + [key]))"
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
            DecodingError.dataCorrupted(let context):
            return "\(place(context.codingPath)) is of another kind"
        default: return "it cannot be read"
        }
    }
}

/// As much of a file as every schema has.
private struct AnySchema: Decodable {
    var schema: String
}

/// Why a file of results on keys could not be understood.
public enum KeyResultsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// It names another schema.
    case unknownSchema(String, expected: String)
    /// It is not what its schema says.
    case damaged(String, expected: String)

    /// What failed, the value, what was expected.
    public var description: String {
        switch self {
        case .unknownSchema(let schema, let expected): "unknown schema \"\(schema)\": expected \(expected)"
        case .damaged(let reason, let expected): "\(reason): expected a record of schema \(expected)"
        }
    }
}
