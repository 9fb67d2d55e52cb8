import ByteSources
import Glibc
import RandomAccess
import SubjectProtocol
import Synchronization
import Vectors

/// The source that the harness serves. It records the requested and the delivered ranges, and injects faults.
final class ServedCiphertext: ByteSource {
    private struct State {
        var fault = SourceFault.none
        var hasFaulted = false
        var fetches: [FetchRule.Fetch] = []
    }

    private let base: any ByteSource
    /// The resources of a playlist, by URI as written; `nil` for an object that is one source.
    private let resources: [String: any ByteSource]?
    private let state = Mutex(State())

    init(_ group: VectorGroup) {
        self.base = group.ciphertext
        self.resources = group.playlist?.resources.mapValues { MemorySource($0) }
    }

    var byteCount: UInt64 { base.byteCount }

    /// The fetches since the last ``begin(_:)``.
    var fetches: [FetchRule.Fetch] { state.withLock { $0.fetches } }

    /// True if a request has met the fault since the last ``begin(_:)``.
    var hasFaulted: Bool { state.withLock { $0.hasFaulted } }

    /// Clears the record, and sets the fault from now on.
    func begin(_ fault: SourceFault = .none) {
        state.withLock { $0 = State(fault: fault) }
    }

    func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
        try read(base, at: offset, into: buffers)
    }

    private func read(
        _ base: any ByteSource, at offset: UInt64, into buffers: FetchBuffers
    ) throws(DecryptionError) -> Int {
        let fault = state.withLock { $0.fault }
        let asked = offset..<offset + UInt64(buffers.byteCount)
        var maximum = buffers.byteCount
        switch fault {
        case .none, .changedLength: break
        case .short(let largest): maximum = min(maximum, largest)
        case .failureFrom(let start) where offset < start:
            maximum = Int(min(UInt64(maximum), start - offset))
        case .failure, .failureFrom:
            note(FetchRule.Fetch(asked: asked, deliveredByteCount: 0), isFault: true)
            throw .io(operation: "read", code: 5, reason: "injected fault")
        case .end(let end): maximum = Int(min(UInt64(maximum), end - min(end, offset)))
        }
        let isShort = maximum < buffers.byteCount
        // If the source itself fails, the harness is at fault, but the subject still gets an answer.
        let count = maximum == 0 ? 0 : try base.read(at: offset, into: buffers.prefix(maximum))
        note(FetchRule.Fetch(asked: asked, deliveredByteCount: UInt64(count)), isFault: isShort)
        return count
    }

    private func note(_ fetch: FetchRule.Fetch, isFault: Bool) {
        state.withLock {
            $0.fetches.append(fetch)
            $0.hasFaulted = $0.hasFaulted || isFault
        }
    }
}

extension ServedCiphertext: ServedResources {
    /// One resource of a playlist, or the only source that there is.
    func resource(_ uri: String?) -> (any ByteSource)? {
        guard let resources else { return self }
        return uri.flatMap { resources[$0] }.map { Resource(of: self, base: $0) }
    }

    /// A resource of a playlist, with the fault that all of its resources have.
    private struct Resource: ByteSource {
        let of: ServedCiphertext
        let base: any ByteSource

        var byteCount: UInt64 { base.byteCount }

        func read(at offset: UInt64, into buffers: FetchBuffers) throws(DecryptionError) -> Int {
            try of.read(base, at: offset, into: buffers)
        }
    }
}

extension SourceSupply {
    /// Says whether a served source fails or ends before each read.
    var isFaulty: Bool {
        switch self {
        case .failing, .endingEarly, .recovering: true
        case .any, .whole, .shortReads, .changing: false
        }
    }

    /// The fault of a served source while an object is opened: headers come in short reads, too.
    var faultAtOpening: SourceFault { self == .shortReads ? .short(largest: 7) : .none }

    func fault(forRead number: Int, byteCount: Int) -> SourceFault {
        guard self == .shortReads else { return .none }
        return .short([1, 7, 15, 16, 17, 31, 33, 64, 100][number % 9], byteCount: byteCount)
    }
}

