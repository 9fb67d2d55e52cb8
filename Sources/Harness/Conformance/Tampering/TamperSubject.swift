import RandomAccess
import Vectors

/// A subject as the integrity matrix takes it: in this process or in another one.
protocol TamperSubject {
    /// Opens what came of a tampering; `number` says for which reader, so that there may be several kinds of them.
    func open(_ content: TamperContent, of target: TamperTarget, reader number: Int) -> TamperOpening
}

/// How opening ended.
enum TamperOpening {
    case opened(any TamperReader)
    case refused(name: String)
    /// There was no proper answer; the reason.
    case noAnswer(String)
}

/// An object that was opened.
protocol TamperReader {
    /// The plaintext's length as the subject says.
    var plaintextByteCount: UInt64 { get }

    /// Reads a range of at least one byte.
    func read(at offset: UInt64, count: Int) -> TamperReading
}

/// How a read ended.
enum TamperReading {
    case delivered([UInt8])
    /// With an error, and what stood where the plaintext goes, which is unspecified.
    case refused(name: String, left: [UInt8])
    /// There was no proper answer; the reason.
    case noAnswer(String)
}

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

/// A program that speaks the subject protocol.
struct TamperForeignSubject: TamperSubject {
    let session: ExternalSession
    let hello: ExternalHello

    func open(_ content: TamperContent, of target: TamperTarget, reader number: Int) -> TamperOpening {
        let object: ExternalObject
        do {
            object = try ExternalObject(target.group(of: content), session: session, hello: hello)
        } catch {
            return .noAnswer("the ciphertext cannot be handed over: \(error)")
        }
        switch object.open() {
        case .broke(let reason): return .noAnswer(reason)
        case .refused(let name): return .refused(name: name)
        case .answered(let answer):
            guard let byteCount = answer.members["plaintextByteCount"]?.integer else {
                object.close()
                return .noAnswer("the answer to open has no member \"plaintextByteCount\"")
            }
            return .opened(Reader(object, plaintextByteCount: byteCount))
        }
    }

    private final class Reader: TamperReader {
        let plaintextByteCount: UInt64
        private let object: ExternalObject

        init(_ object: ExternalObject, plaintextByteCount: UInt64) {
            self.object = object
            self.plaintextByteCount = plaintextByteCount
        }

        deinit {
            object.close()
        }

        func read(at offset: UInt64, count: Int) -> TamperReading {
            switch object.read(offset: offset, count: count) {
            case .answered(let answer): .delivered(answer.payload)
            // Bytes beside an error are bytes delivered, whoever takes them.
            case .refused(let name): .refused(name: name, left: object.refusedPayload)
            case .broke(let reason): .noAnswer(reason)
            }
        }
    }
}
