import ByteSources
package import RandomAccess
import Subject
import SubjectProtocol
import Support
import SystemPackage
import Vectors

/// A session with a subject whose memory is watched. It opens, reads and closes objects in the subject's process.
final class MemorySession {
    /// An object to read.
    enum Object {
        /// Ciphertext that is computed when it is read: by our reader in its own process, or by the harness.
        case generated(byteCount: UInt64)
        /// A file with one hole. Its zeros are valid ciphertext without padding.
        case sparse(path: FilePath, byteCount: UInt64)
        /// A playlist with segments of this length, computed when they are read.
        case playlist(byteCount: UInt64, segmentByteCount: UInt64)
    }

    let process: SubjectProcess
    /// The name that the subject reports.
    let name: String
    private let isOwn: Bool
    private let keyByteCount: Int
    private let strategies: [String]
    private let isServed: Bool
    private var served: [UInt64: any ByteSource] = [:]

    init(_ subject: MemorySubject, reader: MemoryReader, timeout: Duration) throws {
        process = try SubjectProcess(command: subject.command(reader), timeout: timeout)
        let hello = try process.request(["op": "hello", "protocol": 1]).members
        name = hello["name"]?.string ?? subject.name
        isOwn = subject.isOwn
        let keyByteCounts = (hello["keyByteCounts"]?.array ?? []).compactMap(\.integer)
        keyByteCount = Int([16, 32, 24].first(where: keyByteCounts.contains) ?? 16)
        strategies = (hello["strategies"]?.array ?? []).compactMap(\.string)
        isServed = (hello["sources"]?.array ?? []).compactMap(\.string).contains("served")
    }

    /// True if the subject can open objects of any size: it is ours, or takes served objects.
    var takesGenerated: Bool { isOwn || isServed }

    /// Opens an object with the first strategy for it that the subject has.
    ///
    /// - Throws: `SubjectError`; `DecryptionError.unsupported` if the subject has no strategy for such an object.
    func open(_ id: UInt64, _ object: Object) throws {
        if case .playlist(let byteCount, let segmentByteCount) = object {
            return try openPlaylist(id, byteCount, segmentByteCount)
        }
        let key = try SecretKey([UInt8](repeating: 7, count: keyByteCount))
        var refusal: any Error = DecryptionError.unsupported("strategies \(strategies)")
        for strategy in Self.strategies(of: object) where strategies.contains(strategy.name) {
            var request = strategy.protocolMembers
            request["op"] = "open"
            request["id"] = .integer(id)
            request["key"] = .string(key.withUnsafeBytes { Hexadecimal.encode($0) })
            var source: (any ByteSource)?
            switch object {
            case .playlist: break
            case .sparse(let path, _): request["source"] = ["path": .string(path.string)]
            case .generated(let byteCount):
                if isOwn {
                    request["source"] = [
                        "generated": ["plaintextByteCount": .integer(byteCount), "seed": 1]
                    ]
                } else {
                    source =
                        try GeneratedObject(
                            strategy: strategy, key: key, plaintextByteCount: byteCount, seed: 1
                        ).source
                    request["source"] = ["byteCount": .integer(source?.byteCount ?? 0)]
                }
            }
            let answer = try process.exchange(JSONValue.object(request).line, serving: source)
            if answer.isGood {
                served[id] = source
                return
            }
            let name = answer.members["error"]?.string ?? "internal"
            refusal = SubjectError.refused(name: name, message: answer.members["message"]?.string ?? "no message")
            guard name == "unsupported" else { break }
        }
        throw refusal
    }

    /// Opens a playlist.
    ///
    /// - Throws: `SubjectError`; `DecryptionError.unsupported` if the subject does not have the strategy.
    private func openPlaylist(_ id: UInt64, _ byteCount: UInt64, _ segmentByteCount: UInt64) throws {
        guard strategies.contains(PlaylistRequest.strategyName), takesGenerated else {
            throw DecryptionError.unsupported("strategies \(strategies): expected \(PlaylistRequest.strategyName)")
        }
        let key = try SecretKey([UInt8](repeating: 7, count: 16))
        var object = try MeasuredObject.generated(
            strategy: try .segments(of: segmentByteCount), key: key, plaintextByteCount: byteCount)
        object.playlist = try MeasuredPlaylist(
            resource: "media.ts", segmentByteCount: segmentByteCount, plaintextByteCount: byteCount)
        let source = isOwn ? nil : try object.servedSource()
        _ = try process.request(object.openRequest(id: id, served: source), serving: source)
        served[id] = source
    }

