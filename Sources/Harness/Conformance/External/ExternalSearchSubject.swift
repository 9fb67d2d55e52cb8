internal import RandomAccess
internal import SubjectProtocol
internal import Support
internal import Vectors

/// A subject in another process as a differential search takes it: opened and read like a reader of ours.
package enum ExternalSearchSubject {
    /// Starts the subject.
    ///
    /// It is used by one thread at a time.
    /// - Parameters:
    ///   - command: The subject's command line, for `/bin/sh -c`.
    ///   - timeout: How long each answer may take.
    /// - Returns: The subject, under the name that it gives itself.
    /// - Throws: `ExternalVerification.Failure.notStarted`, also if it does not say hello properly.
    package static func start(
        command: String, timeout: Duration
    ) throws(ExternalVerification.Failure) -> ConformanceSubject {
        let session = ExternalSession(command: command, timeout: timeout)
        let hello: ExternalHello
        do {
            hello = try ExternalHello(try session.start().answer.members)
        } catch let mismatch as ExternalHello.Complaint {
            throw .notStarted(reason: mismatch.text)
        } catch {
            throw .notStarted(reason: "\(error)")
        }
        let shared = Shared(session: session, hello: hello)
        return ConformanceSubject(
            name: hello.name, supports: { hello.supports($0, keyByteCount: $1) }, hasOneReader: true,
            open: { (_, source, strategy, key) throws(DecryptionError) in
                try ExternalReader(shared, source: source, strategy: strategy, key: key)
            })
    }

    /// What all objects of a subject share; one thread at a time, as a search runs.
    private final class Shared: @unchecked Sendable {
        let session: ExternalSession
        let hello: ExternalHello

        init(session: ExternalSession, hello: ExternalHello) {
            self.session = session
            self.hello = hello
        }
    }

    private final class ExternalReader: RandomAccessDecryptor {
        let plaintextByteCount: UInt64
        private let object: ExternalObject

        init(_ shared: Shared, source: any ByteSource, strategy: Strategy, key: SecretKey) throws(DecryptionError) {
            let group = VectorGroup(
                id: "search", source: "search", flags: [], strategy: strategy, key: key, ciphertext: source,
                plaintext: GroupPlaintext([]), opening: .opens(plaintextByteCount: 0), reads: [])
            object = try ExternalObject(group, session: shared.session, hello: shared.hello)
            let answer = try Self.answer(object.open(), offset: 0)
            guard let byteCount = answer.members["plaintextByteCount"]?.integer else {
                throw .backend(name: "subject", operation: "open", reason: "no \"plaintextByteCount\" in the answer")
            }
            plaintextByteCount = byteCount
        }

        deinit {
            object.close()
        }

        func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
            let payload = try Self.answer(object.read(offset: offset, count: buffer.count), offset: offset).payload
            guard payload.count <= buffer.count else {
                throw .backend(
                    name: "subject", operation: "read",
                    reason: "\(payload.count) bytes delivered: expected at most \(buffer.count)")
            }
            buffer.copyBytes(from: payload)
            return payload.count
        }

        /// The answer, or the error that it is.
        private static func answer(
            _ outcome: ExternalObject.Outcome, offset: UInt64
        ) throws(DecryptionError) -> SubjectAnswer {
            switch outcome {
            case .answered(let answer): return answer
            case .broke(let reason): throw .backend(name: "subject", operation: "answer", reason: reason)
            case .refused(let name):
                switch ErrorName(rawValue: name) {
                case .rangeOutOfBounds: throw .rangeOutOfBounds(offset: offset, plaintextByteCount: 0)
                case .io: throw .io(operation: "read", code: 0, reason: "the subject says so")
                case .truncatedCiphertext: throw .truncatedCiphertext(byteCount: 0, expected: "the subject says so")
                case .invalidPadding: throw .invalidPadding
                case .unsupported: throw .unsupported("the subject says so")
                default: throw .backend(name: "subject", operation: "answer", reason: "the error \(name)")
                }
            }
        }
    }
}
