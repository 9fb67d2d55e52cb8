import ByteSources
internal import CZlib
import RandomAccess
import Support

/// A file of Wycheproof: `testGroups` of `tests`, each of which is valid or not.
///
/// - Source: github.com/C2SP/wycheproof, `schemas/ind_cpa_test_schema_v1.json` and `aead_test_schema_v1.json`.
struct WycheproofFile {
    private let algorithm: String
    /// The algorithm's cipher, such as `aes-siv` for AEAD-AES-SIV-CMAC; `nil` if no format of messages has it.
    private let cipher: Cipher?
    private let notes: Set<String>
    private let name: String
    /// The cases that our readers support, and those that they do not.
    private(set) var vectors: VectorFile

    init(_ root: JSONCursor) throws(VectorFileError) {
        self.algorithm = try root.member("algorithm").string()
        let words = algorithm.lowercased().split(separator: "-").filter { !["aead", "cmac", "pkcs5"].contains($0) }
        self.cipher = MessageFormats.ciphers.first { $0.rawValue == words.joined(separator: "-") }
        var notes: Set<String> = []
        for note in try root.optionalMember("notes")?.members() ?? [] { notes.insert(try note.name.string()) }
        self.notes = notes
        self.name = FileName.withoutFolder(root.file)
        self.vectors = VectorFile(source: "Wycheproof, \(name)", groups: [], unsupported: [])
        var ids: Set<UInt64> = []
        for group in try root.member("testGroups").elements() {
            for test in try group.member("tests").elements() {
                let number = try test.member("tcId").integer(UInt64.self)
                guard ids.insert(number).inserted else {
                    throw try test.member("tcId").error("\(number) stands here twice: expected one test of a number")
                }
                let (id, source) = ("\(name)/\(number)", "Wycheproof, \(name), tcId \(number)")
                switch try read(test, id: id, source: source) {
                case .success(let group): vectors.groups.append(group)
                case .failure(let missing):
                    vectors.unsupported.append(UnsupportedVector(id: id, reason: missing.reason))
                }
            }
        }
        if let count = try root.optionalMember("numberOfTests") {
            guard try count.integer(Int.self) == ids.count else {
                throw count.unexpected("\(ids.count), which were counted")
            }
        }
    }

    private struct Missing: Error {
        let reason: String
    }

