import ByteSources
import Glibc
import RandomAccess
import SubjectProtocol
import Support
import Testing

/// A subject that delivers the source as it is, so that tests see what the protocol does and no cipher.
final class EchoSubject: SubjectHandler {
    private var objects: [UInt64: any ByteSource] = [:]
    private var payload: [UInt8] = []
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)

    deinit { buffer.deallocate() }

    var hello: [String: JSONValue] { ["protocol": 1, "name": "echo"] }

    let lists: [ListStrategy] = [.film]

    func open(id: UInt64, list: ListRequest) throws(DecryptionError) -> UInt64 {
        guard case .film(let request) = list, let source = request.served else { throw .unsupported("a file") }
        objects[id] = source
        return source.byteCount
    }

    func isOpen(_ id: UInt64) -> Bool { objects[id] != nil }

    func source(_ description: JSONValue, parameters: OpenParameters) throws(DecryptionError) -> any ByteSource {
        throw .io(operation: "open \(description["path"]?.string ?? "?")", code: 2, reason: "no files here")
    }

    func open(id: UInt64, parameters: OpenParameters, source: any ByteSource) throws(DecryptionError) -> UInt64 {
        guard source.byteCount % 16 == 0 else {
            throw .truncatedCiphertext(byteCount: source.byteCount, expected: "a multiple of 16")
        }
        objects[id] = source
        return source.byteCount
    }

    func read(id: UInt64, offset: UInt64, count: UInt64) throws(DecryptionError) -> UnsafeRawBufferPointer {
        guard let source = objects[id], offset <= source.byteCount else {
            throw .rangeOutOfBounds(offset: offset, plaintextByteCount: objects[id]?.byteCount ?? 0)
        }
        let part = UnsafeMutableRawBufferPointer(
            rebasing: buffer[..<Int(min(count, source.byteCount - offset, UInt64(buffer.count)))])
        try source.fetch(at: offset, into: part)
        return UnsafeRawBufferPointer(part)
    }

    func measure(id: UInt64, request: JSONValue) throws(DecryptionError) -> [String: JSONValue] { [:] }

    func close(id: UInt64) { objects[id] = nil }
}

/// A server's answers to a script of requests, without a process.
enum ServerScript {
    /// Runs the server on all lines at once.
    ///
    /// - Returns: What it wrote.
    static func answers(to input: [UInt8]) throws -> [UInt8] {
        let (requests, answers) = (try File(), try File())
        input.withUnsafeBytes { _ = write(requests.descriptor, $0.baseAddress, $0.count) }
        lseek(requests.descriptor, 0, SEEK_SET)
        SubjectServer(
            pipe: PipeEnd(input: requests.descriptor, output: answers.descriptor), subject: EchoSubject()
        ).run()
        var bytes = [UInt8](repeating: 0, count: Int(lseek(answers.descriptor, 0, SEEK_END)))
        let count = bytes.count
        #expect(pread(answers.descriptor, &bytes, count, 0) == count)
        return bytes
    }

    /// The answers as JSON, where none has a payload.
    static func answers(to lines: [String]) throws -> [JSONValue] {
        try answers(to: Array((lines.joined(separator: "\n") + "\n").utf8)).split(separator: 0x0A)
            .compactMap { JSONValue.parse(Array($0)) }
    }

    /// The names of the answers' errors; `ok` for good ones.
    static func outcomes(of lines: [String]) throws -> [String] {
        try answers(to: lines).map { $0["ok"]?.bool == true ? "ok" : $0["error"]?.string ?? "?" }
    }

    /// A file without a name.
    private final class File {
        let descriptor: Int32

        init() throws {
            let file = try #require(tmpfile())
            descriptor = dup(fileno(file))
            fclose(file)
        }

        deinit { Glibc.close(descriptor) }
    }
}
