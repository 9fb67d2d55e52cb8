/// The style of the page: light and dark by the reader's setting, narrow screens and paper.
enum PageStyle {
    /// The rules.
    static var text: String {
        """
        :root {\n\(properties(.light))}
        @media (prefers-color-scheme: dark) { :root {\n\(properties(.dark))} }
        @media print { :root {\n\(properties(.light))} }
        \(layout)\(ChartStyle.rules)\(print)
        """
    }

    private static func properties(_ palette: Palette) -> String {
        palette.colours.map { "--\($0.name): \($0.value);\n" }.joined()
    }

    private static let layout = """
        * { box-sizing: border-box; }
        html { color-scheme: light dark; -webkit-text-size-adjust: 100%; }
        body { margin: 0; background: var(--paper); color: var(--ink); line-height: 1.55;
        font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
        header, main { max-width: 1080px; margin: 0 auto; padding: 0 24px; }
        header { padding-top: 40px; }
        main { padding-bottom: 64px; }
        h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 8px; letter-spacing: -0.01em; text-wrap: balance; }
        h2 { font-size: 1.3rem; line-height: 1.3; margin: 0 0 12px; }
        section { margin-top: 48px; scroll-margin-top: 16px; }
        p, li, dd { overflow-wrap: anywhere; }
        p { max-width: 72ch; margin: 0 0 16px; }
        a { color: var(--link); }
        a:focus-visible, [tabindex]:focus-visible, summary:focus-visible { outline: 3px solid var(--link); \
        outline-offset: 2px; }
        .brand { margin: 0 0 4px; color: var(--muted); font-weight: 600; font-size: 0.9rem; }
        .subtitle { color: var(--muted); }
        .skip { position: absolute; left: -999px; }
        .skip:focus { left: 8px; top: 8px; padding: 8px; background: var(--paper); }
        .warning { max-width: none; margin: 16px 0 0; padding: 12px 16px; border-left: 4px solid var(--bad); \
        background: var(--badpaper); }
        .verdict { margin-top: 24px; padding: 20px 24px 12px; background: var(--panel); border-radius: 10px; }
        .verdict ol { margin: 0; padding-left: 1.4em; }
        .verdict li { margin-bottom: 8px; font-size: 1.05rem; }
        .verdict li:first-child { font-weight: 600; }
        nav ul { display: flex; flex-wrap: wrap; gap: 6px 20px; margin: 20px 0 0; padding: 0; list-style: none; }
        .scroll { overflow-x: auto; margin: 0 0 20px; }
        figure { margin: 0 0 24px; }
        figcaption { color: var(--muted); font-size: 0.92rem; max-width: 80ch; }
        .chart { display: block; width: 100%; height: auto; overflow: visible; }
        .scroll > .chart { min-width: 720px; }
        .narrow { display: none; }
        .v:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
        .hint { font-style: italic; }
        .tip { position: fixed; z-index: 2; max-width: min(320px, calc(100vw - 16px)); padding: 6px 10px; \
        border-radius: 6px; background: var(--ink); color: var(--paper); font-size: 0.84rem; pointer-events: none; }
        .tip[hidden] { display: none; }
        table { border-collapse: collapse; width: 100%; font-size: 0.92rem; font-variant-numeric: tabular-nums; }
        caption { text-align: left; color: var(--muted); padding: 0 0 8px; }
        caption span { position: sticky; left: 0; display: inline-block; max-width: calc(100vw - 32px); }
        th, td { padding: 7px 12px; border-bottom: 1px solid var(--rule); text-align: left; vertical-align: top; }
        th:first-child, td:first-child { padding-left: 0; }
        thead th { border-bottom-width: 2px; white-space: nowrap; }
        tbody th { font-weight: 500; }
        .number { text-align: right; white-space: nowrap; }
        td small, th small { display: block; color: var(--muted); font-size: 0.84em; font-weight: 400; }
        .good { color: var(--good); font-weight: 600; }
        .bad { color: var(--bad); font-weight: 600; }
        dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 20px; margin: 0 0 24px; }
        dt { color: var(--muted); }
        dd { margin: 0; }
        button { font: inherit; color: inherit; cursor: pointer; }
        button:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
        .sort { padding: 0; border: 0; background: none; font-weight: inherit; text-align: inherit; }
        .sort::after { content: " ↕"; color: var(--muted); font-weight: 400; }
        [aria-sort="ascending"] .sort::after { content: " ↑"; color: inherit; }
        [aria-sort="descending"] .sort::after { content: " ↓"; color: inherit; }
        .save { margin: -8px 0 20px; padding: 3px 10px; border: 1px solid var(--rule); border-radius: 6px; \
        background: var(--panel); font-size: 0.84rem; }
        details { margin: 0 0 16px; }
        summary { cursor: pointer; color: var(--link); padding: 4px 0; }
        .verbatim figcaption { color: var(--muted); margin-bottom: 6px; }
        pre { margin: 0; padding: 12px 16px; overflow-x: auto; background: var(--panel); border-radius: 8px; \
        font: 13px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
        @media (max-width: 600px) {
        header, main { padding-left: 16px; padding-right: 16px; }
        header { padding-top: 24px; }
        h1 { font-size: 1.5rem; }
        .narrow { display: block; }
        .wide { display: none; }
        .verdict { margin-left: -16px; margin-right: -16px; border-radius: 0; padding: 16px; }
        dl { grid-template-columns: 1fr; gap: 0; }
        dd { margin-bottom: 8px; }
        }

        """

    private static let print = """
        @media print {
        body { font-size: 10.5pt; }
        header, main { max-width: none; padding: 0; }
        nav, .skip, .save, .hint, .tip, summary { display: none; }
        .sort::after { content: ""; }
        .scroll { overflow: visible; }
        .scroll > .chart { min-width: 0; }
        .chart { max-height: 240mm; }
        figure, tr { break-inside: avoid; }
        details::details-content { content-visibility: visible; display: block; height: auto; }
        table { font-size: 7.5pt; }
        th, td, thead th { padding: 3px 5px; overflow-wrap: break-word; white-space: normal; }
        tbody th { min-width: 16ch; }
        p, li { break-inside: avoid; }
        p, li, dd, figcaption { font-size: 9.5pt; }
        thead { break-after: avoid; }
        section > p { break-after: avoid; }
        h2 { break-after: avoid; }
        pre { white-space: pre-wrap; }
        }

        """
}
