/// Links to files beside a document.
package enum LinkText {
    /// Returns a path as a relative reference: whatever it holds, it names a file and no other place.
    ///
    /// - Source: RFC 3986, §2.3 (unreserved characters) and §4.2 (a first segment with a colon needs `./` before it).
    static func reference(_ path: String) -> String {
        var encoded = ""
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"), UInt8(ascii: "/"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let hex = String(byte, radix: 16, uppercase: true)
                encoded += hex.count < 2 ? "%0\(hex)" : "%\(hex)"
            }
        }
        return encoded
    }

    /// Returns the way from a folder to a file, of two absolute paths without `.` and `..` in them.
    package static func path(from folder: String, to file: String) -> String {
        let (from, to) = (folder.split(separator: "/"), file.split(separator: "/"))
        let shared = zip(from, to).prefix { $0 == $1 }.count
        let up = [Substring](repeating: "..", count: from.count - shared)
        return (up + to.dropFirst(shared)).joined(separator: "/")
    }
}
