import Results
import Support
import Testing

@Suite struct PlainTextTests {
    @Test(
        "text from elsewhere is one line, without what drives a terminal",
        arguments: ["a\nb", "a\rb", "a\u{85}b", "a\u{2028}b", "a\u{1B}b", "a\0b", "a\u{9B}b"])
    func line(text: String) {
        #expect(PlainText.line(text) == "a b")
    }

    @Test("a line break of two characters is two spaces, and letters of any script stay")
    func others() {
        #expect(PlainText.line("é\r\n日本 ±") == "é  日本 ±")
    }

    @Test(
        "a command's options are what follows its first word, however that is quoted",
        arguments: [
            ("chunkwise subject", "subject"), ("'/a b/c' subject --x", "subject --x"), ("a", ""), ("", ""),
            (" \"a b\"  --x 'y z'", "--x 'y z'"), ("'a b' ", ""),
        ])
    func options(command: String, expected: String) {
        #expect(ShellText.options(of: command) == expected)
    }
}
