/// Something that a reader must know before trusting figures, and what to do about it.
struct Warning: Hashable, Sendable {
    /// What kind of thing it is, in a few words.
    var title: String
    /// What was found, with its numbers.
    var message: String
    /// What to do about it.
    var advice: String
    /// Whether it stands above the verdict: without knowing it, the verdict would mislead.
    var isSerious: Bool

    /// The message as a sentence of its own.
    var sentence: String { message.prefix(1).uppercased() + message.dropFirst() }

    /// The warning as one text.
    var text: String { "\(title): \(message)" + (advice.isEmpty ? "" : " \(advice)") }
}
