/// The style of the page: light and dark by the reader's setting, narrow screens and paper.
enum PageStyle {
    /// The rules; those of `Resources` need the palette's colours as custom properties.
    static let text = """
        :root {\n\(properties(.light))}
        @media (prefers-color-scheme: dark) { :root {\n\(properties(.dark))} }
        @media print { :root {\n\(properties(.light))} }
        \(layout)\(ChartStyle.rules)\(print)
        """

    private static let layout = String(decoding: PackageResources.page_css, as: UTF8.self)
    private static let print = String(decoding: PackageResources.print_css, as: UTF8.self)

    private static func properties(_ palette: Palette) -> String {
        palette.colours.map { "--\($0.name): \($0.value);\n" }.joined()
    }
}

/// The page's script. The page is whole without it.
///
/// It shows the values of marks in pictures, beside the pointer and by keyboard: a picture is one stop of the Tab key, the
/// arrow keys, Home and End go through its marks, Escape hides the value. Tables can be sorted, numbers by their units
/// (`512 MiB/s` comes before `1 GiB/s`), and saved as CSV. What is folded is unfolded on paper.
enum PageScript {
    /// What a browser may do with the page: nothing is loaded or sent, and no other script runs.
    static let policy =
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-\(digest)'; base-uri 'none'; form-action "
        + "'none'"

    /// SHA-256 of the script in Base64; a test compares the two.
    static let digest = "LdDVUJ2gEF2evQGBuvJABfLPSo+X6KPYibt1VCdXCVk="

    static let text = String(decoding: PackageResources.page_js, as: UTF8.self)
}
