package import RandomAccess
import SubjectProtocol
internal import Support

/// The strategies of the vectors, which `data/strategies.json` lists by what they are for.
extension VectorSet {
    /// Formats without tags, the simplest first: each way in which a block depends on those before it, on an IV, and on
    /// its chunk; with and without padding.
    ///
    /// - Parameters:
    ///   - chunkByteCount: The chunks' length, where there are chunks.
    ///   - iv: The IV, given the number of the format among these.
    /// - Returns: The strategies.
    package static func plain(chunkByteCount: UInt64, iv: (Int) -> Block) -> [Strategy] {
        plainStrategies.map { strategy in
            strategy.withChunks(of: chunkByteCount).changingIV { _ in
                iv(plainNames.firstIndex(of: strategy.name) ?? 0).bigEndianValue
            }
        }
    }

    /// The same with one IV, of which padded ones come first where they are chains.
    package static func plain(chunkByteCount: UInt64, iv: Block) -> [Strategy] {
        plain(chunkByteCount: chunkByteCount) { _ in iv }
    }

    /// One of them: in chunks, whose IVs are one and the same or follow each other.
    package static func chunked(
        _ byteCount: UInt64, iv: Block, isOneIV: Bool = false, padding: Padding
    ) -> Strategy {
        let strategy = plain(chunkByteCount: byteCount, iv: iv).first { strategy in
            strategy.chunkByteCount != nil && strategy.padding == padding && strategy.hasOneIV == isOneIV
        }
        guard let strategy else { preconditionFailure("chunks without tags are among the strategies") }
        return strategy
    }

    /// Says whether a strategy is of a format without tags that textbooks have: a list has it.
    package static func isPlain(_ format: Format) -> Bool { plainStrategies.contains { $0.format == format } }

    /// Says whether a format has vectors that do not follow from its description: a list has it.
    package static func isListed(_ format: Format) -> Bool { listedNames.contains(format.name) }

    private static let listedNames = Set((plainStrategies + tagged + long).map(\.name))
    private static let plainStrategies = listed("plain")
    private static let plainNames = plainStrategies.map(\.name).reduce(into: [String]()) { names, name in
        if !names.contains(name) { names.append(name) }
    }

    /// Formats with tags and small chunks, as people use them.
    package static let tagged = listed("tagged")

    /// One with large chunks.
    static let long = listed("long")

    private static func listed(_ use: String) -> [Strategy] {
        made("data/strategies.json") { () throws(DecryptionError) in
            let lists = JSONValue.parse(PackageResources.strategies_json)
            var strategies: [Strategy] = []
            for text in lists?[use]?.array ?? [] {
                strategies.append(try Strategy(text: text.string ?? "", iv: iv(0).bytes))
            }
            return strategies
        }
    }
}

extension Strategy {
    /// The same strategy in chunks of another length, where there are chunks.
    func withChunks(of byteCount: UInt64) -> Strategy {
        guard case .name(let name)? = format.chunk?.expression else { return self }
        return replacing(name, with: .integer(Int128(byteCount)))
    }

    /// The same strategy of an object that is bound to something else, where it is bound to anything.
    func bound(to bytes: [UInt8]) -> Strategy {
        guard let input = format.inputs.first(where: { $0.kind == .bytes(nil) }) else { return self }
        return replacing(input.name, with: .bytes(ByteString(bytes)))
    }

    /// What the object is bound to; `nil` where there is no such thing.
    var binding: [UInt8]? {
        format.inputs.first { $0.kind == .bytes(nil) }.flatMap { self[$0.name]?.bytes?.array }
    }

    /// Says whether all chunks start from one IV.
    package var hasOneIV: Bool { (try? facts().hasOwnNonces) == false }

    /// The strategy's text without its IV, in which long bytes are only counted: for identifiers.
    package var label: String {
        let isShort = format.inputs.allSatisfy { input in
            input.kind != .bytes(nil) || (self[input.name]?.bytes?.count ?? 0) <= 16
        }
        if isShort { return text }
        return unbound.text + " bound to \(binding?.count ?? 0) bytes"
    }
}
