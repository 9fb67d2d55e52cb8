package import RandomAccess
import SubjectProtocol
internal import Support

/// The strategies of the vectors, which `data/strategies.json` lists by their use.
extension VectorSet {
    /// Returns formats without tags, the simplest first. They cover each way in which a block depends on earlier
    /// blocks, on an IV and on its chunk, with and without padding.
    ///
    /// - Parameters:
    ///   - chunkByteCount: The length of the chunks, if the format has chunks.
    ///   - iv: Returns the IV for the index of a format among these.
    /// - Returns: The strategies.
    package static func plain(chunkByteCount: UInt64, iv: (Int) -> Block) -> [Strategy] {
        plainStrategies.map { strategy in
            strategy.withChunks(of: chunkByteCount).changingIV { _ in
                iv(plainNames.firstIndex(of: strategy.name) ?? 0).bigEndianValue
            }
        }
    }

    /// Returns the same strategies, all with one IV. The CBC ones with padding come before those without.
    package static func plain(chunkByteCount: UInt64, iv: Block) -> [Strategy] {
        plain(chunkByteCount: chunkByteCount) { _ in iv }
    }

    /// Returns one of these strategies in chunks, whose IVs are all the same or follow each other.
    package static func chunked(
        _ byteCount: UInt64, iv: Block, isOneIV: Bool = false, padding: Padding
    ) -> Strategy {
        let strategy = plain(chunkByteCount: byteCount, iv: iv).first { strategy in
            strategy.chunkByteCount != nil && strategy.padding == padding && strategy.hasOneIV == isOneIV
        }
        guard let strategy else { preconditionFailure("chunks without tags are among the strategies") }
        return strategy
    }

    /// Says whether a format is a textbook one without tags, which is in the list `plain`.
    package static func isPlain(_ format: Format) -> Bool { plainStrategies.contains { $0.format == format } }

    /// Says whether a format has vectors that are not derived from its description, since it is in a list.
    package static func isListed(_ format: Format) -> Bool { listedNames.contains(format.name) }

    private static let listedNames = Set((plainStrategies + tagged + long).map(\.name))
    private static let plainStrategies = listed("plain")
    private static let plainNames = plainStrategies.map(\.name).reduce(into: [String]()) { names, name in
        if !names.contains(name) { names.append(name) }
    }

    /// Formats with tags and small chunks, as they are used in practice.
    package static let tagged = listed("tagged")

    /// Formats with large chunks.
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
    /// Returns the same strategy with another chunk length, if it has chunks.
    func withChunks(of byteCount: UInt64) -> Strategy {
        guard case .name(let name)? = format.chunk?.expression else { return self }
        return replacing(name, with: .integer(Int128(byteCount)))
    }

    /// Returns the strategy of the same object with another binding, if it has a binding.
    func bound(to bytes: [UInt8]) -> Strategy {
        guard let input = format.inputs.first(where: { $0.kind == .bytes(nil) }) else { return self }
        return replacing(input.name, with: .bytes(ByteString(bytes)))
    }

    /// The bytes to which the object is bound; `nil` if the format has no such bytes.
    var binding: [UInt8]? {
        format.inputs.first { $0.kind == .bytes(nil) }.flatMap { self[$0.name]?.bytes?.array }
    }

    /// Says whether all chunks start with the same IV.
    package var hasOneIV: Bool { (try? facts().hasOwnNonces) == false }

    /// The strategy's text for identifiers: without its IV, and with the length of long bytes instead of the bytes.
    package var label: String {
        let isShort = format.inputs.allSatisfy { input in
            input.kind != .bytes(nil) || (self[input.name]?.bytes?.count ?? 0) <= 16
        }
        if isShort { return text }
        return unbound.text + " bound to \(binding?.count ?? 0) bytes"
    }
}
