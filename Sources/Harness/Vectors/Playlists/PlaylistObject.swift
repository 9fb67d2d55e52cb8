/// An object of the strategy `hls-aes128`: a media playlist, and what it names.
package struct PlaylistObject: Hashable, Sendable {
    /// The strategy's name in files and in the subject protocol.
    package static let strategyName = "hls-aes128"

    /// The playlist's text.
    package let text: String
    /// Resources by URI as written.
    package let resources: [String: [UInt8]]
    /// Keys by URI as written; of any length, since wrong ones are vectors, too.
    package let keys: [String: [UInt8]]

    /// Creates an object.
    package init(text: String, resources: [String: [UInt8]], keys: [String: [UInt8]]) {
        self.text = text
        self.resources = resources
        self.keys = keys
    }
}
