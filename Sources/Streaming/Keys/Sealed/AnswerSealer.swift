#if Network
import Crypto
import Foundation

/// Seals a server's answers, each to the fresh key of its request.
package struct AnswerSealer: Sendable {
    /// The type of an answer's body.
    package static let mediaType = "application/x-chunkwise-keys"

    private let identity: ServerIdentity?
    private let lifetime: UInt32

    /// Creates a sealer.
    ///
    /// - Parameters:
    ///   - identity: What the server proves itself by in the answer; `nil` where its certificate does.
    ///   - lifetime: How long after its request an answer may be opened, in milliseconds.
    package init(identity: ServerIdentity?, lifetimeMilliseconds lifetime: UInt32) {
        self.identity = identity
        self.lifetime = lifetime
    }

    /// Seals an answer.
    ///
    /// - Parameters:
    ///   - outcomes: What is said about each identifier of the request, in its order.
    ///   - request: The request.
    ///   - bytes: The request as it came.
    ///   - time: Now, in milliseconds since 1970-01-01 00:00 UTC.
    /// - Returns: The answer.
    /// - Throws: ``WireFault`` if the request's public key is none that anything can be sealed to.
    package func seal(
        _ outcomes: [KeyOutcome], for request: KeyRequest, bytes: [UInt8], at time: UInt64
    ) throws(WireFault) -> [UInt8] {
        precondition(outcomes.count == request.identifiers.count, "an outcome for each identifier")
        var answer = Array(AnswerFormat.mark.utf8)
        answer.append(KeyRequest.version)
        answer.append((identity == nil ? AnswerFormat.Mode.base : .authenticated).rawValue)
        answer += request.number
        answer.append(number: time)
        answer.append(number: lifetime)
        let count = UInt16(clamping: outcomes.count)
        do {
            var sender = try sender(
                to: request.publicKey, info: AnswerFormat.info(request: bytes, head: answer, count: count))
            answer += sender.encapsulatedKey
            answer.append(number: count)
            for (place, (identifier, outcome)) in zip(request.identifiers, outcomes).enumerated() {
                let entry = Self.entry(identifier, outcome)
                let sealed = try Self.seal(
                    outcome, AnswerFormat.associatedData(place: place, entry: entry), by: &sender)
                answer += entry
                answer.append(number: UInt16(clamping: sealed.count))
                answer += sealed
            }
        } catch {
            // Its bytes may be any, such as a point of small order. Source: RFC 9180, section 7.1.4.
            throw WireFault("nothing can be sealed to the public key: expected a fresh one of X25519")
        }
        return answer
    }

    private func sender(to publicKey: [UInt8], info: Data) throws -> HPKE.Sender {
        let recipient = try ContributingKey.publicKey(publicKey)
        let suite = AnswerFormat.ciphersuite
        guard let identity else { return try HPKE.Sender(recipientKey: recipient, ciphersuite: suite, info: info) }
        return try HPKE.Sender(
            recipientKey: recipient, ciphersuite: suite, info: info, authenticatedBy: identity.privateKey)
    }

    private static func entry(_ identifier: String, _ outcome: KeyOutcome) -> [UInt8] {
        var entry: [UInt8] = []
        entry.append(number: UInt16(clamping: identifier.utf8.count))
        entry += identifier.utf8
        let (code, first, second) = outcome.fields
        entry.append(code)
        entry.append(number: first)
        entry.append(number: second)
        return entry
    }

    private static func seal(
        _ outcome: KeyOutcome, _ associatedData: [UInt8], by sender: inout HPKE.Sender
    ) throws -> Data {
        guard case .key(let key, _) = outcome else {
            return try sender.seal(Data(), authenticating: associatedData)
        }
        var plaintext = key.withUnsafeBytes { Data($0) }
        defer { plaintext.erase() }
        return try sender.seal(plaintext, authenticating: associatedData)
    }
}
#endif