    /// Runs a workload once. Our readers use all their threads; an external subject gets one read at a time.
    ///
    /// - Returns: The bound that the reader declares; `nil` for a reader without one.
    func read(_ id: UInt64, _ workload: Workload, plaintextByteCount: UInt64) throws -> UInt64? {
        if isOwn {
            return try process.measure([
                "id": .integer(id), "workload": workload.json, "collect": "time",
                "minimumNanoseconds": 0, "maximumIterations": 1, "extended": true,
            ])["boundByteCount"]?.integer
        }
        for read in try workload.reads(plaintextByteCount: plaintextByteCount) {
            let answer = try process.request(
                ["op": "read", "id": .integer(id), "offset": .integer(read.offset), "count": .integer(read.count)],
                serving: served[id])
            guard answer.payload.count == Int(read.count) else {
                throw SubjectError.framing("a read of \(read.count) bytes that delivers \(answer.payload.count)")
            }
        }
        return nil
    }

    /// Closes an object.
    func close(_ id: UInt64) throws {
        served[id] = nil
        _ = try process.request(["op": "close", "id": .integer(id)])
    }

    /// The strategies for an object, first those that subjects are most likely to have.
    private static func strategies(of object: Object) -> [Strategy] {
        let iv = Block(bigEndianValue: 1)
        let plain = VectorSet.plain(chunkByteCount: 1 << 20, iv: iv)
        // CBC comes first, with padding before without.
        let unpadded =
            plain.filter { $0.padding == Padding.none } + plain.filter { $0.padding == nil }
        return switch object {
        case .sparse: unpadded
        case .playlist: []
        case .generated: plain.filter { $0.padding == .pkcs7 } + unpadded
        }
    }
}

/// A subject whose memory is examined.
package enum MemorySubject: Sendable {
    /// One of our readers over a backend.
    ///
    /// - Parameters:
    ///   - program: The command that starts a subject, without the reader's options.
    ///   - backend: The backend.
    case own(program: [String], backend: any CipherBackend)
    /// A program that speaks the subject protocol, as a command for `/bin/sh -c`.
    case external(command: String)

    /// The command that starts the subject.
    func command(_ reader: MemoryReader) -> [String] {
        switch self {
        case .own(let program, let backend):
            program + [
                "--backend", backend.name, "--access", reader.access.rawValue, "--window", "\(reader.windowByteCount)",
                "--threads", "\(reader.threadCount)",
            ]
        case .external(let command): ["/bin/sh", "-c", command]
        }
    }

    /// The name to use before the subject reports its own.
    package var name: String {
        switch self {
        case .own(_, let backend): backend.name
        case .external(let command): command
        }
    }

    var isOwn: Bool {
        if case .own = self { true } else { false }
    }
}

/// The configuration of one of our readers for a check. External subjects have their own configuration.
struct MemoryReader: Hashable, Sendable, CustomStringConvertible {
    var access = AccessPolicy.block
    var windowByteCount: UInt64 = 256 << 10
    var threadCount = 1

    var description: String {
        "\(access.rawValue), \(ByteSize(windowByteCount)) × \(threadCount)"
    }

    /// The examined configurations: small and large windows, several threads, and each access.
    static let examined: [MemoryReader] = [
        MemoryReader(windowByteCount: 4 << 10), MemoryReader(windowByteCount: 256 << 10, threadCount: 2),
        MemoryReader(windowByteCount: 4 << 20, threadCount: 4), MemoryReader(windowByteCount: 16 << 20),
        MemoryReader(access: .chunkCache, windowByteCount: 4 << 20),
        MemoryReader(access: .freshBuffers, windowByteCount: 4 << 20, threadCount: 2),
    ]
}
