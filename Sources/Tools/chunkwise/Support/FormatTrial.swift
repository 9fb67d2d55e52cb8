import BackendRegistry
import ByteSources
import RandomAccess

/// A trial of a description: writes objects with a made-up key, and reads them back.
struct FormatTrial {
    private let view: FormatView
    /// The description's name in errors.
    private let name: String

    init(_ view: FormatView, name: String) {
        (self.view, self.name) = (view, name)
    }

    private var format: Format { view.format }

    /// The maximum plaintext length of a trial's object.
    private static let maxByteCount: UInt64 = 4 << 20

    /// Writes objects of some lengths, and reads each of them whole and in parts.
    ///
    /// - Returns: A reason for which the trial is not possible, or not complete; `nil` after a complete trial.
    /// - Throws: `CommandFailure` or `DecryptionError` for a description that cannot work.
    func warning() throws -> String? {
        guard let cipher = view.ciphers.first else { return "no trial, since only an object tells the cipher" }
        guard let backendName = view.backends.first else {
            return "no backend has \(cipher.rawValue): expected one that reads such objects"
        }
        let backend = try BackendRegistry.backend(named: backendName)
        let keyByteCount = format.keyByteCounts?.last ?? 32
        let key = try SecretKey(material: (0..<keyByteCount).map { UInt8(truncatingIfNeeded: $0) })
        do throws(DecryptionError) {
            try view.strategy.check(key)
        } catch .invalidKeyMaterial {
            return "no trial, since a check refuses the key that was made up for it"
        }
        for byteCount in byteCounts {
            if let warning = try trial(byteCount, backend, key) { return warning }
        }
        return nil
    }

    /// The plaintext lengths of the objects. They are also the offsets at which reads begin and end: near chunk ends.
    private var byteCounts: [UInt64] {
        let chunkByteCount = view.chunkByteCount ?? 0
        // The first chunk may be shorter.
        let missing = view.strategy.geometry?.missingByteCount ?? 0
        var counts: [UInt64] = [0, 1, 1000]
        if (1...Self.maxByteCount).contains(chunkByteCount) {
            counts = [0, 1, 3 * chunkByteCount]
            for end in [chunkByteCount - missing, chunkByteCount] { counts += [end - 1, end, end + 1] }
        }
        let maximum = min(Self.maxByteCount, view.facts.maxPlaintextByteCount ?? .max)
        return Set(counts).filter { $0 <= maximum }.sorted()
    }

    /// Writes an object and reads it.
    ///
    /// - Returns: A reason for which the object cannot be written; `nil` if it was written.
    private func trial(_ byteCount: UInt64, _ backend: any CipherBackend, _ key: SecretKey) throws -> String? {
        var plaintext = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        let written: [UInt8]
        do {
            written = try write(&plaintext, backend, key)
        } catch DecryptionError.unsupported(let what) {
            return "cannot be written: \(what)"
        }
        do throws(DecryptionError) {
            let object = try EncryptedObject(
                source: MemorySource(written), strategy: view.strategy, backend: backend, key: key)
            let cursor = try object.makeCursor()
            let edges = Set(byteCounts.map { Int(min($0, UInt64(plaintext.count))) } + [plaintext.count]).sorted()
            for start in edges {
                for end in edges where end >= start {
                    let read = try cursor.read(at: UInt64(start), count: end - start)
                    guard read == Array(plaintext[start..<end]) else {
                        throw .invalidParameter(
                            name: "description", value: "by which bytes \(start) to \(end) are read as others",
                            expected: "header, key and nonce to be the same again")
                    }
                }
            }
            guard object.plaintextByteCount == UInt64(plaintext.count) else {
                throw .invalidParameter(
                    name: "description", value: "by which it has \(object.plaintextByteCount) bytes",
                    expected: "the length that was written")
            }
        } catch {
            throw CommandFailure(.badData, "\(name): an object of \(plaintext.count) bytes cannot be read: \(error)")
        }
        return nil
    }

    /// Writes an object. Pads the plaintext with zeros to the format's units.
    private func write(
        _ plaintext: inout [UInt8], _ backend: any CipherBackend, _ key: SecretKey
    ) throws -> [UInt8] {
        func write() throws -> [UInt8] {
            var written: [UInt8] = []
            let encryptor = try ObjectEncryptor(strategy: view.strategy, backend: backend, key: key)
            try plaintext.withUnsafeBytes { try encryptor.append($0) { written += $0 } }
            try encryptor.finish { written += $0 }
            return written
        }
        do {
            return try write()
        } catch DecryptionError.unalignedPlaintext(_, let unit) {
            plaintext += [UInt8](repeating: 0, count: Int(unit - UInt64(plaintext.count) % unit))
            return try write()
        }
    }
}
