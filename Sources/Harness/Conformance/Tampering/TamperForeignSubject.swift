internal import Vectors

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
