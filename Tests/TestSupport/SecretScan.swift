import Glibc

/// Looks for secrets in all memory of this process, or of another one, that can be read.
///
/// What is looked for is kept masked, so that the search does not find itself; what is read is read into memory that is
/// left out.
package final class SecretScan {
    private struct Pattern {
        var name: String
        /// The bytes behind its first eight, masked.
        var rest: [UInt8]
    }

    private static let pieceByteCount = 4 << 20
    /// The max length of a pattern.
    private static let maxByteCount = 4096

    private let mask = UInt64.random(in: .min ... .max)
    private var patterns: [UInt64: [Pattern]] = [:]
    /// A bit for each hash of eight bytes, so that most of the memory costs one look.
    private let filter = UnsafeMutablePointer<UInt64>.allocate(capacity: 1 << 14)
    private let buffer: UnsafeMutableRawBufferPointer

    /// A search without secrets, to which they are added.
    package init() {
        filter.initialize(repeating: 0, count: 1 << 14)
        buffer = ErasedPages.allocate(byteCount: Self.pieceByteCount + Self.maxByteCount)
    }

    deinit {
        filter.deallocate()
        ErasedPages.free(buffer)
    }

    /// Adds bytes to look for, in pieces: any of them is a finding.
    ///
    /// - Parameters:
    ///   - name: What is found.
    ///   - bytes: The secret, which is the caller's to erase.
    ///   - pieceByteCount: At least eight.
    package func add(_ name: String, _ bytes: UnsafeRawBufferPointer, pieceByteCount: Int = 8) {
        for start in stride(from: 0, through: bytes.count - pieceByteCount, by: pieceByteCount) {
            let value = bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)
            let bit = Self.hash(value)
            filter[bit >> 6] |= 1 << UInt64(bit & 63)
            let rest = (8..<pieceByteCount).map { bytes[start + $0] ^ maskByte($0) }
            patterns[value ^ mask, default: []].append(Pattern(name: name, rest: rest))
        }
    }

    /// Counts the copies of each secret in memory, by its name.
    ///
    /// - Parameter process: This one, unless another number is given.
    /// - Returns: The numbers, or why nothing could be looked for.
    package func found(in process: Int32? = nil) -> [String: Int] {
        var found: [String: Int] = [:]
        let folder = "/proc/" + (process.map { "\($0)" } ?? "self")
        let descriptor = open(folder + "/mem", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0, let start = buffer.baseAddress else { return ["\(folder)/mem cannot be read": 1] }
        defer { close(descriptor) }
        defer { explicit_bzero(start, buffer.count) }
        let first = process == nil ? UInt(bitPattern: start) : 0
        let own = first..<first + UInt(process == nil ? buffer.count : 0)
        for range in Self.readableRanges(folder + "/maps") {
            var position = range.lowerBound
            while position < range.upperBound {
                // What lies across two pieces is in one.
                let end = min(position + UInt(buffer.count), range.upperBound)
                if !own.overlaps(position..<end) {
                    let count = pread(descriptor, start, Int(end - position), Int(bitPattern: position))
                    if count >= 8 { look(in: UnsafeRawBufferPointer(start: start, count: count), &found) }
                    position += UInt(Self.pieceByteCount)
                } else {
                    // In pages, of which none is in both.
                    if !own.contains(position), pread(descriptor, start, 4096, Int(bitPattern: position)) == 4096 {
                        look(in: UnsafeRawBufferPointer(start: start, count: 4096), &found)
                    }
                    position += 4096
                }
            }
        }
        return found
    }

    private func maskByte(_ index: Int) -> UInt8 { UInt8(truncatingIfNeeded: mask >> UInt64(8 * (index & 7))) }

    private static func hash(_ value: UInt64) -> Int { Int((value &* 0x9E37_79B9_7F4A_7C15) >> 44) }

    private func look(in bytes: UnsafeRawBufferPointer, _ found: inout [String: Int]) {
        guard let start = bytes.baseAddress else { return }
        for offset in 0...bytes.count - 8 {
            let value = start.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            let bit = Self.hash(value)
            guard filter[bit >> 6] >> UInt64(bit & 63) & 1 != 0, let candidates = patterns[value ^ mask] else {
                continue
            }
            for pattern in candidates where offset + 8 + pattern.rest.count <= bytes.count {
                let isEqual = pattern.rest.indices.allSatisfy {
                    pattern.rest[$0] == bytes[offset + 8 + $0] ^ maskByte($0 + 8)
                }
                if isEqual { found[pattern.name, default: 0] += 1 }
            }
        }
    }

    /// Source: proc_pid_maps(5).
    private static func readableRanges(_ maps: String) -> [Range<UInt>] {
        guard let file = fopen(maps, "re") else { return [] }
        defer { fclose(file) }
        var ranges: [Range<UInt>] = []
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        while getline(&line, &capacity, file) > 0, let start = line {
            let words = String(cString: start).split(separator: " ")
            let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            if ends.count == 2, words[1].hasPrefix("r") { ranges.append(ends[0]..<ends[1]) }
        }
        return ranges
    }
}

/// Memory that is the system's again when it is freed.
package enum ErasedPages {
    /// Zeros. The corresponding C function is `mmap`.
    package static func allocate(byteCount: Int) -> UnsafeMutableRawBufferPointer {
        let start = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        return UnsafeMutableRawBufferPointer(start: start == MAP_FAILED ? nil : start, count: byteCount)
    }

    /// Gives memory back. The corresponding C function is `munmap`.
    package static func free(_ pages: UnsafeMutableRawBufferPointer) {
        if let start = pages.baseAddress { munmap(start, pages.count) }
    }
}

/// A thread with a stack of its own, which stays as the work left it until ``end()`` gives it back to the system.
package final class HeldThread {
    private final class State: @unchecked Sendable {
        let work: () throws -> Void
        var error: (any Error)?
        var done = sem_t()
        var mayEnd = sem_t()

        init(_ work: @escaping () throws -> Void) { self.work = work }
    }

    private let state: State
    private let stack = ErasedPages.allocate(byteCount: 1 << 20)
    private var thread = pthread_t()

    /// Does the work, and returns when it is done.
    ///
    /// - Throws: What the work throws.
    package init(_ work: @escaping () throws -> Void) throws {
        state = State(work)
        sem_init(&state.done, 0, 0)
        sem_init(&state.mayEnd, 0, 0)
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        if let start = stack.baseAddress { pthread_attr_setstack(&attributes, start, stack.count) }
        let code = pthread_create(
            &thread, &attributes,
            { argument in
                guard let argument else { return nil }
                let state = Unmanaged<State>.fromOpaque(argument).takeRetainedValue()
                do { try state.work() } catch { state.error = error }
                sem_post(&state.done)
                sem_wait(&state.mayEnd)
                return nil
            }, Unmanaged.passRetained(state).toOpaque())
        precondition(code == 0, "no thread: \(code)")
        sem_wait(&state.done)
        if let error = state.error {
            end()
            throw error
        }
    }

    /// Ends the thread, and gives its stack back.
    package func end() {
        sem_post(&state.mayEnd)
        pthread_join(thread, nil)
        ErasedPages.free(stack)
    }

    /// Does work of which nothing stays on a stack.
    package static func run(_ work: @escaping () throws -> Void) throws {
        try HeldThread(work).end()
    }
}
