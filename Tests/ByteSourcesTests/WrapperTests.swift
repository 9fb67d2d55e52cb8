import ByteSources
import RandomAccess
import Testing

@Suite("sources around sources")
struct WrapperTests {
    private let content = (0..<100).map { UInt8($0) }

    private func fetch(_ source: any ByteSource, at offset: UInt64, count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        try bytes.withUnsafeMutableBytes { bytes in
            // Three buffers of uneven lengths.
            let (a, b) = (count / 5, count / 2)
            try source.fetch(
                at: offset,
                into: FetchBuffers(
                    head: UnsafeMutableRawBufferPointer(rebasing: bytes[..<a]),
                    body: UnsafeMutableRawBufferPointer(rebasing: bytes[a..<b]),
                    tail: UnsafeMutableRawBufferPointer(rebasing: bytes[b...])))
        }
        return bytes
    }

    @Test("short reads add up", arguments: 1...40)
    func shortReads(largest: Int) throws {
        let source = ShortReadingSource(MemorySource(content), largestRead: largest)
        for (offset, count) in [(0, 100), (3, 37), (99, 1), (100, 0)] {
            #expect(try fetch(source, at: UInt64(offset), count: count) == Array(content[offset..<offset + count]))
        }
    }

    @Test("a recording has what was delivered")
    func recording() throws {
        let source = RecordingSource(
            ShortReadingSource(MemorySource(content), largestRead: 30), keepsRanges: true)
        _ = try fetch(source, at: 10, count: 40)
        #expect(source.ranges == [10..<40, 40..<50])
        #expect(source.fetchedByteCount == 40)
        source.reset()
        #expect(source.ranges.isEmpty && source.fetchedByteCount == 0)
    }

    @Test("faults happen and pass")
    func faults() throws {
        let source = FaultySource(MemorySource(content))
        source.inject(.failure)
        #expect { try fetch(source, at: 0, count: 1) } throws: { ($0 as? DecryptionError)?.protocolName == "io" }
        source.inject(.end(at: 50))
        #expect(try fetch(source, at: 0, count: 50) == Array(content[..<50]))
        #expect {
            try fetch(source, at: 0, count: 51)
        } throws: { ($0 as? DecryptionError)?.protocolName == "truncatedCiphertext" }
        source.inject(.none)
        #expect(try fetch(source, at: 0, count: 100) == content)
    }
}
