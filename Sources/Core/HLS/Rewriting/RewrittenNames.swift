/// What a rewritten media playlist calls the resources that it names.
///
/// - Source: RFC 8216, section 4.1, for what may stand in a URI.
package struct RewrittenNames {
    /// The URI of a segment, by its index.
    package var segment: (_ index: Int) -> String
    /// The URI of an initialization section, by its index.
    package var initializationSection: (_ index: Int) -> String
    /// The URI of a key, by its URI as written; `nil` where segments are served decrypted.
    package var key: ((_ uri: String) -> String)?

    /// Creates names.
    package init(
        segment: @escaping (_ index: Int) -> String, initializationSection: @escaping (_ index: Int) -> String,
        key: ((_ uri: String) -> String)?
    ) {
        self.segment = segment
        self.initializationSection = initializationSection
        self.key = key
    }
}
