import ByteSources
import Glibc
import HLS
import OpenSSLBackend
import RandomAccess
import Synchronization
import TestSupport

/// A key whose bytes are all equal to a number.
func testKey(_ number: Int) throws(DecryptionError) -> SecretKey {
    try SecretKey([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 16))
}

/// Keys by the number in their names, and IVs that differ in every byte.
let testSecrets = HLSSecrets(
    key: { (number) throws(DecryptionError) in try testKey(number) },
    iv: { segment in Block(bigEndianValue: UInt128(segment + 2) &* 0x0123_4567_89AB_CDEF_0011_2233_4455_6677) })

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

/// Keys for URIs that end with a number before a dot or at the end; counts how often each is asked for.
final class CountingKeys: KeyProvider {
    private let counts = Mutex<[String: Int]>([:])

    var asked: [String: Int] { counts.withLock { $0 } }

    func key(for uri: String) throws(KeyError) -> ProvidedKey {
        counts.withLock { $0[uri, default: 0] += 1 }
        guard let number = Int(uri.filter(\.isNumber)), let key = try? testKey(number) else {
            throw .missing(location: uri, reason: "it has no number")
        }
        return ProvidedKey(key)
    }
}

/// Resources in memory whose fetches are recorded.
final class RecordedResources: SegmentResources {
    private let sources: [String: RecordingSource]
    private let openings = Mutex(0)

    init(_ resources: [String: [UInt8]]) {
        sources = resources.mapValues { RecordingSource(MemorySource($0), keepsRanges: true) }
    }

    var openingCount: Int { openings.withLock { $0 } }

    func source(for uri: String) throws(DecryptionError) -> any ByteSource {
        openings.withLock { $0 += 1 }
        guard let source = sources[uri] else { throw .io(operation: "open \(uri)", code: 2, reason: "not there") }
        return source
    }

    func reset() {
        for source in sources.values { source.reset() }
    }

    var fetched: [String: [Range<UInt64>]] { sources.mapValues(\.ranges).filter { !$0.value.isEmpty } }
}

/// Resources in memory that count how many of them are open.
final class CountedResources: SegmentResources {
    private final class Counts: Sendable {
        let open = Mutex((now: 0, maximum: 0))
    }

    private final class Source: ByteSource {
        let base: MemorySource
        let counts: Counts

        init(_ base: MemorySource, _ counts: Counts) {
            self.base = base
            self.counts = counts
            counts.open.withLock { $0 = ($0.now + 1, max($0.maximum, $0.now + 1)) }
        }

        deinit {
            counts.open.withLock { $0.now -= 1 }
        }

        var byteCount: UInt64 { base.byteCount }

        func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
            try base.read(at: offset, into: buffers)
        }
    }

    private let resources: [String: [UInt8]]
    private let counts = Counts()

    init(_ resources: [String: [UInt8]]) {
        self.resources = resources
    }

    var maxOpenCount: Int { counts.open.withLock { $0.maximum } }

    func source(for uri: String) throws(DecryptionError) -> any ByteSource {
        Source(MemorySource(resources[uri] ?? []), counts)
    }
}

/// Resources in memory that are opened by 16 threads, of which the first ones wait for others that open one.
final class MeetingResources: SegmentResources {
    private let resources: [String: [UInt8]]
    private let meetingCount: Int
    private let underWay = Mutex(0)
    private let openings = Mutex<[String: Int]>([:])

    let openingsAtOnce: Int? = 16

    init(_ resources: [String: [UInt8]], meetingCount: Int) {
        self.resources = resources
        self.meetingCount = meetingCount
    }

    /// The number of times that each was opened.
    var counts: [String: Int] { openings.withLock { $0 } }

    func source(for uri: String) throws(DecryptionError) -> any ByteSource {
        openings.withLock { $0[uri, default: 0] += 1 }
        underWay.withLock { $0 += 1 }
        while underWay.withLock({ $0 }) < meetingCount { usleep(100) }
        return MemorySource(resources[uri] ?? [])
    }
}

/// Opens what an encryptor wrote.
func open(
    _ stored: [String: [UInt8]], _ text: String? = nil, keys: any KeyProvider = CountingKeys(),
    from resources: (any SegmentResources)? = nil, leavesOutBroken: Bool = false
) throws -> HLSObject {
    let playlist = try mediaPlaylist(text ?? String(decoding: stored["playlist.m3u8"] ?? [], as: UTF8.self))
    return try HLSObject(
        playlist: playlist, resources: resources ?? MemoryResources(stored), keys: KeyRing(keys), backend: OpenSSL(),
        leavesOutBroken: leavesOutBroken)
}

/// Encrypts bytes into memory.
func encrypted(_ plain: [UInt8], _ options: HLSOptions) throws -> [String: [UInt8]] {
    let output = MemoryOutput()
    try HLSEncryptor(options: options, secrets: testSecrets, backend: OpenSSL())
        .run(MemorySource(plain), to: output)
    return output.resources
}
