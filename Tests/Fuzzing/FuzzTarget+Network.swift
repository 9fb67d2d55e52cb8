#if Network
import HTTPSources
import Keys
import NIOCore
import NIOEmbedded
import NIOPosix
import Server
import Synchronization

extension FuzzTarget {
    /// Parsers of what comes over a network.
    static let network: [FuzzTarget] = [
        FuzzTarget("range", "Sources/Streaming/Server") { bytes in
            let header = RangeHeader(String(decoding: bytes, as: UTF8.self))
            for count: UInt64 in [0, 1, 1000, .max] { _ = header.selection(byteCount: count) }
        },
        FuzzTarget("content-range", "Sources/Streaming/HTTPSources/HTTP/RangeFetch.swift") { bytes in
            guard let content = ContentRange(String(decoding: bytes, as: UTF8.self)) else { return }
            let (end, total) = (content.range?.upperBound ?? 0, content.total ?? .max)
            expect(end <= total, "a range behind the end")
        },
        FuzzTarget("request-head", "Sources/Streaming/Server/HTTP") { bytes in
            let whole = requests(bytes, pieces: bytes.count)
            expect(requests(bytes, pieces: 1) == whole, "in other pieces, it asks for something else")
        },
        FuzzTarget("entity-tags", "Sources/Streaming/Server") { bytes in
            _ = EntityTagList(String(decoding: bytes, as: UTF8.self))
        },
        FuzzTarget("date", "Sources/Streaming/Server") { bytes in
            guard let seconds = HTTPDate.seconds(String(decoding: bytes, as: UTF8.self)) else { return }
            expect(HTTPDate.seconds(HTTPDate.text(seconds)) == seconds, "what is written is another date")
        },
        FuzzTarget("request-target", "Sources/Streaming/Server") { bytes in
            guard let target = try? RequestTarget(String(decoding: bytes, as: UTF8.self)) else { return }
            expect(!target.path.contains { $0.isEmpty || $0 == ".." || $0.contains("/") }, "a path that climbs")
        },
        FuzzTarget("key-request", "Sources/Streaming/Keys/Sealed") { bytes in _ = try? KeyRequest(bytes) },
        FuzzTarget("key-answer", "Sources/Streaming/Keys/Sealed") { bytes in _ = try? ParsedAnswer(bytes) },
    ]

    /// The requests of a connection to the server, as text, up to where the server would close it.
    private static func requests(_ bytes: [UInt8], pieces: Int) -> [String] {
        let (channel, asked) = (EmbeddedChannel(), AskedRequests())
        defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
        do {
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
            let setup = HTTPConnection.Setup(limits: ServerLimits(), tls: nil, lookups: .singleton, responder: asked)
            try setup.addHandlers(to: channel.pipeline.syncOperations, address: "127.0.0.1")
            for start in stride(from: 0, to: bytes.count, by: max(1, pieces)) {
                let piece = bytes[start..<min(start + max(1, pieces), bytes.count)]
                try channel.writeInbound(ByteBuffer(bytes: piece))
            }
        } catch {}
        return asked.requests.withLock { $0 }
    }
}

/// Notes requests, and answers each at once.
private final class AskedRequests: Responder {
    let requests = Mutex<[String]>([])

    var keptBodyByteCount: Int { 64 }

    func respond(to request: Request, _ exchange: Exchange) {
        requests.withLock { $0.append("\(request.method) \(request.target) \(request.fields)") }
        exchange.send(Reply(status: .ok))
    }
}
#else
extension FuzzTarget {
    static let network: [FuzzTarget] = []
}
#endif
