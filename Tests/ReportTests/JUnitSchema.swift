import Foundation

#if canImport(FoundationXML)
import FoundationXML
#endif

/// What JUnit XML may hold, and a check of a document against it.
///
/// Source: junit-10.xsd of jenkinsci/xunit-plugin: elements, attributes, what is required, and the order of children.
final class JUnitSchema: NSObject, XMLParserDelegate {
    private struct Element {
        var required: Set<String> = []
        var optional: Set<String> = []
        var children: [String] = []
    }

    private static let elements: [String: Element] = [
        "testsuites": Element(
            optional: ["name", "time", "tests", "failures", "disabled", "errors"], children: ["testsuite"]),
        "testsuite": Element(
            required: ["name", "tests"],
            optional: [
                "failures", "errors", "time", "disabled", "skipped", "timestamp", "hostname", "id", "package",
            ], children: ["properties", "testcase", "system-out", "system-err"]),
        "properties": Element(children: ["property"]),
        "property": Element(required: ["name", "value"]),
        "testcase": Element(
            required: ["name"], optional: ["assertions", "time", "classname", "status"],
            children: ["skipped", "error", "failure", "system-out", "system-err"]),
        "skipped": Element(optional: ["type", "message"]), "error": Element(optional: ["type", "message"]),
        "failure": Element(optional: ["type", "message"]), "system-out": Element(), "system-err": Element(),
    ]

    /// What is wrong with the document.
    private(set) var mismatches: [String] = []
    /// How often each element occurs.
    private(set) var counts: [String: Int] = [:]
    /// The names of the cases, in order.
    private(set) var cases: [String] = []
    private var path: [(name: String, attributes: [String: String], children: [String])] = []

    /// Reads a document.
    init(_ text: String) {
        super.init()
        let parser = XMLParser(data: Data(text.utf8))
        parser.delegate = self
        if !parser.parse() { mismatches.append("not well-formed: \(parser.parserError.map { "\($0)" } ?? "")") }
        // The parser takes a document that ends too early.
        if !path.isEmpty || counts.isEmpty { mismatches.append("not well-formed: it ends too early") }
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        counts[name, default: 0] += 1
        if name == "testcase" { cases.append(attributes["name"] ?? "") }
        let rule = Self.elements[name] ?? Element()
        let parent = path.last?.name
        if Self.elements[name] == nil || parent == nil && name != "testsuites" {
            mismatches.append("<\(name)> is not expected here")
        }
        if let parent, !(Self.elements[parent]?.children ?? []).contains(name) {
            mismatches.append("<\(name)> in <\(parent)>")
        }
        let names = Set(attributes.keys)
        for missing in rule.required.subtracting(names) { mismatches.append("<\(name)> without \(missing)") }
        for extra in names.subtracting(rule.required).subtracting(rule.optional) {
            mismatches.append("<\(name)> with \(extra)")
        }
        for number in ["tests", "failures", "errors", "skipped", "assertions"] {
            if let value = attributes[number], Int(value) == nil { mismatches.append("\(number)=\"\(value)\"") }
        }
        if let time = attributes["time"], time.wholeMatch(of: /\d+(\.\d+)?/) == nil {
            mismatches.append("time=\(time)")
        }
        if !path.isEmpty { path[path.count - 1].children.append(name) }
        path.append((name, attributes, []))
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        guard let element = path.popLast() else { return }
        let order = Self.elements[name]?.children ?? []
        let places = element.children.compactMap(order.firstIndex)
        if name != "testcase", places != places.sorted() { mismatches.append("<\(name)>: children out of order") }
        if name == "testsuite" { check(element.attributes, tests: element.children.count { $0 == "testcase" }) }
        if name == "testsuites" { checkTotals(element.attributes) }
        if name == "testcase", element.children.count > 1 { mismatches.append("a case with two outcomes") }
    }

    private var suiteTotals: [String: Int] = [:]
    private var seen: [String: Int] = [:]

    private func check(_ attributes: [String: String], tests: Int) {
        let names = [("failures", "failure"), ("errors", "error"), ("skipped", "skipped")]
        if attributes["tests"] != "\(tests)" { mismatches.append("tests=\(attributes["tests"] ?? "") of \(tests)") }
        for (attribute, element) in names {
            let found = (counts[element] ?? 0) - (seen[element] ?? 0)
            seen[element] = counts[element] ?? 0
            if attributes[attribute] != "\(found)" {
                mismatches.append("\(attribute)=\(attributes[attribute] ?? "none") of \(found)")
            }
            suiteTotals[attribute, default: 0] += found
        }
        suiteTotals["tests", default: 0] += tests
    }

    private func checkTotals(_ attributes: [String: String]) {
        for name in ["tests", "failures", "errors"] where attributes[name] != "\(suiteTotals[name] ?? 0)" {
            mismatches.append("all \(name)=\(attributes[name] ?? "none") of \(suiteTotals[name] ?? 0)")
        }
    }
}
