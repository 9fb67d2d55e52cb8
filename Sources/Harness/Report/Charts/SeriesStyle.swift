/// How a series looks: colour, dashes and shape, of which any one is enough to tell it from the others.
///
/// The first six differ in all three. Further ones repeat colours with other dashes and other, hollow shapes.
struct SeriesStyle: Hashable, Sendable {
    /// The index of the dashes and the shape, from 0.
    let index: Int
    /// The index of the colour in the palette.
    let colour: Int

    /// Creates the style of a series, with its own colour or another one's.
    init(_ index: Int, colour: Int? = nil) {
        self.index = max(index, 0)
        self.colour = max(colour ?? index, 0) % Palette.seriesCount
    }

    /// The class of elements in the colour.
    var colourClass: String { "s\(colour)" }

    /// The classes of a line.
    var lineClass: String { "\(colourClass) d\((index + index / Palette.seriesCount) % Palette.seriesCount)" }

    /// The classes of a mark.
    var markClass: String {
        (index / Palette.seriesCount).isMultiple(of: 2) ? "dot \(colourClass)" : "dot hollow \(colourClass)"
    }

    /// The index of the shape.
    var shape: Int { (index + 2 * (index / Palette.seriesCount)) % Palette.seriesCount }
}
