import Glibc
import Server

/// What is printed when clients can connect: an address for each file.
struct Announcement {
    let host: String
    let port: Int
    let token: AccessToken?
    let listing: [[String]]

    /// The most files that are named; the start page has all of them.
    private static let maxFiles = 20

    /// Prints it: whoever waits for it may be behind a pipe.
    func show() {
        let root = "http://\(host.contains(":") ? "[\(host)]" : host):\(port)/"
        let query = token.map { "?\(AccessToken.queryName)=\($0.text)" } ?? ""
        print("serving \(listing.count == 1 ? "1 file" : "\(listing.count) files") on \(root)\(query)")
        for path in listing.prefix(Self.maxFiles) {
            print(root + path.map(RequestTarget.encoded).joined(separator: "/") + query)
        }
        fflush(nil)
    }
}
