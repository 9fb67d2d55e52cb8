/// A line of a playlist, without its line break.
struct PlaylistLine {
    /// The line's number, counted from 1.
    let number: Int
    /// The line's text; bytes that are not UTF-8 are replaced.
    let text: String
    /// The problem with the line's characters, if any.
    var problem: PlaylistProblem?

    /// The text without trailing white space, which players ignore.
    var textWithoutEnd: Substring {
        var text = text[...]
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}

/// The lines of a playlist, which end with LF or CR LF.
///
/// - Source: RFC 8216, section 4.1.
struct PlaylistLines {
    private let bytes: UnsafeRawBufferPointer
    private let longestLine: Int
    private var position = 0
    private var number = 0

    init(_ bytes: UnsafeRawBufferPointer, longestLine: Int) {
        self.bytes = bytes
        self.longestLine = longestLine
    }

    /// Returns the next line; `nil` after the last one.
    ///
    /// - Throws: `PlaylistProblem` for a line that is too long; its rest is skipped.
    mutating func next() throws(PlaylistProblem) -> PlaylistLine? {
        guard position < bytes.count else { return nil }
        number += 1
        let maximum = min(bytes.count - position, longestLine + 2)
        let window = bytes[position..<position + maximum]
        let feed = window.firstIndex(of: 0x0A)
        guard let end = feed ?? (maximum == bytes.count - position ? bytes.count : nil) else { throw tooLong }
        var stop = end
        // A CR without an LF is a control character like any other.
        if feed != nil, stop > position, bytes[stop - 1] == 0x0D { stop -= 1 }
        guard stop - position <= longestLine else { throw tooLong }
        let line = bytes[position..<stop]
        position = feed == nil ? bytes.count : end + 1
        return decoded(UnsafeRawBufferPointer(rebasing: line))
    }

    private var tooLong: PlaylistProblem {
        PlaylistProblem(
            line: number, kind: .lineTooLong, found: "a line of more than \(longestLine) bytes",
            expected: "lines of a playlist")
    }

    private func decoded(_ line: UnsafeRawBufferPointer) -> PlaylistLine {
        guard let text = String(validating: line, as: UTF8.self) else {
            return PlaylistLine(
                number: number, text: String(decoding: line, as: UTF8.self),
                problem: PlaylistProblem(
                    line: number, kind: .notUTF8, found: "bytes that are not UTF-8", expected: "text in UTF-8"))
        }
        var line = PlaylistLine(number: number, text: text, problem: nil)
        let control = line.textWithoutEnd.unicodeScalars.first { $0.value < 0x20 || 0x7F...0x9F ~= $0.value }
        line.problem = control.map {
            PlaylistProblem(
                line: number, kind: .controlCharacter, found: "the control character \(CharacterText.name($0))",
                expected: "text without control characters, in lines that end with LF or CR LF")
        }
        return line
    }
}

/// Names of characters, for messages.
enum CharacterText {
    /// Returns a character's code point, such as `U+201C`.
    static func name(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    /// Returns whether a character is a typographic quotation mark, with which word processors replace straight ones.
    static func isCurlyQuote(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // ‘ ’ ‚ ‛ “ ” „ ‟, ′ ″, « », ＂
        case 0x2018...0x201F, 0x2032...0x2033, 0xAB, 0xBB, 0xFF02: true
        default: false
        }
    }
}
