internal import ByteSources
internal import RandomAccess
internal import Vectors

/// Our readers, or mutants of them, in this process.
struct TamperBackendSubject: TamperSubject {
    let subject: ConformanceSubject
    /// The subject for playlists, or `nil` where there is none.
    let playlists: PlaylistSubject?

    /// The readers in turn: one for what is read in a row, one for what is read here and there.
    private static let accesses: [ReaderSetup.Access] = [
        .cursor(windowByteCount: .max), .freshBuffers(windowByteCount: .max),
    ]

    func open(_ content: TamperContent, of target: TamperTarget, reader number: Int) -> TamperOpening {
        do throws(DecryptionError) {
            if case .playlist(let playlist) = target.form, let playlists {
                return .opened(
                    Reader(
                        try playlists.open(
                            playlist.text(of: content), playlist.resources(of: content), playlist.keys)))
            }
            guard let opening = target.opening(of: content) else { return .refused(name: "unsupported") }
            let setup = ReaderSetup(Self.accesses[number % Self.accesses.count])
            return .opened(
                Reader(try subject.open(setup, MemorySource(opening.bytes), opening.strategy, opening.key)))
        } catch {
            return .refused(name: error.protocolName)
        }
    }

    private struct Reader: TamperReader {
        let base: any RandomAccessDecryptor

        init(_ base: any RandomAccessDecryptor) {
            self.base = base
        }

        var plaintextByteCount: UInt64 { base.plaintextByteCount }

        func read(at offset: UInt64, count: Int) -> TamperReading {
            let room = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
            defer { room.deallocate() }
            room.initializeMemory(as: UInt8.self, repeating: 0xA7)
            do throws(DecryptionError) {
                let delivered = try base.read(at: offset, into: room)
                guard (0...count).contains(delivered) else {
                    return .noAnswer("\(delivered) bytes delivered: expected at most \(count)")
                }
                return .delivered(Array(room[..<delivered]))
            } catch {
                return .refused(name: error.protocolName, left: Array(room))
            }
        }
    }
}
