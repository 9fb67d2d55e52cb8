internal import RandomAccess
internal import SubjectProtocol
internal import Support
internal import Vectors

extension VectorGroup {
    /// The members of a request that opens the group's object: from the file or folder at `path`, or else served.
    func openMembers(id: UInt64, path: String?) -> [String: JSONValue] {
        var members: [String: JSONValue]
        var served: JSONValue = ["byteCount": .integer(ciphertext.byteCount)]
        if let playlist {
            members = [
                "strategy": .string(PlaylistObject.strategyName), "playlist": .string(playlist.text),
                "keys": .object(playlist.keys.mapValues { .string(Hexadecimal.encode($0)) }),
            ]
            served = ["byteCounts": .object(playlist.resources.mapValues { JSONValue(count: $0.count) })]
        } else {
            members = strategy.protocolMembers
            members["key"] = .string(key.withUnsafeBytes { Hexadecimal.encode($0) })
        }
        members["op"] = "open"
        members["id"] = .integer(id)
        members["source"] = path.map { ["path": .string($0)] } ?? served
        return members
    }
}
