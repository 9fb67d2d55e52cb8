import FoundationEssentials
package import Support

extension JSONValue {
    /// Creates what a record is encoded as.
    ///
    /// - Parameters:
    ///   - record: The record. Only infinite numbers cannot be encoded, and records have none.
    ///   - nullable: The members that are always there, as `null` where the record has none.
    ///   - others: Members that the record does not encode, or not like this.
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
