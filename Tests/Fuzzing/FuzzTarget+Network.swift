#if Network
import HTTPSources
import Server

extension FuzzTarget {
    /// Parsers of what comes over a network.
    static let network: [FuzzTarget] = [
        FuzzTarget("range") { bytes in
            let header = RangeHeader(String(decoding: bytes, as: UTF8.self))
            for count in [0, 1, 1000, UInt64.max] { _ = header.selection(byteCount: count) }
        },
        FuzzTarget("entity-tags") { bytes in _ = EntityTagList(String(decoding: bytes, as: UTF8.self)) },
        FuzzTarget("date") { bytes in
            guard let seconds = HTTPDate.seconds(String(decoding: bytes, as: UTF8.self)) else { return }
            expect(HTTPDate.seconds(HTTPDate.text(seconds)) == seconds, "what is written is another date")
        },
        FuzzTarget("request-target") { bytes in
            guard let target = try? RequestTarget(String(decoding: bytes, as: UTF8.self)) else { return }
            expect(!target.path.contains { $0.isEmpty || $0 == ".." || $0.contains("/") }, "a path that climbs")
        },
    ]
}
#else
extension FuzzTarget {
    static let network: [FuzzTarget] = []
}
#endif
