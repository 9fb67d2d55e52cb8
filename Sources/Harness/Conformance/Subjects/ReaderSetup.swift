/// Which of our readers is put to a vector, and how its source behaves.
package struct ReaderSetup: Hashable, Sendable, CustomStringConvertible {
    /// A reader of `RandomAccess`.
    package enum Access: Hashable, Sendable {
        /// `ReadCursor` with this window.
        case cursor(windowByteCount: Int)
        /// `WholeChunkReader`; the length counts where the format has one chunk.
        case wholeChunk(byteCount: Int)
        /// `FreshBufferReader` with this window.
        case freshBuffers(windowByteCount: Int)
    }

    /// How the source behaves.
    package enum Supply: Hashable, Sendable {
        /// It delivers what is asked for.
        case whole
        /// It delivers at most so many bytes at a time.
        case shortReads(largest: Int)
        /// It fails, ends early, and then recovers, at each read.
        case faulty
    }

    /// The reader.
    package let access: Access
    /// The source.
    package let supply: Supply

    /// Creates a setup.
    package init(_ access: Access, _ supply: Supply = .whole) {
        self.access = access
        self.supply = supply
    }

    /// The reader, its window or chunk, and what ails its source.
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

    /// Whether the reader may deliver a range from what it kept, without a fetch.
    var keepsPlaintext: Bool {
        if case .wholeChunk = access { true } else { false }
    }

    /// The most plaintext bytes that are decrypted in one step.
    package var windowByteCount: Int {
        switch access {
        case .cursor(let byteCount), .wholeChunk(let byteCount), .freshBuffers(let byteCount): byteCount
        }
    }

    /// The window of a cursor whose fetches are judged; `nil` where they are not.
    var gradedWindowByteCount: Int? {
        if case .cursor(let window) = access, supply == .whole { window } else { nil }
    }
}
