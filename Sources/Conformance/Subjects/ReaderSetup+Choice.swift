internal import RandomAccess
internal import Vectors

extension ReaderSetup {
    /// The largest object whose ranges every reader gets.
    private static let smallByteCount: UInt64 = 1 << 16

    /// The setups that get every read of a group: the cursor with the group's first window.
    static func forEveryRead(of group: VectorGroup) -> [ReaderSetup] {
        [ReaderSetup(.cursor(windowByteCount: group.windowByteCounts.first ?? .max))]
    }

    /// The setups that share the reads of a group: read *i* goes to setup *i* mod *n*, too.
    static func inTurn(of group: VectorGroup) -> [ReaderSetup] {
        group.windowByteCounts.dropFirst().map { ReaderSetup(.cursor(windowByteCount: $0)) } + others(of: group)
    }

    /// Objects and chunks of more than 64 KiB are spared the reader that decrypts them whole for each byte.
    private static func others(of group: VectorGroup) -> [ReaderSetup] {
        if group.ciphertext.byteCount <= smallByteCount {
            return [
                ReaderSetup(.cursor(windowByteCount: .max), .shortReads(largest: 1)),
                ReaderSetup(.freshBuffers(windowByteCount: 32)),
                ReaderSetup(.wholeChunk(byteCount: 48)),
                ReaderSetup(.cursor(windowByteCount: .max), .faulty),
                ReaderSetup(.freshBuffers(windowByteCount: .max), .shortReads(largest: 7)),
                ReaderSetup(.wholeChunk(byteCount: 64), .faulty),
                ReaderSetup(.cursor(windowByteCount: 32), .shortReads(largest: 17)),
                ReaderSetup(.freshBuffers(windowByteCount: 16), .faulty),
            ]
        }
        var setups = [
            ReaderSetup(.cursor(windowByteCount: .max), .shortReads(largest: 1000)),
            ReaderSetup(.freshBuffers(windowByteCount: group.windowByteCounts.first ?? .max)),
            ReaderSetup(.cursor(windowByteCount: .max), .faulty),
            ReaderSetup(.cursor(windowByteCount: 48)),
        ]
        if (group.strategy.chunkByteCount ?? smallByteCount) <= smallByteCount {
            setups.append(ReaderSetup(.wholeChunk(byteCount: Int(smallByteCount))))
        }
        return setups
    }
}