    private func read(
        _ test: JSONCursor, id: String, source: String
    ) throws(VectorFileError) -> Result<VectorGroup, Missing> {
        let flags = try flags(of: test)
        if let format = Self.format(algorithm) {
            return .success(try Self.chunkedGroup(test, format, id: id, source: source))
        }
        let resultMember = try test.member("result")
        let result = try resultMember.string()
        guard ["valid", "invalid", "acceptable"].contains(result) else {
            throw resultMember.unexpected("one of valid, invalid, acceptable")
        }
        guard let cipher else {
            return .failure(Missing(reason: "no format of messages has \(algorithm)"))
        }
        guard result != "acceptable" else {
            return .failure(Missing(reason: "any outcome is acceptable, so that none can be checked"))
        }
        guard let nonceMember = try test.optionalMember("iv") else {
            return .failure(Missing(reason: "\(cipher.rawValue) without a nonce"))
        }
        let (keyBytes, message) = (try test.member("key").bytes(), try test.member("msg").bytes())
        var (nonce, ciphertext) = (try nonceMember.bytes(), try test.member("ct").bytes())
        // A tweak is a number with its lowest byte first, of which zeros at the end are left out.
        if cipher == .aesXTS, nonce.count < Block.byteCount {
            nonce += [UInt8](repeating: 0, count: Block.byteCount - nonce.count)
        }
        guard cipher.keyByteCounts.contains(keyBytes.count), cipher.takes(nonceByteCount: nonce.count) else {
            let lengths = "a key of \(keyBytes.count) and a nonce of \(nonce.count) bytes"
            return .failure(Missing(reason: "\(cipher.rawValue) with \(lengths)"))
        }
        var associatedData: [UInt8] = []
        if cipher.isAuthenticated {
            associatedData = try test.member("aad").bytes()
            let tag = try test.member("tag").bytes()
            guard tag.count == cipher.tagByteCount else {
                return .failure(Missing(reason: "\(cipher.rawValue) with a tag of \(tag.count) bytes"))
            }
            ciphertext += tag
        }
        let strategy: Strategy
        if cipher.isStreaming {
            let padding: Padding = algorithm.hasSuffix("-PKCS5") ? .pkcs7 : .none
            let iv = try nonceMember.check { () throws(DecryptionError) in try Block(nonce) }
            strategy = .whole(cipher, iv: iv, padding: padding)
        } else {
            let isWhole = !cipher.takesWholeBlocks || !ciphertext.isEmpty && ciphertext.count % Block.byteCount == 0
            guard isWhole, ciphertext.count <= MessageFormats.maxByteCount else {
                return .failure(Missing(reason: "\(cipher.rawValue) with \(ciphertext.count) bytes of ciphertext"))
            }
            strategy = MessageFormats.strategy(cipher, nonce: nonce, associatedData: associatedData)
        }
        let key = try test.check { () throws(DecryptionError) in try SecretKey(material: keyBytes) }
        if result == "valid" {
            return .success(
                VectorGroup(
                    id: id, source: source, flags: flags, strategy: strategy, key: key, ciphertext: ciphertext,
                    message: message))
        }
        let error: ErrorName
        if cipher.isAuthenticated {
            error = .authenticationFailed
        } else if cipher == .aesCBC {
            // Wycheproof does not say why a case is invalid, but PROTOCOL.md's order of checks does.
            let isPossible = ciphertext.count % 16 == 0 && (!ciphertext.isEmpty || strategy.padding != .pkcs7)
            error = isPossible ? .invalidPadding : .truncatedCiphertext
        } else {
            return .failure(Missing(reason: "nothing shows that it is invalid: \(cipher.rawValue) has no tag"))
        }
        return .success(
            VectorGroup(
                id: id, source: source, flags: flags, strategy: strategy, key: key,
                ciphertext: MemorySource(ciphertext), error: error))
    }

    /// Returns our flags for Wycheproof's. Flags without a class of ours become known answers.
    private func flags(of test: JSONCursor) throws(VectorFileError) -> [VectorFlag] {
        var flags: [VectorFlag] = []
        guard let list = try test.optionalMember("flags"), list.value != .array([]) else { return [.knownAnswer] }
        for element in try list.elements() {
            let name = try element.string()
            guard notes.contains(name) else {
                throw element.unexpected(
                    "one of the flags that \"notes\" explains: \(notes.sorted().joined(separator: ", "))")
            }
            let flag: VectorFlag =
                switch name {
                case "BadPadding": .badPadding
                case "NoPadding": .emptyCiphertext
                case "ModifiedTag": .chunkTag
                default: .knownAnswer
                }
            if !flags.contains(flag) { flags.append(flag) }
        }
        return flags
    }
}

/// File names, as they are used in identifiers.
enum FileName {
    static func withoutFolder(_ path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }
}

/// Wycheproof's vectors for chunked encryption, run through the random-access interface.
///
/// Its document gives the rules. A valid message opens and reads. `HeaderFailure` fails at the header. An invalid
/// message whose last chunk is good (`ValidFinalChunk`) may open. Any other invalid message may not, if opening
/// authenticates the last chunk, as PROTOCOL.md requires. Of a message that opens, a reader may deliver the longest
/// valid prefix (`PartialPlaintext`), and nothing that touches the chunk after it.
///
/// - Source: github.com/C2SP/wycheproof, `doc/c2sp_chunked_encryption.md`.
extension WycheproofFile {
    /// Returns the known format with tags whose name is an algorithm's, or `nil`.
    static func format(_ algorithm: String) -> Format? {
        let format = try? Format.named(algorithm.lowercased())
        return format.flatMap { Strategy(sampling: $0).isAuthenticated ? $0 : nil }
    }