extension SourceFault {
    /// Returns short reads of `largest` bytes, or more if the read is long. Each part is a message, and a read gets at
    /// most some hundred.
    static func short(_ largest: Int, byteCount: Int) -> SourceFault {
        .short(largest: max(largest, byteCount >> 7 | 1))
    }
}

/// A ciphertext as a file, for subjects that the harness does not serve. The file is removed when the value is
/// released.
final class TemporaryCiphertext {
    /// Larger objects would need the disk space that generated objects save.
    static let largestByteCount: UInt64 = 512 << 20

    let path: String
    /// The files of a playlist's folder; `nil` if `path` is a file.
    private let names: [String]?

    /// Writes a group's object: a file, or a folder with the resources that a playlist names.
    ///
    /// The corresponding C functions are `mkstemp`, `mkdtemp` and `write`.
    /// - Throws: `DecryptionError.io`; `.unsupported` for a resource whose URI is not, unchanged, a file's name.
    init(_ group: VectorGroup) throws(DecryptionError) {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(folder)/chunkwise-XXXXXX".utf8CString)
        if let files = try Self.files(of: group) {
            guard mkdtemp(&template) != nil else { throw Self.failure("mkdtemp") }
            self.names = Array(files.keys)
        } else {
            let descriptor = mkstemp(&template)
            guard descriptor >= 0 else { throw Self.failure("mkstemp") }
            close(descriptor)
            self.names = nil
        }
        self.path = Self.text(template)
        try replace(by: group)
    }

    /// Overwrites this object with another group's. A playlist's resources must have the same names.
    ///
    /// - Throws: `DecryptionError.io`; `.unsupported` as in ``init(_:)``.
    func replace(by group: VectorGroup) throws(DecryptionError) {
        guard let files = try Self.files(of: group) else { return try Self.save(group.ciphertext, to: path) }
        for (name, bytes) in files { try Self.save(MemorySource(bytes), to: "\(path)/\(name)") }
    }

    private static func save(_ source: any ByteSource, to path: String) throws(DecryptionError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard descriptor >= 0 else { throw failure("open") }
        defer { close(descriptor) }
        try copy(source, to: descriptor)
    }

    /// Returns the files of a playlist's folder by their names; `nil` for any other object.
    private static func files(of group: VectorGroup) throws(DecryptionError) -> [String: [UInt8]]? {
        guard let resources = group.playlist?.resources else { return nil }
        var files: [String: [UInt8]] = [:]
        for (uri, bytes) in resources {
            let name = fileName(uri)
            guard !name.isEmpty, name.utf8.allSatisfy(isPlain), !name.hasPrefix("."), files[name] == nil else {
                throw .unsupported("the resource \"\(uri)\" as a file")
            }
            files[name] = bytes
        }
        return files
    }

    /// Returns the file that a URI names, without its query and percent-decoded. Source: PROTOCOL.md, "open".
    private static func fileName(_ uri: String) -> String {
        var bytes: [UInt8] = []
        var rest = uri.utf8.prefix { $0 != UInt8(ascii: "?") }
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) {
                bytes.append(code)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        [0x20, 0x2D, 0x2E, 0x5F].contains(byte) || (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF)
    }

    private static func text(_ template: [CChar]) -> String {
        template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    }

    private static func copy(_ source: any ByteSource, to descriptor: Int32) throws(DecryptionError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        defer { buffer.deallocate() }
        var position: UInt64 = 0
        while position < source.byteCount {
            let part = UnsafeMutableRawBufferPointer(
                rebasing: buffer[..<Int(min(UInt64(buffer.count), source.byteCount - position))])
            try source.fetch(at: position, into: part)
            var written = 0
            while written < part.count {
                let count = write(descriptor, part.baseAddress.map { $0 + written }, part.count - written)
                guard count > 0 || errno == EINTR else { throw failure("write") }
                written += max(0, count)
            }
            position += UInt64(part.count)
        }
    }

    deinit {
        guard let names else {
            unlink(path)
            return
        }
        for name in names { unlink("\(path)/\(name)") }
        rmdir(path)
    }

    private static func failure(_ operation: String) -> DecryptionError {
        .io(operation: "\(operation) of a temporary file", code: errno, reason: String(cString: strerror(errno)))
    }
}
