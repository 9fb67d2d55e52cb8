internal import RandomAccess
internal import Vectors

/// Our readers, or mutants of them, in this process.
struct TamperBackendSubject: TamperSubject {
    let subject: ConformanceSubject

    /// The readers in turn: one for what is read in a row, one for what is read here and there.
    private static let accesses: [ReaderSetup.Access] = [
        .cursor(windowByteCount: .max), .freshBuffers(windowByteCount: .max),
    ]

    func open(_ content: TamperContent, of target: TamperTarget, reader number: Int) -> TamperOpening {
        do throws(DecryptionError) {
            let setup = ReaderSetup(Self.accesses[number % Self.accesses.count])
            return .opened(Reader(try subject.open(target.group(of: content), setup: setup)))
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