    static func chunkedGroup(
        _ test: JSONCursor, _ format: Format, id: String, source: String
    ) throws(VectorFileError) -> VectorGroup {
        let keyBytes = try test.member("key").bytes()
        let key = try test.check { () throws(DecryptionError) in try SecretKey(material: keyBytes) }
        let context = try test.member("ctx").bytes()
        let strategy = Strategy(format).bound(to: context)
        let packed = try test.member("ct")
        guard let ciphertext = Inflate.zlib(try packed.bytes()) else {
            throw packed.error("not what zlib packs: expected a zlib stream in hexadecimal digits")
        }
        var names: Set<String> = []
        let list = try test.member("flags")
        if list.value != .array([]) {
            for flag in try list.elements() { names.insert(try flag.string()) }
        }
        let flags = Self.chunkFlags(names)
        let memory = MemorySource(ciphertext)
        let result = try test.member("result").string()
        guard result == "valid" || names.contains("ValidFinalChunk") else {
            return VectorGroup(
                id: id, source: source, flags: flags, strategy: strategy, key: key, ciphertext: memory,
                error: Self.openError(names, ciphertext.count))
        }
        let validByteCount = try test.optionalMember("msgLength")?.integer(UInt64.self) ?? 0
        let plaintext = try Self.plaintext(
            test, of: memory, oracle: Oracle(strategy: strategy, key: key), validByteCount: validByteCount)
        let patterns =
            result == "valid"
            ? Self.chunkPatterns(of: plaintext.byteCount, flags: flags)
            : Self.tamperedReads(validByteCount, of: plaintext.byteCount, flags: flags).map(ReadPattern.single)
        return VectorGroup(
            id: id, source: source, flags: flags, strategy: strategy, key: key, ciphertext: memory,
            plaintext: plaintext, patterns: patterns)
    }

    /// Returns the oracle's plaintext, after a check that its digest is the file's.
    private static func plaintext(
        _ test: JSONCursor, of source: MemorySource, oracle: Oracle, validByteCount: UInt64
    ) throws(VectorFileError) -> GroupPlaintext {
        let byteCount = try test.check { () throws(DecryptionError) in try oracle.plaintextByteCount(of: source) }
        let whole = GroupPlaintext(oracle: oracle, ciphertext: source, byteCount: byteCount)
        guard validByteCount <= byteCount else {
            throw test.error("msgLength is \(validByteCount): expected at most \(byteCount), as the ciphertext holds")
        }
        guard let digest = try test.optionalMember("msgSha512") else { return whole }
        let valid = try test.check { () throws(DecryptionError) in try whole.bytes(0..<validByteCount) }
        guard SHAFunction.sha512.hash(valid) == (try digest.bytes()) else {
            throw digest.error("not the digest of what the oracle decrypts")
        }
        return whole
    }

    /// Returns the reason that an object does not open: its length, its key, or failed authentication. Source:
    /// PROTOCOL.md, "open".
    private static func openError(_ names: Set<String>, _ byteCount: Int) -> ErrorName {
        if names.contains("InvalidKeySize") { return .invalidKey }
        let rest = (byteCount - 56) % (16384 + 16)
        return byteCount < 56 + 16 || rest < 16 ? .truncatedCiphertext : .authenticationFailed
    }

    /// Returns reads around all chunks and of the whole; for long messages, only around the first and the last three
    /// chunks.
    private static func chunkPatterns(of byteCount: UInt64, flags: [VectorFlag]) -> [ReadPattern] {
        var offsets: Set<UInt64> = [0, byteCount]
        let chunkCount = byteCount / 16384 + 1
        for chunk in 0..<chunkCount where chunk < 3 || chunk + 3 >= chunkCount {
            for offset in [chunk * 16384 - min(chunk, 1), chunk * 16384, chunk * 16384 + 1] where offset < byteCount {
                offsets.insert(offset)
            }
        }
        return [
            .product(offsets: [0...0], toEnd: [0, 1], flags: flags),
            .product(offsets: offsets.sorted().map { $0...$0 }, counts: [1, 17, 16384], flags: flags),
        ]
    }

