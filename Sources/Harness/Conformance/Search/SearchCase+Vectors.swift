internal import RandomAccess
internal import SubjectProtocol
package import Support
internal import Vectors

extension SearchCase {
    /// The largest object that is written with its bytes.
    private static let largestWrittenByteCount: UInt64 = 1 << 16

    /// The case as a vector file's contents: an object each, with its reads in order.
    ///
    /// Objects of more than 64 KiB are described by what generates them instead of their bytes.
    package func vectorFile(id: String, source: String) -> JSONValue {
        let groups = objects.indices.compactMap { place -> JSONValue? in
            let reads = reads.filter { $0.object == place }
            guard !reads.isEmpty || self.reads.isEmpty else { return nil }
            return Self.group(
                objects[place], id: "\(id)/object \(place)", source: source, reads: reads,
                isInterleaved: objects.count > 1)
        }
        return ["schema": 1, "source": .string(source), "groups": .array(groups)]
    }

    private static func group(_ object: Object, id: String, source: String, reads: [Read], isInterleaved: Bool)
        -> JSONValue
    {
        var members: [String: JSONValue] = [
            "id": .string(id), "source": .string(source), "flags": ["SeekStorm"],
            "strategy": .string(object.strategy.name), "key": hex(object.key),
        ]
        switch object.strategy {
        case .ctr(let iv): members["iv"] = hex(iv.bytes)
        case .cbcContinuous(let iv, let padding):
            members["iv"] = hex(iv.bytes)
            members["padding"] = .string(padding.rawValue)
        case .cbcChunked(let chunkByteCount, let iv, let ivRule, let padding):
            members["iv"] = hex(iv.bytes)
            members["padding"] = .string(padding.rawValue)
            members["chunkByteCount"] = .integer(chunkByteCount)
            members["ivRule"] = .string(ivRule.rawValue)
        case .chunked: members.merge(object.strategy.protocolMembers) { $1 }
        }
        let group = try? object.group(id: id, windowByteCount: .max)
        var plaintext: [UInt8]?
        if let group, object.plaintextByteCount <= largestWrittenByteCount {
            members["ciphertext"] = (try? bytes(of: group.ciphertext)).map(hex) ?? .null
            plaintext = try? bytes(of: group.plaintext, 0..<object.plaintextByteCount)
            members["plaintext"] = plaintext.map(hex) ?? .null
        } else {
            members["object"] = [
                "plaintextByteCount": .integer(object.plaintextByteCount), "seed": .integer(object.seed),
            ]
        }
        if isInterleaved { members["interleaving"] = .string(source) }
        members["reads"] = .array(
            reads.map { read in
                let vector = RangeRead(
                    offset: read.offset, count: read.count, of: object.plaintextByteCount, flags: [.seekStorm])
                var members: [String: JSONValue] = [
                    "flags": JSONValue(strings: vector.flags.map(\.rawValue)), "offset": .integer(read.offset),
                    "count": JSONValue(count: read.count),
                ]
                switch vector.expected {
                case .error(let name): members["error"] = .string(name.rawValue)
                case .bytes(let bytes): members["plaintext"] = hex(bytes)
                case .plaintext(let byteCount):
                    let range = read.offset..<read.offset + UInt64(byteCount)
                    let expected = group.flatMap { try? bytes(of: $0.plaintext, range) }
                    members["plaintext"] = expected.map(hex) ?? .null
                }
                return .object(members)
            })
        return .object(members)
    }

    private static func hex(_ bytes: [UInt8]) -> JSONValue {
        .string(Hexadecimal.encode(bytes))
    }

    private static func bytes(of plaintext: GroupPlaintext, _ range: Range<UInt64>) throws(DecryptionError) -> [UInt8] {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: range.count, alignment: 16)
        defer { room.deallocate() }
        try plaintext.copy(range, into: room)
        return Array(room)
    }

    private static func bytes(of source: any ByteSource) throws(DecryptionError) -> [UInt8] {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(source.byteCount), alignment: 16)
        defer { room.deallocate() }
        try source.fetch(at: 0, into: room)
        return Array(room)
    }
}
