internal import RandomAccess

/// A key as its tag describes it.
struct KeyTag {
    /// METHOD.
    enum Method {
        case aes128(uri: String, iv: Block?)
        /// Another one than NONE and AES-128.
        case other(String)
    }

    let line: Int
    let method: Method
    let format: String
}

/// The keys in force: one for each KEYFORMAT, until the next of the same, or METHOD=NONE.
///
/// - Source: RFC 8216, section 4.3.2.4.
struct KeyState {
    private enum Slot {
        case key(KeyTag)
        case broken(PlaylistProblem)
    }

    /// In the order of their tags; a playlist has few formats at a time.
    private var slots: [(format: String, slot: Slot)] = []
    /// KEYFORMATs beyond this are no playlist's.
    private static let maxFormats = 32

    /// The format of a key that is the 16 bytes of a resource. Source: RFC 8216, section 4.3.2.4.
    static let identity = "identity"

    /// METHOD=NONE: it has no KEYFORMAT, and segments cannot be both encrypted and not.
    mutating func end() {
        slots = []
    }

    mutating func apply(_ tag: KeyTag) {
        set(.key(tag), for: tag.format)
    }

    /// A tag of this format could not be read.
    mutating func breakFormat(_ format: String, _ problem: PlaylistProblem) {
        set(.broken(problem), for: format)
    }

    /// A tag could not be read: nobody knows which format it was for.
    mutating func breakAll(_ problem: PlaylistProblem) {
        slots = [(Self.identity, .broken(problem))]
    }

    private mutating func set(_ slot: Slot, for format: String) {
        slots.removeAll { $0.format == format }
        if slots.count >= Self.maxFormats { slots.removeFirst() }
        slots.append((format, slot))
    }

    /// The key that serves what comes now.
    ///
    /// - Parameter line: The line of what comes, for messages.
    /// - Returns: The key's URI and IV attribute; `nil` where nothing is encrypted.
    /// - Throws: `PlaylistProblem` if there are keys, and none that can be used.
    func key(line: Int) throws(PlaylistProblem) -> (uri: String, iv: Block?)? {
        guard !slots.isEmpty else { return nil }
        guard let slot = slots.first(where: { $0.format == Self.identity })?.slot else {
            for case (_, .broken(let problem)) in slots { throw problem }
            let formats = slots.map { DecimalText.shown($0.format) }.joined(separator: ", ")
            var keyLine = line
            if case .key(let tag)? = slots.first?.slot { keyLine = tag.line }
            throw PlaylistProblem(
                line: keyLine, kind: .unsupportedKeyFormat, found: "only keys of KEYFORMAT \(formats)",
                expected: "a key of KEYFORMAT \"identity\", or without KEYFORMAT")
        }
        switch slot {
        case .broken(let problem): throw problem
        case .key(let tag):
            switch tag.method {
            case .aes128(let uri, let iv): return (uri, iv)
            case .other(let name):
                throw PlaylistProblem(
                    line: tag.line, kind: .unsupportedMethod, found: "METHOD \(DecimalText.shown(name))",
                    expected: "AES-128 or NONE")
            }
        }
    }
}
