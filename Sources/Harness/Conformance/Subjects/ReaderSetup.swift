import RandomAccess
import Vectors

/// One of our readers, and the behaviour of its source.
package struct ReaderSetup: Hashable, Sendable, CustomStringConvertible {
    /// A reader of `RandomAccess`.
    package enum Access: Hashable, Sendable {
        /// `ReadCursor` with this window.
        case cursor(windowByteCount: Int)
        /// `ChunkCacheReader`; `byteCount` applies if the format has one chunk.
        case wholeChunk(byteCount: Int)
        /// `FreshBufferReader` with this window.
        case freshBuffers(windowByteCount: Int)
    }

    /// The behaviour of a source.
    package enum Supply: Hashable, Sendable {
        /// It delivers all bytes that are asked for.
        case whole
        /// It delivers at most `largest` bytes at a time.
        case shortReads(largest: Int)
        /// It fails, ends early, and then recovers, at each read.
        case faulty
    }

    /// The reader.
    package let access: Access
    /// The source.
    package let supply: Supply

    package init(_ access: Access, _ supply: Supply = .whole) {
        self.access = access
        self.supply = supply
    }

    /// The reader, its window or chunk, and the injected source fault.
    package var description: String {
        let reader =
            switch access {
            case .cursor(.max): "cursor"
            case .cursor(let window): "cursor window=\(window)"
            case .wholeChunk(let chunk): "whole chunks of \(chunk)"
            case .freshBuffers(.max): "fresh buffers"
            case .freshBuffers(let window): "fresh buffers window=\(window)"
            }
        return switch supply {
        case .whole: reader
        case .shortReads(let largest): "\(reader), reads of at most \(largest)"
        case .faulty: "\(reader), faulty source"
        }
    }

    /// Says whether the reader may deliver a range from bytes it kept, without a fetch.
    var keepsPlaintext: Bool {
        if case .wholeChunk = access { true } else { false }
    }

    /// The max number of plaintext bytes that are decrypted in one step.
    package var windowByteCount: Int {
        switch access {
        case .cursor(let byteCount), .wholeChunk(let byteCount), .freshBuffers(let byteCount): byteCount
        }
    }

    /// The window of a cursor whose fetches are judged; `nil` if they are not.
    var gradedWindowByteCount: Int? {
        if case .cursor(let window) = access, supply == .whole { window } else { nil }
    }

    /// The largest object whose ranges every reader gets.
    private static let smallByteCount: UInt64 = 1 << 16

    /// Returns the setups of a group's readers. The first one, a cursor with the group's first window, gets every read;
    /// the others share the reads.
    static func setups(of group: VectorGroup) -> [ReaderSetup] {
        let supplies = supplies(of: group)
        let window = group.windowByteCounts.first ?? .max
        let first = ReaderSetup(.cursor(windowByteCount: window), supplies.first ?? .whole)
        guard supplies.isEmpty else { return [first] + inTurn(of: group, supplies: supplies) }
        let windows = group.windowByteCounts.dropFirst().map { ReaderSetup(.cursor(windowByteCount: $0)) }
        return [first] + windows + others(of: group)
    }

    /// Returns the behaviours of the source that the group calls for; empty if it accepts any.
    private static func supplies(of group: VectorGroup) -> [Supply] {
        switch group.supply {
        case .any: []
        case .whole: [.whole]
        // The first one gets every read, and single bytes take long. A long object comes in 17 to 1,502 bytes at a
        // time.
        case .shortReads:
            [7, 1, 15, 16, 17, 31, 33, 64, 100].map { count in
                .shortReads(largest: group.ciphertext.byteCount <= smallByteCount ? count : 15 * count + 2)
            }
        case .failing, .endingEarly, .recovering, .changing: [.faulty]
        }
    }

    private static func inTurn(of group: VectorGroup, supplies: [Supply]) -> [ReaderSetup] {
        var accesses = group.windowByteCounts.dropFirst().map { Access.cursor(windowByteCount: $0) }
        accesses += [
            .freshBuffers(windowByteCount: 32), .wholeChunk(byteCount: 48), .freshBuffers(windowByteCount: .max),
        ]
        let count = max(accesses.count, supplies.count)
        return (0..<count).map { ReaderSetup(accesses[$0 % accesses.count], supplies[$0 % supplies.count]) }
    }

    /// Returns the readers that every group gets. If chunks are authenticated, the reader of whole chunks is left out,
    /// since the bytes that it reads beyond the range may have been changed. Short reads are then longer, since each of
    /// our readers fetches a chunk.
    private static func others(of group: VectorGroup) -> [ReaderSetup] {
        let setups = all(for: group)
        guard group.strategy.isAuthenticated else { return setups }
        return setups.compactMap { setup in
            switch (setup.access, setup.supply) {
            case (.wholeChunk, _): nil
            case (_, .shortReads(let largest)): ReaderSetup(setup.access, .shortReads(largest: 256 * largest + 1))
            default: setup
            }
        }
    }

    /// Objects and chunks of more than 64 KiB are not read with the reader that decrypts them whole for each byte.
    private static func all(for group: VectorGroup) -> [ReaderSetup] {
        if !group.hasStrategy {
            return [
                ReaderSetup(.cursor(windowByteCount: .max), .shortReads(largest: 1)),
                ReaderSetup(.cursor(windowByteCount: 32)),
                ReaderSetup(.cursor(windowByteCount: .max), .faulty),
                ReaderSetup(.cursor(windowByteCount: 16), .shortReads(largest: 7)),
                ReaderSetup(.cursor(windowByteCount: 17), .faulty),
            ]
        }
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
