public import ArgumentParser
import HLS

/// The options of the strategy hls-aes128, whose input is a playlist.
struct PlaylistOptions: ParsableArguments {
    @Option(
        help: .taking(
            "folder",
            """
            hls-aes128: the folder in which all URIs of the playlist, including keys, must stay. (default: the folder \
            of the playlist)
            """), completion: .directory)
    var root: String?

    @Option(
        help: .taking(
            "number", "hls-aes128: the variant of a master playlist, from 0. (default: the one of highest bandwidth)"))
    var variant: Int?

    @Flag(
        help:
            """
            hls-aes128, pieces: skip a piece that is missing, broken or marked by EXT-X-GAP. decrypt writes the rest, \
            names the missing pieces, and exits with 1.
            """)
    var keepGoing = false

    /// Refuses options that do not apply to a strategy.
    ///
    /// - Parameters:
    ///   - strategy: The strategy.
    ///   - isList: `true` if its file is a list of pieces, some of which may be missing.
    /// - Throws: `CommandFailure`.
    func refuse(with strategy: String, isList: Bool = false) throws {
        try require(!keepGoing || isList, "--keep-going: expected none with the strategy \(strategy)")
        for case (let name, let value?) in [("--root", root), ("--variant", variant.map { "\($0)" })] {
            throw CommandFailure(.usage, "\(name) \(value): expected none with the strategy \(strategy)")
        }
    }
}

/// The options for readings of byte ranges that differ from RFC 8216.
struct ByteRangeOptions: ParsableArguments {
    @Option(
        help: .taking(
            "reading",
            """
            hls-aes128: the bytes that EXT-X-BYTERANGE of an encrypted segment counts; see docs/serving.md. (default: \
            as in RFC 8216)
            """))
    var segmentRanges: ByteRangeReading?

    @Option(help: .taking("reading", "hls-aes128: the same for the BYTERANGE of an encrypted EXT-X-MAP."))
    var mapRanges: ByteRangeReading?

    init() {}

    /// The readings that the user gives.
    var readings: ByteRangeReadings { ByteRangeReadings(segments: segmentRanges, sections: mapRanges) }

    /// Refuses options that do not apply to a strategy.
    func refuse(with strategy: String) throws {
        for case (let name, let value?) in [("--segment-ranges", segmentRanges), ("--map-ranges", mapRanges)] {
            throw CommandFailure(.usage, "\(name) \(value): expected none with the strategy \(strategy)")
        }
    }
}

extension ByteRangeReading: ExpressibleByArgument {}
