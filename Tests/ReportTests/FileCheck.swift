import Foundation
import Glibc
import Report
import Support
import Testing

#if canImport(FoundationXML)
import FoundationXML
#endif

/// Expects that a file of a report is whole, whatever its figures are: JSON and XML that parsers read, lines of CSV with
/// the same number of fields, and no figure that is none.
func expectWhole(_ file: ReportFile, sourceLocation: SourceLocation = #_sourceLocation) {
    let text = String(decoding: file.bytes, as: UTF8.self)
    func expect(_ isWhole: Bool, _ what: String) {
        #expect(isWhole, "\(file.name): \(what)", sourceLocation: sourceLocation)
    }
    expect(!text.isEmpty, "no text")
    switch file.name.split(separator: ".").last {
    case "json": expect(JSONValue.parse(file.bytes) != nil, "no JSON")
    case "xml", "svg":
        let parser = XMLParser(data: Data(file.bytes))
        expect(parser.parse(), "no XML: \(parser.parserError.map { "\($0)" } ?? "")")
    case "csv":
        let counts = Set(fieldCounts(file.bytes))
        expect(counts.count == 1, "lines of \(counts.sorted()) fields")
    case "html":
        expect(text.hasPrefix("<!DOCTYPE html>") && text.hasSuffix("</html>\n"), "no page")
        expect(text.components(separatedBy: "<script").count == 2, "other scripts than the page's")
    default: break
    }
    for word in ["nan", "inf"] { expect(!holds(word, text), "a figure that is \(word)") }
}

/// Tells if a word stands in a text, as Swift writes a figure that is no number.
private func holds(_ word: String, _ text: String) -> Bool {
    func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
    return text.withCString { start in
        var rest = start
        // Pages are long, and tests are built without optimization.
        while let found = strstr(rest, word) {
            let before = found == start ? 0 : UInt8(bitPattern: found[-1])
            if !isLetter(before), !isLetter(UInt8(bitPattern: found[word.utf8.count])) { return true }
            rest = UnsafePointer(found) + 1
        }
        return false
    }
}

/// Counts the fields of each line of CSV. Source: RFC 4180.
private func fieldCounts(_ bytes: [UInt8]) -> [Int] {
    var (counts, count, isQuoted) = ([Int](), 1, false)
    for byte in bytes {
        switch byte {
        case UInt8(ascii: "\""): isQuoted.toggle()
        case UInt8(ascii: ",") where !isQuoted: count += 1
        case UInt8(ascii: "\n") where !isQuoted:
            counts.append(count)
            count = 1
        default: break
        }
    }
    return counts
}
