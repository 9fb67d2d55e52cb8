#if Network
import ByteSources
import Glibc
package import RandomAccess
import Support
import Synchronization
package import SystemPackage

/// Records the requests of clients in the form of `data/traces`. Source: data/schemas/traces.json.
///
/// The file is a complete trace after each request, because one call writes both the request's line and the end of the
/// file. Lines reserve space for numbers that are only known later.
package final class TraceRecorder: Sendable {
    /// A line of the file.
    package struct Entry: Sendable {
        fileprivate let countOffset: Int64
        fileprivate let askedByteCount: UInt64
    }

    private struct State {
        /// The offset of the next line.
        var end: Int64
        var requestCount = 0
        var minByteCount: UInt64 = 1
        var failure: DecryptionError?
    }

    private let descriptor: FileDescriptor
    private let path: FilePath
    private let origin: UInt64
    private let minOffset: Int64
    /// The file's text in front of the first request.
    private let head: String
    private let state: Mutex<State>

    private static let tail = "\n ]\n}\n"
    /// The number of digits of the largest 64-bit number.
    private static let numberWidth = 20

    /// Opens or creates a trace's file, without changing its contents. ``start()`` then replaces a trace; a file of
    /// another kind is refused here.
    ///
    /// - Parameters:
    ///   - path: The trace's file.
    ///   - title: A sentence that says who asks for what.
    /// - Throws: `DecryptionError.io`, `.invalidParameter` if the file holds something other than a trace.
    package init(path: FilePath, title: String) throws(DecryptionError) {
        self.path = path
        self.descriptor = try SystemCall.check("write trace \(path)") {
            try FileDescriptor.open(
                path, .readWrite, options: [.create, .closeOnExec], permissions: [.ownerReadWrite])
        }
        do throws(DecryptionError) {
            guard try TraceRecorder.isReplaceable(descriptor, path) else {
                throw .invalidParameter(
                    name: "trace", value: path.string, expected: "a new file, or a trace that is to be replaced")
            }
        } catch {
            try? descriptor.close()
            throw error
        }
        self.origin = monotonicNanoseconds()
        let before = """
            {
             "schema": 1,
             "name": \(TraceRecorder.quoted(TraceRecorder.name(path))),
             "title": \(TraceRecorder.quoted(title)),
             "source": "Recorded by chunkwise serve.",
             "leastByteCount":
            """
        self.minOffset = Int64(before.utf8.count) + 1
        self.head = before + " " + TraceRecorder.padded("1", ",") + "\n \"requests\": ["
        self.state = Mutex(State(end: Int64(head.utf8.count)))
    }

    /// Starts the trace and discards the file's old contents. If that fails, nothing is written later.
    ///
    /// - Throws: `DecryptionError.io`.
    package func start() throws(DecryptionError) {
        do throws(DecryptionError) {
            _ = try SystemCall.retrying("write trace \(path)") { Int(ftruncate(descriptor.rawValue, 0)) }
            try write(head + TraceRecorder.tail, at: 0)
        } catch {
            state.withLock { $0.failure = error }
            throw error
        }
    }

    /// Returns whether the file may be replaced, which is true if it is empty or begins like a trace.
    private static func isReplaceable(
        _ descriptor: FileDescriptor, _ path: FilePath
    ) throws(DecryptionError) -> Bool {
        var start = [UInt8](repeating: 0, count: 64)
        let count = try SystemCall.check("write trace \(path)") {
            do {
                return try start.withUnsafeMutableBytes { try descriptor.read(fromAbsoluteOffset: 0, into: $0) }
            } catch Errno.illegalSeek {
                // A pipe or a terminal holds nothing that could be lost.
                return 0
            }
        }
        guard count > 0 else { return true }
        let text = String(decoding: start.prefix(count).filter { $0 > 0x20 }, as: UTF8.self)
        return text.hasPrefix("{\"schema\":")
    }

    deinit {
        try? descriptor.close()
    }

    /// The time since the recorder was created, in nanoseconds.
    package var now: UInt64 { monotonicNanoseconds() - origin }

    /// The first failure to write. After it, nothing is written.
    package var failure: DecryptionError? { state.withLock { $0.failure } }

    /// Records a request for plaintext.
    ///
    /// - Parameters:
    ///   - asked: The `Range` field, if there was one.
    ///   - object: The requested name.
    ///   - range: The plaintext range that is sent.
    ///   - objectByteCount: The object's length in bytes.
    ///   - time: The arrival of the request; see ``now``.
    /// - Returns: The line, for ``finish(_:deliveredByteCount:)``.
    package func begin(
        asked: String?, object: String, range: Range<UInt64>, objectByteCount: UInt64, at time: UInt64
    ) -> Entry {
        let count = UInt64(range.count)
        let before = "  {\"asked\": \(TraceRecorder.quoted(asked ?? "")), \"offset\": \(range.lowerBound), \"count\": "
        let after = " \"nanoseconds\": \(time), \"object\": \(TraceRecorder.quoted(object))}"
        return state.withLock { state in
            let separator = state.requestCount == 0 ? "\n" : ",\n"
            let line = separator + before + TraceRecorder.padded("\(count)", ",") + after
            let entry = Entry(
                countOffset: state.end + Int64((separator + before).utf8.count), askedByteCount: count)
            write(line + TraceRecorder.tail, at: state.end, &state)
            state.end += Int64(line.utf8.count)
            state.requestCount += 1
            if objectByteCount > state.minByteCount {
                state.minByteCount = objectByteCount
                write(TraceRecorder.padded("\(objectByteCount)", ","), at: minOffset, &state)
            }
            return entry
        }
    }

    /// Corrects the line of a request whose client took less than it had asked for.
    package func finish(_ entry: Entry, deliveredByteCount: UInt64) {
        guard deliveredByteCount < entry.askedByteCount else { return }
        state.withLock { state in
            write(TraceRecorder.padded("\(max(1, deliveredByteCount))", ","), at: entry.countOffset, &state)
        }
    }

    private func write(_ text: String, at offset: Int64, _ state: inout State) {
        guard state.failure == nil else { return }
        do throws(DecryptionError) {
            try write(text, at: offset)
        } catch {
            state.failure = error
        }
    }

    /// The corresponding C function is `pwrite`.
    private func write(_ text: String, at offset: Int64) throws(DecryptionError) {
        _ = try SystemCall.check("write trace \(path)") {
            try descriptor.writeAll(toAbsoluteOffset: offset, text.utf8)
        }
    }

    private static func padded(_ number: String, _ after: String) -> String {
        number + after + String(repeating: " ", count: numberWidth - number.utf8.count)
    }

    /// Returns a trace's name, made from the file's name: lower-case letters, digits and single hyphens.
    private static func name(_ path: FilePath) -> String {
        let words = (path.stem ?? "").lowercased().split { !$0.isASCII || !($0.isLetter || $0.isNumber) }
        return words.isEmpty ? "trace" : words.joined(separator: "-")
    }

    private static func quoted(_ text: String) -> String { JSONValue.string(text).text }
}
#endif
