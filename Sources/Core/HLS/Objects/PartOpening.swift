internal import ByteSources
internal import RandomAccess
import Support

/// Opens the parts of an object one after the other, and lays them out.
struct PartOpening {
    let table: ResourceTable
    let pool: ResourcePool
    let keys: KeyRing
    let backend: any CipherBackend

    /// What a playlist says about a part.
    private struct Description {
        var uri: String
        var byteRange: Range<UInt64>?
        var encryption: SegmentEncryption
        var problem: PlaylistProblem?
    }

    /// All parts of the plaintext, in order.
    func parts(of playlist: MediaPlaylist) -> [HLSPart] {
        var parts: [HLSPart] = []
        parts.reserveCapacity(playlist.segments.count)
        var position: UInt64 = 0
        var sectionBefore: InitializationSection?
        func append(_ description: Description, segment: Int, isInitialization: Bool) {
            let (content, byteCount) = open(description)
            // Files of 2⁶⁴ bytes together do not exist; what claims to be is cut there, and not readable.
            let (end, overflow) = position.addingReportingOverflow(byteCount)
            parts.append(
                HLSPart(
                    plaintext: position..<(overflow ? .max : end), segment: segment,
                    isInitialization: isInitialization,
                    content: overflow ? .broken(Self.tooLong) : content))
            position = overflow ? .max : end
        }
        for (index, segment) in playlist.segments.enumerated() {
            if let number = segment.initializationSection {
                let section = playlist.initializationSections[number]
                if sectionBefore.map({ !section.isSameResource(as: $0) }) ?? true {
                    append(
                        Description(
                            uri: section.uri, byteRange: section.byteRange, encryption: section.encryption,
                            problem: section.problem), segment: index, isInitialization: true)
                }
                sectionBefore = section
            }
            append(
                Description(
                    uri: segment.uri, byteRange: segment.byteRange, encryption: segment.encryption,
                    problem: segment.problem), segment: index, isInitialization: false)
        }
        return parts
    }

    private static let tooLong = DecryptionError.truncatedCiphertext(
        byteCount: .max, expected: "less than 2^64 bytes in all segments together")

    /// Opens a part as far as it goes.
    ///
    /// - Returns: How it is read, and the length of its plaintext.
    private func open(_ description: Description) -> (HLSPart.Content, UInt64) {
        var known: UInt64 = 0
        do throws(DecryptionError) {
            if let problem = description.problem { throw problem.decryptionError }
            var key: SecretKey?
            var keyError: DecryptionError?
            if let uri = description.encryption.keyURI {
                do throws(DecryptionError) { key = try keys.key(for: uri) } catch { keyError = error }
            }
            // Without the key its length can still be known.
            let resource = table.index(of: description.uri)
            let source = try rethrowing(as: { keyError ?? $0 }, try pool.source(resource))
            let range = description.byteRange ?? 0..<source.byteCount
            let slice = try rethrowing(as: { keyError ?? $0 }, try SlicedSource(source, range))
            known = slice.byteCount
            if let keyError { throw keyError }
            guard case .aes128(_, let iv, _) = description.encryption, let key else {
                return (.plain(resource: resource, range: range), slice.byteCount)
            }
            let object = try EncryptedObject(
                source: slice, strategy: .cbcContinuous(iv: iv, padding: .pkcs7), backend: backend, key: key)
            return (.aes128(resource: resource, range: range, iv: iv, key: key), object.plaintextByteCount)
        } catch {
            return (.broken(error), max(1, known == 0 ? 1 : known - 1))
        }
    }
}
