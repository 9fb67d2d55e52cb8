package import ByteSources
package import RandomAccess
package import SubjectProtocol
package import Support
internal import SystemPackage
internal import Vectors

/// A mutant in a process of its own. It proves that a fault noticed in this process is also noticed through the
/// protocol.
package final class MutantSubject: SubjectHandler {
    private let name: String
    private let backend: any CipherBackend
    private let subject: InProcessSubject
    private let windowByteCount: Int
    private var objects: [UInt64: any RandomAccessDecryptor] = [:]
    private var payload = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    /// `backend` has no fault.
    package init(_ mutant: Mutant, over backend: any CipherBackend) {
        self.name = mutant.name
        self.backend = backend
        self.windowByteCount = mutant.windowByteCount
        self.subject = mutant.subject(over: backend)
    }

    deinit {
        payload.deallocate()
    }

    /// The members of the answer to `hello`, which offers everything except what the fault rules out.
    package var hello: [String: JSONValue] {
        [
            "protocol": 1, "name": .string("mutant/\(name)"), "version": .string("over \(backend.name)"),
            "strategies": JSONValue(strings: lists.isEmpty ? strategyNames : lists.map(\.rawValue)),
            "keyByteCounts": .array(backend.keyByteCounts.map { .integer(UInt64($0)) }),
            "sources": ["path", "served"], "granularity": "block", "measures": false,
        ]
    }

    private var strategyNames: [String] {
        Format.known.map(Strategy.init(sampling:)).filter { subject.supports($0, 32) }.map(\.name)
    }

    /// The lists that the mutant reads, and then nothing else.
    package var lists: [ListStrategy] {
        (subject.openPlaylist == nil ? [] : [.playlist]) + (subject.openFilm == nil ? [] : [.film])
    }

    /// Opens a playlist or a film as the mutant does.
    package func open(id: UInt64, list: ListRequest) throws(DecryptionError) -> UInt64 {
        let reader =
            switch list {
            case .playlist(let request): try reader(of: request)
            case .film(let request):
                try subject.open(
                    film: FilmObject(samples: request.samples), request.source, request.key,
                    ReaderSetup(.cursor(windowByteCount: windowByteCount)))
            }
        objects[id] = reader
        return reader.plaintextByteCount
    }

    private func reader(of request: PlaylistRequest) throws(DecryptionError) -> any RandomAccessDecryptor {
        guard let open = subject.openPlaylist else { throw .unsupported("playlists") }
        // The textbook reader needs its resources in advance: those that a playlist may name, or the files that exist.
        var sources: [String: any ByteSource] = [:]
        switch request.resources {
        case .served(let served): sources = served
        case .folder(let path):
            let folder = FilePath(path)
            for line in request.text.split(whereSeparator: { $0 == "\"" || $0.isNewline }) {
                let name = String(line)
                guard !name.contains("/"), !name.contains("\0") else { continue }
                sources[name] = try? FileSource(path: folder.appending(name))
            }
        case .described: throw .unsupported("generated playlists")
        }
        return try open(
            ReaderSetup(.cursor(windowByteCount: windowByteCount)),
            PlaylistObject(text: request.text, resources: [:], keys: request.keys), sources)
    }

    /// Returns whether an object is open under `id`.
    package func isOpen(_ id: UInt64) -> Bool { objects[id] != nil }

    /// Opens a file.
    package func source(
        _ description: JSONValue, parameters: OpenParameters
    ) throws(DecryptionError) -> any ByteSource {
        guard let path = description["path"]?.string, !path.contains("\0"), !path.isEmpty else {
            throw .missing("source", "a path or a byteCount")
        }
        return try FileSource(path: FilePath(path))
    }

    /// Opens an object as the mutant does.
    package func open(
        id: UInt64, parameters: OpenParameters, source: any ByteSource
    ) throws(DecryptionError) -> UInt64 {
        guard subject.supports(parameters.strategy, parameters.key.byteCount) else {
            throw .unsupported("what the mutant does not support")
        }
        let setup = ReaderSetup(.cursor(windowByteCount: windowByteCount))
        let reader = try subject.open(setup, source, parameters.strategy, parameters.key)
        objects[id] = reader
        return reader.plaintextByteCount
    }

    /// Reads a range as the mutant does. If the mutant overstates the count, the count is limited to the buffer.
    package func read(id: UInt64, offset: UInt64, count: UInt64) throws(DecryptionError) -> UnsafeRawBufferPointer {
        guard let reader = objects[id] else {
            throw .invalidParameter(name: "id", value: "\(id)", expected: "an open object")
        }
        let maximum = Int(min(count, Workload.largestRead))
        if payload.count < maximum {
            payload.deallocate()
            payload = .allocate(byteCount: maximum, alignment: 16)
            payload.initializeMemory(as: UInt8.self, repeating: 0)
        }
        let buffer = UnsafeMutableRawBufferPointer(rebasing: payload[..<maximum])
        let delivered = try reader.read(at: offset, into: buffer)
        return UnsafeRawBufferPointer(rebasing: buffer[..<min(delivered, maximum)])
    }

    /// Always throws: the speed of a faulty reader is of no interest.
    package func measure(id: UInt64, request: JSONValue) throws(DecryptionError) -> [String: JSONValue] {
        throw .unsupported("measurements of a mutant")
    }

    /// Closes an object.
    package func close(id: UInt64) {
        objects[id] = nil
    }
}
