#if Network
import HTTPTypes

/// A request's conditions, checked. Source: RFC 9110, section 13.
struct Conditions {
    /// The status that ends the request, or `nil` if it goes on.
    let refusal: HTTPResponse.Status?
    /// Whether `Range` counts: what `If-Range` says.
    let allowRange: Bool

    /// Checks the conditions in the order of section 13.2.2.
    init(fields: HTTPFields, content: ServedContent, now: Int64) {
        self.refusal = Conditions.refusal(fields, content)
        self.allowRange = Conditions.allowsRange(fields, content, now)
    }

    private static func refusal(_ fields: HTTPFields, _ content: ServedContent) -> HTTPResponse.Status? {
        if let text = fields[.ifMatch] {
            guard let list = EntityTagList(text) else { return .badRequest }
            guard list.contains(where: content.entityTag.matchesStrongly) else { return .preconditionFailed }
        } else if let limit = fields[.ifUnmodifiedSince].flatMap(HTTPDate.seconds), let modified = content.modified,
            modified > limit
        {
            return .preconditionFailed
        }
        if let text = fields[.ifNoneMatch] {
            guard let list = EntityTagList(text) else { return .badRequest }
            return list.contains(where: content.entityTag.matchesWeakly) ? .notModified : nil
        }
        if let since = fields[.ifModifiedSince].flatMap(HTTPDate.seconds), let modified = content.modified,
            modified <= since
        {
            return .notModified
        }
        return nil
    }

    /// Source: RFC 9110, section 13.1.5. A date only stands for certain bytes if no other change can have come in the
    /// same second.
    private static func allowsRange(_ fields: HTTPFields, _ content: ServedContent, _ now: Int64) -> Bool {
        guard let text = fields[.ifRange] else { return true }
        if let tag = EntityTag(text) { return content.entityTag.matchesStrongly(tag) }
        guard let date = HTTPDate.seconds(text), let modified = content.modified else { return false }
        return date == modified && modified < now
    }
}
#endif