    /// Returns reads of which every one that touches the first unauthentic chunk fails, repeatedly; those before it
    /// succeed.
    private static func tamperedReads(
        _ validByteCount: UInt64, of byteCount: UInt64, flags: [VectorFlag]
    ) -> [RangeRead] {
        let failure = RangeRead.Expectation.error(.authenticationFailed)
        var reads: [RangeRead] = []
        for label in ["first", "again"] {
            reads.append(RangeRead(label: label, flags: flags, offset: 0, count: Int(byteCount), expected: failure))
            reads.append(RangeRead(label: label, flags: flags, offset: validByteCount, count: 1, expected: failure))
        }
        if validByteCount > 0 {
            reads.append(
                RangeRead(flags: flags, offset: validByteCount - 1, count: 2, expected: failure))
            for (offset, count) in [(0, Int(validByteCount)), (validByteCount - 1, 1), (5, 100)] {
                reads.append(RangeRead(offset: offset, count: count, of: byteCount, flags: flags))
            }
        }
        // The last chunk is good, and authenticates the length.
        let last = byteCount / 16384 * 16384
        if last < byteCount, last > validByteCount {
            reads.append(RangeRead(offset: last, count: Int(byteCount - last) + 1, of: byteCount, flags: flags))
        }
        reads.append(RangeRead(offset: byteCount, count: 1, of: byteCount, flags: flags))
        return reads
    }

    /// Returns our flags for Wycheproof's.
    private static func chunkFlags(_ names: Set<String>) -> [VectorFlag] {
        let known: [(String, VectorFlag)] = [
            ("ModifiedCiphertext", .chunkTag), ("ChunkReordering", .chunkOrder), ("Truncation", .truncatedChunks),
            ("TrailingData", .trailingData), ("CounterRollover", .chunkCounter), ("WrongKey", .headerCheck),
            ("WrongContext", .headerCheck), ("HeaderFailure", .headerCheck), ("InvalidKeySize", .keyLength),
        ]
        var flags: [VectorFlag] = []
        for (name, flag) in known where names.contains(name) && !flags.contains(flag) { flags.append(flag) }
        return flags.isEmpty ? [.knownAnswer] : flags
    }
}

/// Decompresses zlib and gzip data.
package enum Inflate {
    /// Returns the contents of a zlib stream. It returns `nil` if the data are not a zlib stream, are truncated, are
    /// followed by something, have a wrong checksum, or hold more than 64 MiB, far more than a vector has. Source: RFC
    /// 1950.
    static func zlib(_ bytes: [UInt8]) -> [UInt8]? { contents(of: bytes, windowBits: 15, maxByteCount: 1 << 26) }

    /// Returns the contents of a gzip file with one member. It returns `nil` if the data are not a gzip file, are
    /// truncated, are followed by something, have a wrong checksum, or hold more than `maxByteCount` bytes. Source: RFC
    /// 1952.
    package static func gzip(_ bytes: [UInt8], maxByteCount: Int) -> [UInt8]? {
        contents(of: bytes, windowBits: 15 + 16, maxByteCount: maxByteCount)
    }

    private static func contents(of bytes: [UInt8], windowBits: Int32, maxByteCount: Int) -> [UInt8]? {
        // zlib compares the stream's address with the one at which it was initialized.
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        defer { stream.deallocate() }
        let size = Int32(MemoryLayout<z_stream>.size)
        guard inflateInit2_(stream, windowBits, ZLIB_VERSION, size) == Z_OK else { return nil }
        defer { inflateEnd(stream) }
        var bytes = bytes
        return bytes.withUnsafeMutableBufferPointer { input in
            (stream.pointee.next_in, stream.pointee.avail_in) = (input.baseAddress, UInt32(clamping: input.count))
            var output: [UInt8] = []
            var status = Z_OK
            while status == Z_OK, output.count <= maxByteCount {
                output += [UInt8](unsafeUninitializedCapacity: 1 << 16) { piece, count in
                    (stream.pointee.next_out, stream.pointee.avail_out) = (piece.baseAddress, UInt32(piece.count))
                    status = inflate(stream, Z_NO_FLUSH)
                    count = piece.count - Int(stream.pointee.avail_out)
                }
            }
            let isWhole = status == Z_STREAM_END && stream.pointee.avail_in == 0
            return isWhole && output.count <= maxByteCount ? output : nil
        }
    }
}
