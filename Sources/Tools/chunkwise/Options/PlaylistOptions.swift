public import ArgumentParser
import HLS
import RandomAccess
import SystemPackage

/// The options of the strategy hls-aes128, whose input is a playlist.
struct PlaylistOptions: ParsableArguments {
    @Option(
        help: .taking(
            "folder",
            "hls-aes128: the folder that nothing in the playlist, keys included, may lead out of. (default: the one that the playlist lies in)"
        ), completion: .directory)
    var root: String?

    @Option(
        help: .taking(
            "number", "hls-aes128: which variant of a master playlist, from 0. (default: that of the highest bandwidth)"
        ))
    var variant: Int?

    @Flag(
        help:
            "hls-aes128, pieces: go on where a piece is missing, broken or marked by EXT-X-GAP: the rest is written, what is missing is named, and the exit code is 1."
    )
    var keepGoing = false

    /// Refuses options that another strategy has no use for.
    ///
    /// - Parameters:
    ///   - strategy: The strategy.
    ///   - isList: `true` if its file is a list of pieces, of which some may be missing.
    /// - Throws: `CommandFailure`.
    func refuse(with strategy: String, isList: Bool = false) throws {
        try require(!keepGoing || isList, "--keep-going: expected none with the strategy \(strategy)")
        for case (let name, let value?) in [("--root", root), ("--variant", variant.map { "\($0)" })] {
            throw CommandFailure(.usage, "\(name) \(value): expected none with the strategy \(strategy)")
        }
    }
}

/// Readings of byte ranges that are not what RFC 8216 says.
struct ByteRangeOptions: ParsableArguments {
    @Option(
        help: .taking(
            "reading",
            "hls-aes128: what EXT-X-BYTERANGE of an encrypted segment counts; see docs/serving.md. (default: as RFC 8216 has it)"
        ))
    var segmentRanges: ByteRangeReading?

    @Option(help: .taking("reading", "hls-aes128: what the BYTERANGE of an encrypted EXT-X-MAP counts, likewise."))
    var mapRanges: ByteRangeReading?

    init() {}

    /// The readings that are given.
    var readings: ByteRangeReadings { ByteRangeReadings(segments: segmentRanges, sections: mapRanges) }

    /// Refuses options that another strategy has no use for.
    func refuse(with strategy: String) throws {
        for case (let name, let value?) in [("--segment-ranges", segmentRanges), ("--map-ranges", mapRanges)] {
            throw CommandFailure(.usage, "\(name) \(value): expected none with the strategy \(strategy)")
        }
    }
}

extension ByteRangeReading: ExpressibleByArgument {}
