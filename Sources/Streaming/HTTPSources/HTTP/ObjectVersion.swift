#if Network
import NIOHTTP1

/// Which version of an object ranges are of.
///
/// - Source: RFC 9110, sections 8.8 (validators), 13.1.5 (If-Range).
struct ObjectVersion: Hashable, Sendable {
    /// The whole object's length in bytes.
    var byteCount: UInt64
    /// What the server calls this version, quotes and `W/` included.
    let entityTag: String?
    /// When the server says that it was changed last.
    let lastModified: String?
    /// When that was said.
    private let date: String?

    /// Reads what an answer says of the object's version.
    init(byteCount: UInt64, fields: HTTPHeaders) {
        self.byteCount = byteCount
        entityTag = fields.first(name: "ETag")
        lastModified = fields.first(name: "Last-Modified")
        date = fields.first(name: "Date")
    }

    /// What `If-Range` may hold: a strong entity tag, or else the date of a change that is over.
    ///
    /// Dates have seconds: only of one that lies before the answer's is no second version possible.
    var validator: String? {
        if let entityTag { return entityTag.hasPrefix("W/") ? nil : entityTag }
        guard let lastModified, let date, date != lastModified else { return nil }
        return lastModified
    }

    /// Whether another answer is of this version, as far as both say; an entity tag must not be missing in one of them.
    func isSame(as other: ObjectVersion) -> Bool {
        let isSameDate = lastModified == nil || other.lastModified == nil || lastModified == other.lastModified
        return byteCount == other.byteCount && entityTag == other.entityTag && isSameDate
    }
}

extension ObjectVersion: CustomStringConvertible {
    /// The length, and what the server calls the version.
    var description: String {
        let names = [entityTag.map { "ETag \($0)" }, lastModified.map { "changed \($0)" }].compactMap(\.self)
        return (["\(byteCount) bytes"] + names).joined(separator: ", ")
    }
}
#endif
