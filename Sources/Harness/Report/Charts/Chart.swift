/// A finished picture: the elements, and the words that stand for them where they cannot be seen.
struct Chart: Hashable, Sendable {
    /// A name that is unique in a report, in lower-case ASCII; the file is called after it.
    var name: String
    /// What the picture shows.
    var title: String
    /// What there is to be seen in it, in a sentence or two.
    var description: String
    /// Width in user units.
    var width: Double
    /// Height in user units.
    var height: Double
    /// The elements.
    var body: String

    /// Returns the picture for an HTML page that holds `ChartStyle.rules` itself.
    ///
    /// Its name is an attribute and no `title` element, which would show wherever somebody points.
    /// - Parameters:
    ///   - name: A class beside `chart`.
    ///   - caption: The identifier of the element that holds the description.
    /// - Returns: The `svg` element.
    func inline(class name: String = "", caption: String) -> String {
        let label = "aria-label=\"\(MarkupText.markup(title))\" aria-describedby=\"\(caption)\""
        return "<svg class=\"chart\(name.isEmpty ? "" : " ")\(name)\" \(box) role=\"img\" \(label)>\n\(body)</svg>"
    }

    /// The picture as a file of its own, with its style and background for light and dark.
    var standalone: String {
        let label = "role=\"img\" aria-labelledby=\"\(name)-title \(name)-desc\""
        let root = "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" \(box) \(label)"
        let size = "width=\"\(SVGWriter.number(width))\" height=\"\(SVGWriter.number(height))\""
        let background = "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n"
        return "\(root) \(size)>\n\(words)<style>\n\(ChartStyle.standalone)</style>\n\(background)\(body)</svg>\n"
    }

    private var box: String {
        "viewBox=\"0 0 \(SVGWriter.number(width)) \(SVGWriter.number(height))\""
    }

    private var words: String {
        "<title id=\"\(name)-title\">\(MarkupText.markup(title))</title>\n"
            + "<desc id=\"\(name)-desc\">\(MarkupText.markup(description))</desc>\n"
    }
}
