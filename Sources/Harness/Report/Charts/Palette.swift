/// Colours of pages and pictures for one background.
///
/// The series colours keep the hues of Okabe and Ito, which people with any of the common colour-vision deficiencies
/// can tell apart; they are darkened on white and lightened on black until text in them has a contrast of 4.5:1. Shades
/// (`h0` to `h6`, with their ink `i0` to `i6`) are steps of the first hue whose lightness alone tells them apart.
/// - Source: Okabe and Ito, "Color Universal Design" (2008); WCAG 2.2, success criterion 1.4.3.
struct Palette: Sendable {
    /// Names and values, in the order in which they are written.
    let colours: [(name: String, value: String)]

    /// The colour of a name.
    subscript(name: String) -> String {
        colours.first { $0.name == name }?.value ?? "currentColor"
    }

    /// How many series differ in colour.
    static let seriesCount = 6

    /// Colours on white.
    static let light = Palette(colours: [
        ("paper", "#ffffff"), ("panel", "#f5f6f8"), ("ink", "#1b1f24"), ("muted", "#59636e"), ("rule", "#d9dee4"),
        ("faint", "#eef0f3"), ("link", "#0058a3"), ("bad", "#b3261e"), ("badpaper", "#fdeceb"), ("good", "#00694c"),
        ("s0", "#0072b2"), ("s1", "#b84a00"), ("s2", "#007a59"), ("s3", "#a8447f"), ("s4", "#856000"),
        ("s5", "#444c56"),
        ("h0", "#f0f7fa"), ("i0", "#1b1f24"), ("h1", "#d1e6f1"), ("i1", "#1b1f24"), ("h2", "#add2e6"),
        ("i2", "#1b1f24"), ("h3", "#85bbda"), ("i3", "#1b1f24"), ("h4", "#0072b2"), ("i4", "#ffffff"),
        ("h5", "#004e7e"), ("i5", "#ffffff"), ("h6", "#002e52"), ("i6", "#ffffff"),
    ])

    /// Colours on a dark background.
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
