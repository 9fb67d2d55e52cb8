/// The style of every picture, for a page with custom properties and for files of their own.
enum ChartStyle {
    /// Rules for a page that defines a custom property for each colour of the palette.
    static var rules: String { rules { "var(--\($0))" } }

    /// Rules for a file of its own. Colours are written out, because many viewers do not know custom properties.
    static var standalone: String {
        rules { Palette.light[$0] } + "@media (prefers-color-scheme: dark) {\n" + colourRules { Palette.dark[$0] }
            + "}\n"
    }

    private static let shapes = """
        .chart text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; \
        font-variant-numeric: tabular-nums; }
        .chart .caption { font-size: 14px; font-weight: 600; }
        .chart .end { font-weight: 600; paint-order: stroke; stroke-width: 4; stroke-linejoin: round; }
        .chart .small { font-size: 12px; }
        .chart .grid, .chart .faint { stroke-width: 1; }
        .chart .mark { stroke-width: 1.5; stroke-dasharray: 2 4; }
        .chart .reference { fill: none; stroke-width: 1.5; }
        .chart .r0 { stroke-dasharray: 7 5; }
        .chart .r1 { stroke-dasharray: 2 3; }
        .chart .strong { font-weight: 700; }
        .chart .unit { font-size: 11px; }
        .chart .frame { fill: none; stroke-width: 2; }
        .chart .leader { stroke-width: 1; stroke-opacity: 0.5; }
        .chart .line { fill: none; stroke-width: 4; stroke-opacity: 0.6; stroke-linejoin: round; }
        .chart .band { stroke: none; fill-opacity: 0.2; }
        .chart .ring { fill: none; stroke-width: 2.5; }
        .chart .thin { stroke-width: 1.5; }
        .chart .hollow { fill-opacity: 0; stroke-width: 2; }
        .chart .whisker { fill: none; stroke-width: 2; }
        .chart .bar { fill-opacity: 0.75; }
        .chart .light { fill-opacity: 0.35; }
        .chart .v { pointer-events: bounding-box; }
        .chart .d1 { stroke-dasharray: 13 5; }
        .chart .d2 { stroke-dasharray: 4 4; }
        .chart .d3 { stroke-dasharray: 14 4 4 4; }
        .chart .d4 { stroke-dasharray: 22 5; }
        .chart .d5 { stroke-dasharray: 8 3 2 3 2 3; }

        """

    private static func rules(_ colour: (String) -> String) -> String {
        shapes + colourRules(colour)
    }

    private static func colourRules(_ colour: (String) -> String) -> String {
        var rules = """
            .chart .paper { fill: \(colour("paper")); }
            .chart text { fill: \(colour("ink")); }
            .chart .tick, .chart .small { fill: \(colour("muted")); }
            .chart .end { stroke: \(colour("paper")); }
            .chart .grid { stroke: \(colour("rule")); }
            .chart .faint { stroke: \(colour("faint")); }
            .chart .mark, .chart .leader, .chart .reference { stroke: \(colour("muted")); }
            .chart .bar { fill: \(colour("muted")); }
            .chart .ring { stroke: \(colour("ink")); }

            """
        for shade in 0..<HeatMap.shadeCount {
            rules += ".chart .h\(shade) { fill: \(colour("h\(shade)")); } "
            rules += ".chart text.i\(shade) { fill: \(colour("i\(shade)")); } "
            rules += ".chart .frame.i\(shade) { stroke: \(colour("i\(shade)")); }\n"
        }
        for index in 0..<Palette.seriesCount {
            let value = colour("s\(index)")
            rules += """
                .chart .line.s\(index), .chart .whisker.s\(index), .chart .ring.s\(index), \
                .chart .hollow.s\(index) { stroke: \(value); }
                .chart .band.s\(index), .chart .dot.s\(index), .chart text.s\(index) { fill: \(value); }

                """
        }
        return rules
    }
}
