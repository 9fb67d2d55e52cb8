/// A class of bugs that only a subject in another process can have, in addition to those of ``Vectors/VectorFlag``.
package enum ExternalFlag: String, CaseIterable, Sendable {
    /// Requests, answers and errors.
    case subjectProtocol = "Protocol"
    /// Requests with two faults.
    case errorOrder = "ErrorOrder"
    /// The subject's process ends when it should.
    case ending = "Ending"
    /// Fetched ciphertext.
    case fetches = "Fetches"
    /// The source delivers fewer bytes than asked for.
    case shortReads = "ShortReads"
    /// The source fails.
    case sourceFailure = "SourceFailure"
    /// The source ends before its announced length.
    case sourceEndsEarly = "SourceEndsEarly"
    /// Reads in another order than the file's.
    case readOrder = "ReadOrder"
    /// Reads of several objects in turn.
    case severalObjects = "SeveralObjects"
    /// A read after one that failed.
    case afterFailure = "AfterFailure"
    /// Reads from several threads at once.
    case threads = "Threads"
    /// Objects that are opened by their path.
    case path = "Path"
    /// Keys and IVs of invalid lengths.
    case wrongLengths = "WrongLengths"
    /// A file that is replaced under its path, or opened with another key.
    case staleFile = "StaleFile"
    /// The time of a read near the start and at large offsets.
    case growth = "GrowsWithOffset"
    /// Measurements.
    case measurement = "Measurement"

    /// A description of the fault in programs that fail such a check.
    package var explanation: String {
        switch self {
        case .subjectProtocol: "a request that cannot be is answered, or one that can be is not"
        case .errorOrder: "of two errors the later one is told, so that it depends on the source what a key is"
        case .ending: "a process is left behind, or ends as if it had failed"
        case .fetches: "more is fetched than a range needs, such as the file from its start"
        case .shortReads: "a read is taken to deliver all that was asked for"
        case .sourceFailure: "a failed read of the source is data, an end, or fatal"
        case .sourceEndsEarly: "a source that ends early gives zeros, old bytes, or a shorter read"
        case .readOrder: "a read depends on the one before it"
        case .severalObjects: "objects share a key, an IV, a cache or a position"
        case .afterFailure: "a failed read leaves a position, a chain or a buffer behind"
        case .threads: "readers that share an object disturb each other"
        case .path: "a file is read otherwise than what is served: from another place, or in parts"
        case .wrongLengths: "a key or an IV is filled up or cut, and decrypts to something else"
        case .staleFile: "what was kept of a file outlives it, or its key"
        case .growth: "a read far behind takes as long as decrypting all that is before it"
        case .measurement: "what is measured is not what was asked for"
        }
    }

    /// Advice on how to fix the finding, if it is the adapter's fault and no byte of plaintext depends on it; `nil` if
    /// it is the fault of the program that it adapts.
    package var mending: String? {
        switch self {
        case .subjectProtocol:
            "look at each member's presence, type and range before it is used, and answer invalidRequest"
        case .errorOrder: "check in this order: request, strategy, key, IV, source, its length, padding or tag"
        case .ending: "exit with status 0 after bye, and at the end of input"
        default: nil
        }
    }

    /// The origin of the class.
    package var source: String {
        switch self {
        case .subjectProtocol, .errorOrder, .ending, .severalObjects: "PROTOCOL.md, \"Transport\""
        case .fetches: "PROTOCOL.md, \"Served sources\"; TritonDataCenter/java-manta#207"
        case .shortReads, .sourceFailure, .sourceEndsEarly: "PROTOCOL.md, \"Served sources\""
        case .readOrder, .threads: "rclone/rclone#828"
        case .afterFailure: "PROTOCOL.md, \"read\""
        case .path: "PROTOCOL.md, \"open\""
        case .wrongLengths: "mpv-player/mpv#9078, martinbonnin/ExoPlayer#36"
        case .staleFile: "evermeer/EVURLCache#60, inab/WfExS-backend#290"
        case .growth: "pyca/cryptography#1669, #5254; TritonDataCenter/java-manta#562"
        case .measurement: "PROTOCOL.md, \"measure\""
        }
    }
}
