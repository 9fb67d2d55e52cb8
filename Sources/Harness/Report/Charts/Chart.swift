/// A finished picture: its elements, and the words for readers who cannot see them.
struct Chart: Hashable, Sendable {
    /// A name that is unique in a report, in lower-case ASCII; it is also the name of the file.
    var name: String
    var title: String
    /// A description of the picture's content, in a sentence or two.
    var description: String
    var width: Double
    var height: Double
    var body: String

    /// Returns the picture for an HTML page that contains `ChartStyle.rules` itself.
    ///
    /// The picture's name is an attribute. A `title` element would show on hover anywhere in the picture.
    /// - Parameters:
    ///   - name: An additional class beside `chart`.
    ///   - caption: The identifier of the element with the description.
    /// - Returns: The `svg` element.
    func inline(class name: String = "", caption: String) -> String {
        let label = "aria-label=\"\(MarkupText.markup(title))\" aria-describedby=\"\(caption)\""
        return "<svg class=\"chart\(name.isEmpty ? "" : " ")\(name)\" \(box) role=\"img\" \(label)>\n\(body)</svg>"
    }

    /// The picture as a separate file, with its style and background for light and dark.
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

/// A chart that can be drawn for a page and for a phone.
protocol Picture: Sendable {
    /// A name that is unique in a report.
    var name: String { get }
    /// The subject of the picture; it is also printed above it.
    var title: String { get }
    /// A description of the picture's content.
    var description: String { get }

    /// Draws everything except the title, and returns the height.
    func draw(width: Double, to svg: inout SVGWriter) -> Double
}

extension Picture {
    /// Draws the picture for a page or a file or, with 420 units of width, for a phone.
    func chart(width: Double = 960) -> Chart {
        var svg = SVGWriter()
        svg.caption(title, in: width)
        let height = draw(width: width, to: &svg)
        return Chart(
            name: Self.isWide(width) ? name : name + "-narrow", title: title, description: description, width: width,
            height: height, body: svg.text)
    }

    /// Returns whether names fit beside the things that they name.
    static func isWide(_ width: Double) -> Bool { width >= 640 }
}

extension Document.Block {
    /// Returns a picture with a second version for narrow screens.
    static func picture(_ picture: some Picture) -> Document.Block {
        .chart(picture.chart(), narrow: picture.chart(width: 420))
    }
}

/// The style of all pictures, for pages with custom properties and for separate files.
enum ChartStyle {
    private static let shapes = String(decoding: PackageResources.chart_css, as: UTF8.self)
    private static let colours = String(decoding: PackageResources.chart_colours_css, as: UTF8.self)

    /// The rules for a page that defines a custom property for each colour of the palette.
    static let rules = shapes + colours

    /// The rules for a separate file. Colours are written out, because many viewers do not support custom properties.
    static let standalone =
        shapes + colourRules(.light) + "@media (prefers-color-scheme: dark) {\n" + colourRules(.dark) + "}\n"

    private static func colourRules(_ palette: Palette) -> String {
        palette.colours.reduce(colours) { $0.replacing("var(--\($1.name))", with: $1.value) }
    }
}

/// The colours of pages and pictures for one background.
///
/// The series colours keep the hues of Okabe and Ito, which people with any of the common colour-vision deficiencies
/// can tell apart. They are darkened on white and lightened on black until text in them has a contrast of 4.5:1. Shades
/// (`h0` to `h6`, with their ink `i0` to `i6`) are steps of the first hue and can be told apart by their lightness
/// alone.
/// - Source: Okabe and Ito, "Color Universal Design" (2008); WCAG 2.2, success criterion 1.4.3.
struct Palette: Sendable {
    /// The names and values, in the order of output.
    let colours: [(name: String, value: String)]

    static let seriesCount = 6

    static let light = Palette(colours: [
        ("paper", "#ffffff"), ("panel", "#f5f6f8"), ("ink", "#1b1f24"), ("muted", "#59636e"), ("rule", "#d9dee4"),
        ("faint", "#eef0f3"), ("link", "#0058a3"), ("bad", "#b3261e"), ("badpaper", "#fdeceb"), ("good", "#00694c"),
        ("s0", "#0072b2"), ("s1", "#b84a00"), ("s2", "#007a59"), ("s3", "#a8447f"), ("s4", "#856000"),
        ("s5", "#444c56"),
        ("h0", "#f0f7fa"), ("i0", "#1b1f24"), ("h1", "#d1e6f1"), ("i1", "#1b1f24"), ("h2", "#add2e6"),
        ("i2", "#1b1f24"), ("h3", "#85bbda"), ("i3", "#1b1f24"), ("h4", "#0072b2"), ("i4", "#ffffff"),
        ("h5", "#004e7e"), ("i5", "#ffffff"), ("h6", "#002e52"), ("i6", "#ffffff"),
    ])

    static let dark = Palette(colours: [
        ("paper", "#14181d"), ("panel", "#1c2229"), ("ink", "#e6eaef"), ("muted", "#9aa7b4"), ("rule", "#38424d"),
        ("faint", "#242b33"), ("link", "#7cc4ff"), ("bad", "#ff8f85"), ("badpaper", "#3a1d1c"), ("good", "#4fd0a5"),
        ("s0", "#56b4e9"), ("s1", "#ff9455"), ("s2", "#2fc99d"), ("s3", "#e79bc6"), ("s4", "#ecc04a"),
        ("s5", "#c3ccd6"),
        ("h0", "#19242d"), ("i0", "#ffffff"), ("h1", "#213746"), ("i1", "#ffffff"), ("h2", "#2a4b60"),
        ("i2", "#ffffff"), ("h3", "#33617d"), ("i3", "#ffffff"), ("h4", "#468fb8"), ("i4", "#14181d"),
        ("h5", "#51a8d9"), ("i5", "#14181d"), ("h6", "#a2d6f3"), ("i6", "#14181d"),
    ])
}

/// The look of a series: colour, dashes and shape. Each of them alone is enough to tell it from the others.
///
/// The first six series differ in all three. Further ones repeat colours, with other dashes and with other, hollow
/// shapes.
struct SeriesStyle: Hashable, Sendable {
    /// The index of the dashes and the shape, from 0.
    let index: Int
    /// The index of the colour in the palette.
    let colour: Int

    /// Uses the index for the colour, too, unless a colour is given.
    init(_ index: Int, colour: Int? = nil) {
        self.index = max(index, 0)
        self.colour = max(colour ?? index, 0) % Palette.seriesCount
    }

    /// The class of elements in this colour.
    var colourClass: String { "s\(colour)" }

    var lineClass: String { "\(colourClass) d\((index + index / Palette.seriesCount) % Palette.seriesCount)" }

    var markClass: String {
        (index / Palette.seriesCount).isMultiple(of: 2) ? "dot \(colourClass)" : "dot hollow \(colourClass)"
    }

    var shape: Int { (index + 2 * (index / Palette.seriesCount)) % Palette.seriesCount }
}
