/// The style of the page: light or dark by the reader's setting, for narrow screens and paper.
enum PageStyle {
    /// The rules. Those in `Resources` use the palette's colours as custom properties.
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

/// The page's script. The page is complete without it.
///
/// The script shows the values of marks in pictures, beside the pointer and by keyboard. A picture is one stop of the
/// Tab key; the arrow keys, Home and End move through its marks, and Escape hides the value. Tables can be sorted, with
/// numbers compared by their units (`512 MiB/s` comes before `1 GiB/s`), and saved as CSV. Folded parts are unfolded
/// for printing.
enum PageScript {
    /// The content security policy: the page loads and sends nothing, and no other script runs.
    static let policy =
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-\(digest)'; base-uri 'none'; form-action "
        + "'none'"

    /// SHA-256 of the script in Base64; a test compares the two.
    static let digest = "LdDVUJ2gEF2evQGBuvJABfLPSo+X6KPYibt1VCdXCVk="

    static let text = String(decoding: PackageResources.page_js, as: UTF8.self)
}
