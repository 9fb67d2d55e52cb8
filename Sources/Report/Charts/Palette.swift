/// Colours of pages and pictures for one background.
///
/// The series colours keep the hues of Okabe and Ito, which people with any of the common colour-vision deficiencies
/// can tell apart; they are darkened on white and lightened on black until text in them has a contrast of 4.5:1.
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
    ])

    /// Colours on a dark background.
    static let dark = Palette(colours: [
        ("paper", "#14181d"), ("panel", "#1c2229"), ("ink", "#e6eaef"), ("muted", "#9aa7b4"), ("rule", "#38424d"),
        ("faint", "#242b33"), ("link", "#7cc4ff"), ("bad", "#ff8f85"), ("badpaper", "#3a1d1c"), ("good", "#4fd0a5"),
        ("s0", "#56b4e9"), ("s1", "#ff9455"), ("s2", "#2fc99d"), ("s3", "#e79bc6"), ("s4", "#ecc04a"),
        ("s5", "#c3ccd6"),
    ])
}
