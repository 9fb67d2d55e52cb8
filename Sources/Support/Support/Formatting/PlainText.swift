/// Text from elsewhere, made fit for a line of a terminal or a log.
package enum PlainText {
    /// The text as one line: whatever would end the line, or drive what shows it, is a space.
    ///
    /// By scalars, since "\r\n" is one character in Swift. A log that is read line by line takes no order from it.
    package static func line(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { isControl($0) ? " " : $0 }))
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x2028, 0x2029: true
        default: false
        }
    }
}
