import FoundationEssentials
package import Support

extension JSONValue {
    /// The JSON that a record encodes to.
    ///
    /// - Parameters:
    ///   - record: The record. Only infinite numbers cannot be encoded, and records have none.
    ///   - nullable: The members that are always present, with `null` if the record lacks them.
    ///   - others: Members that the record does not encode, or encodes differently.
    package init(
        encoding record: some Encodable, nullable: [String] = [], adding others: [String: JSONValue] = [:]
    ) {
        let value = (try? JSONEncoder().encode(record)).flatMap { JSONValue.parse(Array($0)) } ?? .null
        guard case .object(var members) = value else {
            self = value
            return
        }
        for name in nullable where members[name] == nil { members[name] = .null }
        self = .object(members.merging(others) { $1 })
    }
}
