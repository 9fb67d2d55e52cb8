package import Results

/// Renders the report of a run: a page, Markdown with its pictures, and the data as JSON and CSV.
///
/// The same results give the same bytes: no clock, locale, disk or order of a hash table is involved. Pictures for which
/// there are no data are left out, and so are their files.
/// - Returns: The files of ``RunReport/files``.
package func renderReport(_ results: RunResults) -> [ReportFile] {
    RunReport(results).files
}
