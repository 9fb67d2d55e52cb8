import HLS
import Keys
import OpenSSLBackend
import RandomAccess
import Synchronization

/// An exchange that has one key for all, and counts its questions.
final class OneKey: KeyExchange {
    static let bytes: [UInt8] = Array("0123456789abcdef".utf8)

    private let terms: KeyTerms
    private let questions = Mutex(0)

    init(terms: KeyTerms = .online(validity: nil)) {
        self.terms = terms
    }

    var count: Int { questions.withLock { $0 } }

    func answer(_ query: KeyQuery) async throws(KeyFailure) -> [ExchangedKey] {
        questions.withLock { $0 += 1 }
        guard let key = try? SecretKey(Self.bytes) else { throw .missing }
        return query.identifiers.map { ExchangedKey($0, key: key, terms: terms) }
    }
}

/// A clock that a test sets; it never wakes anybody.
final class StillClock: KeyClock {
    let wall = Mutex(Duration.seconds(1_700_000_000))

    func now() -> ClockSample { ClockSample(monotonic: .zero, wall: wall.withLock { $0 }) }

    func sleep(until monotonic: Duration) async throws { try await Task.sleep(for: .seconds(1 << 30)) }
}

/// A key whose bytes are all equal to a number.
func testKey(_ number: Int) throws(DecryptionError) -> SecretKey {
    try SecretKey([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 16))
}

/// Encrypts one segment on its own.
func encryptedSegment(_ plain: [UInt8], key: Int, iv: UInt128) throws -> [UInt8] {
    let encryptor = try ObjectEncryptor(
        strategy: .cbcContinuous(iv: Block(bigEndianValue: iv), padding: .pkcs7), backend: OpenSSL(),
        key: try testKey(key))
    var ciphertext: [UInt8] = []
    try plain.withUnsafeBytes { bytes in try encryptor.append(bytes) { ciphertext += $0 } }
    try encryptor.finish { ciphertext += $0 }
    return ciphertext
}

/// A playlist that has to be a media playlist.
func mediaPlaylist(_ text: String) throws -> MediaPlaylist {
    guard case .media(let playlist) = try Playlist.parse(text) else {
        throw PlaylistProblem(line: 1, kind: .masterPlaylist, found: "a master playlist", expected: "a media playlist")
    }
    return playlist
}
