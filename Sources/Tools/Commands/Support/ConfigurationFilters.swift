import ArgumentParser
import CommandOptions
import Measurement
import Report
import Subject
import Support

/// Which of the measured configurations may be taken; what is not given may be anything.
struct ConfigurationFilters: ParsableArguments {
    @Option(help: "Only this crypto library.")
    var backend: String?

    @Option(help: "Only this strategy, such as cbc-continuous.")
    var strategy: String?

    @Option(
        help: ArgumentHelp("Only chunks of this length, such as 16MB.", valueName: "size"),
        transform: ByteSize.argument)
    var chunkSize: ByteSize?

    @Option(help: "Only this access: block, chunk-cache, whole-chunk or fresh-buffers.")
    var access: AccessPolicy?

    @Option(help: "Only this many threads.")
    var threads: Int?

    @Option(help: "Only keys of this many bits: 128, 192 or 256.")
    var keySize: Int?

    @Option(help: "Only this source, such as file or mmap.")
    var source: String?

    @Option(
        help: ArgumentHelp("Only objects of this length, such as 200MiB.", valueName: "size"),
        transform: ByteSize.argument)
    var objectSize: ByteSize?

    @Flag(help: "Choose from files that were not in the page cache.")
    var cold = false

    @Flag(help: "Choose from objects behind a simulated remote store.")
    var remote = false

    /// Reads the options.
    func request() throws -> RecommendationRequest {
        var request = RecommendationRequest()
        request.backend = backend
        request.strategy = strategy
        request.chunkByteCount = chunkSize?.byteCount
        request.access = access?.rawValue
        if let threads { request.threads = try Validated.threads(threads) }
        if let keySize {
            guard [128, 192, 256].contains(keySize) else {
                throw CommandFailure(.usage, "--key-size \(keySize): expected 128, 192 or 256")
            }
            request.keyByteCount = keySize / 8
        }
        request.source = source
        request.objectByteCount = objectSize?.byteCount
        request.isCold = cold
        request.isRemote = remote
        return request
    }
}
