/// The page's script: values on focus, tables that sort and download. The page is whole without it.
enum PageScript {
    /// What a browser may do with the page: nothing is loaded or sent, and no other script runs.
    static let policy =
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-\(digest)'; base-uri 'none'; form-action 'none'"

    /// SHA-256 of the script in Base64; a test keeps it true.
    static let digest = "jrk7TjkBy73RBU+HfXc9gaKztIF3CDuPaEB4PedLxC4="

    /// The script.
    static let text = values + tables + printing
}
