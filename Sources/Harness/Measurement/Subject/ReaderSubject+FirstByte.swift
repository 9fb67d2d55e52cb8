import RandomAccess
import Support

extension ReaderSubject {
    /// How often an object is opened to see how long its first byte takes.
    private static let openCount = 32

    /// Opens the object again and again, and reads its first byte each time.
    ///
    /// - Returns: `firstByte`: for each time, the nanoseconds from before the source is opened until the byte is there.
    func firstByte(_ opened: OpenObject, _ request: JSONValue) throws(DecryptionError) -> [String: JSONValue] {
        if case .source(_, _, nil) = opened.origin { throw .unsupported("opening a served source again") }
        guard opened.object.plaintextByteCount > 0 else { return ["firstByte": []] }
        let cold = try cold(request, opened)
        var nanoseconds: [JSONValue] = []
        var byte: UInt8 = 0
        for _ in 0..<Self.openCount {
            try cold?.drop()
            let start = monotonicNanoseconds()
            let reader = try configuration.makeReader(of: try openAgain(opened.origin))
            let outcome = withUnsafeMutableBytes(of: &byte) { byte in
                Result { () throws(DecryptionError) in try reader.read(at: 0, into: byte) }
            }
            _ = try outcome.get()
            nanoseconds.append(.integer(monotonicNanoseconds() - start))
        }
        byte = 0
        return ["firstByte": .array(nanoseconds)]
    }

    private func openAgain(_ origin: Origin) throws(DecryptionError) -> ReadObject {
        switch origin {
        case .source(let served, let parameters, let description):
            let source = try description.map { (description) throws(DecryptionError) in
                try self.source(description, parameters: parameters)
            }
            return .encrypted(
                try EncryptedObject(
                    source: source ?? served, strategy: parameters.strategy, backend: backend, key: parameters.key))
        case .playlist(let opening): return .playlist(try opening.open(with: backend))
        }
    }

    /// The file that a request wants to be cold; `nil` if it does not.
    ///
    /// - Throws: `DecryptionError.unsupported` for an object that is no file.
    func cold(_ request: JSONValue, _ opened: OpenObject) throws(DecryptionError) -> ColdFile? {
        guard request["cold"]?.bool == true, request["extended"]?.bool == true else { return nil }
        guard let path = opened.path else { throw .unsupported("dropping what is no file from the page cache") }
        return ColdFile(path: path)
    }
}
