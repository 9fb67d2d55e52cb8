extension URIReference {
    /// Creates the reference to a file in a folder that is taken for the root of all paths.
    ///
    /// - Parameter names: The folders and the file, as they are.
    package init(names: [String]) {
        self.init("")
        path = "/" + PercentEncoding.encode(path: names.joined(separator: "/"))
    }

    /// The folders and the file that a path without scheme and host means, decoded.
    ///
    /// - Returns: `nil` if there is a scheme or host, or a name that no file has. Dots are names that no file has, in
    ///   whatever notation: ``resolved(against:)`` removes those that mean something.
    package var fileNames: [String]? {
        guard scheme == nil, authority == nil else { return nil }
        var names: [String] = []
        for segment in path.split(separator: "/") {
            guard let name = PercentEncoding.decode(segment: segment), name != ".", name != ".." else { return nil }
            names.append(name)
        }
        return names.isEmpty ? nil : names
    }
}
