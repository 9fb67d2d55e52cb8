#if Network
/// The page that names what is served.
enum StartPage {
    /// A list of links, in HTML.
    static func html(_ listing: [[String]]) -> String {
        let items = listing.map { path in
            let link = path.map(RequestTarget.encoded).joined(separator: "/")
            return "<li><a href=\"\(link)\">\(escaped(path.joined(separator: "/")))</a></li>\n"
        }
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head><meta charset="utf-8"><title>Chunkwise</title></head>
            <body>
            <ul>
            \(items.joined())</ul>
            </body>
            </html>

            """
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.append(character)
            }
        }
        return result
    }
}
#endif
