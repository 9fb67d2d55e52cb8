import Glibc

/// Lines and payloads over a pair of file descriptors, for the subject's side: blocking, with a buffer for reading.
package final class PipeEnd {
    private let input: Int32
    private let output: Int32
    private var buffer: [UInt8] = []
    private var start = 0
    /// A line longer than this is not a message.
    private let longestLine = 64 << 20

    /// Wraps descriptors, which stay the caller's.
    package init(input: Int32, output: Int32) {
        self.input = input
        self.output = output
    }

    /// Reads up to the next line's end.
    ///
    /// - Returns: The line without its end, or `nil` at the end of input.
    package func readLine() -> [UInt8]? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: 0x0A) {
                let line = Array(buffer[start..<end])
                start = end + 1
                return line
            }
            searched = buffer.count
            guard buffer.count - start <= longestLine else { return nil }
            if start > 0 {
                buffer.removeFirst(start)
                searched -= start
                start = 0
            }
            guard fill() else { return nil }
        }
    }

    /// Reads exactly as many bytes as the buffer holds.
    ///
    /// - Returns: Whether they came before the end of input.
    package func readExactly(into destination: UnsafeMutableRawBufferPointer) -> Bool {
        let buffered = min(destination.count, buffer.count - start)
        destination.copyBytes(from: buffer[start..<start + buffered])
        start += buffered
        var done = buffered
        while done < destination.count {
            let count = read(input, destination.baseAddress.map { $0 + done }, destination.count - done)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }

    /// Reads and forgets bytes.
    ///
    /// - Returns: Whether they came before the end of input.
    package func skip(_ count: UInt64) -> Bool {
        var rest = count
        return withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 16) { room in
            while rest > 0 {
                let part = UnsafeMutableRawBufferPointer(rebasing: room[..<Int(min(rest, UInt64(room.count)))])
                guard readExactly(into: part) else { return false }
                rest -= UInt64(part.count)
            }
            return true
        }
    }

    /// Writes all bytes.
    ///
    /// - Returns: Whether the other side took them.
    @discardableResult
    package func writeAll(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = write(output, bytes.baseAddress.map { $0 + done }, bytes.count - done)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }

    private func fill() -> Bool {
        while true {
            let count = withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 16) { room in
                let count = read(input, room.baseAddress, room.count)
                if count > 0 { buffer.append(contentsOf: UnsafeRawBufferPointer(rebasing: room[..<count])) }
                return count
            }
            if count < 0, errno == EINTR { continue }
            return count > 0
        }
    }
}
