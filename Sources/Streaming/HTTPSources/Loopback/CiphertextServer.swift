#if Network
import ByteSources
import Crypto
import FoundationEssentials
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import RandomAccess
import SwiftASN1
import Synchronization
import X509

/// A server of ranges on this machine, for measurements and vectors over HTTP and TLS.
///
/// It is simple, and answers only the requests of an `HTTPSource`: one range of one object, over HTTP/1.1.
final class CiphertextServer: LoopbackServer {
    /// The served objects, by number.
    final class Contents: Sendable {
        private let stored = Mutex<(objects: [Int: any ByteSource], next: Int)>(([:], 1))

        /// Adds an object and returns its number.
        func add(_ source: any ByteSource) -> Int {
            stored.withLock { stored in
                stored.objects[stored.next] = source
                stored.next += 1
                return stored.next - 1
            }
        }

        func remove(_ number: Int) {
            stored.withLock { _ = $0.objects.removeValue(forKey: number) }
        }

        subscript(number: Int) -> (any ByteSource)? { stored.withLock { $0.objects[number] } }
    }

    private let contents = Contents()
    private let channel: any Channel
    private let port: Int
    /// The path of the certificate for clients; `nil` without TLS.
    private let certificatePath: String?

    /// Starts a server on a free port.
    ///
    /// - Parameter isSecure: True if the server speaks TLS, with a certificate of its own.
    /// - Throws: `DecryptionError.io`.
    init(isSecure: Bool) throws(DecryptionError) {
        let certificate = isSecure ? try OwnCertificate() : nil
        do {
            let context = try certificate.map { try NIOSSLContext(configuration: $0.configuration) }
            channel = try ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.backlog, value: 256)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
                .childChannelOption(.writeBufferWaterMark, value: .init(low: 1 << 19, high: 1 << 20))
                .childChannelInitializer { [contents] channel in
                    channel.eventLoop.makeCompletedFuture {
                        if let context {
                            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                        }
                        try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                        try channel.pipeline.syncOperations.addHandler(CiphertextHandler(contents))
                    }
                }
                .bind(host: "127.0.0.1", port: 0).wait()
            port = channel.localAddress?.port ?? 0
            certificatePath = try certificate.map { try Self.write($0.pem) }
        } catch {
            throw .io(operation: "start a server on 127.0.0.1", code: 0, reason: "\(error)")
        }
    }

    deinit {
        channel.close(promise: nil)
        if let certificatePath { try? FileManager.default.removeItem(atPath: certificatePath) }
    }

    func offer(_ source: any ByteSource) -> RemoteObject {
        let tls = TLSSwitches(certificateFile: certificatePath)
        let scheme = certificatePath == nil ? "http" : "https"
        return RemoteObject(url: "\(scheme)://127.0.0.1:\(port)/\(contents.add(source))", tls: tls)
    }

    func withdraw(_ object: RemoteObject) {
        if let number = object.url.split(separator: "/").last.flatMap({ Int($0) }) { contents.remove(number) }
    }

    /// Writes the certificate, which only clients on this machine have to trust.
    private static func write(_ pem: String) throws -> String {
        let path = FileManager.default.temporaryDirectory
            .appending(path: "chunkwise-\(UUID().uuidString).pem").path(percentEncoded: false)
        try Data(pem.utf8).write(to: URL(filePath: path), options: .withoutOverwriting)
        return path
    }
}

/// Answers requests for ranges on one connection, one after the other, as fast as the client takes them.
final class CiphertextHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// A running answer.
    private struct Answer {
        var source: any ByteSource
        var rest: Range<UInt64>
        var closes: Bool
    }

    private static let pieceByteCount = 256 << 10

    private let contents: CiphertextServer.Contents
    private var request: HTTPRequestHead?
    private var answer: Answer?

    init(_ contents: CiphertextServer.Contents) {
        self.contents = contents
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): request = head
        case .body: break
        case .end:
            guard let request else { return }
            self.request = nil
            start(request, context)
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        proceed(context)
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func start(_ request: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let source = Int(request.uri.dropFirst()).flatMap { contents[$0] }
        var fields = HTTPHeaders([("Accept-Ranges", "bytes")])
        let closes = !request.isKeepAlive
        if closes { fields.add(name: "Connection", value: "close") }
        guard let source else { return finish(.notFound, fields, closes: closes, context) }
        fields.add(name: "ETag", value: "\"\(source.byteCount)\"")
        guard let range = Self.range(request.headers.first(name: "Range") ?? "", of: source.byteCount) else {
            fields.add(name: "Content-Range", value: "bytes */\(source.byteCount)")
            return finish(.rangeNotSatisfiable, fields, closes: closes, context)
        }
        fields.add(
            name: "Content-Range", value: "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(source.byteCount)")
        fields.add(name: "Content-Length", value: "\(range.upperBound - range.lowerBound)")
        let head = HTTPResponseHead(version: .http1_1, status: .partialContent, headers: fields)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        answer = Answer(source: source, rest: range, closes: closes)
        proceed(context)
    }

    /// Writes pieces while the client takes them.
    private func proceed(_ context: ChannelHandlerContext) {
        while var answer, context.channel.isWritable {
            guard !answer.rest.isEmpty else {
                self.answer = nil
                end(closes: answer.closes, context)
                return
            }
            var buffer = context.channel.allocator.buffer(capacity: Self.pieceByteCount)
            let wanted = Int(min(UInt64(Self.pieceByteCount), UInt64(answer.rest.count)))
            let count = try? buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: wanted) { free in
                try answer.source.read(
                    at: answer.rest.lowerBound,
                    into: FetchBuffers(UnsafeMutableRawBufferPointer(rebasing: free[..<wanted])))
            }
            guard let count, count > 0 else {
                // The client notices that bytes are missing.
                self.answer = nil
                context.close(promise: nil)
                return
            }
            answer.rest = answer.rest.lowerBound + UInt64(count)..<answer.rest.upperBound
            self.answer = answer
            context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(buffer))), promise: nil)
        }
    }

    private func finish(
        _ status: HTTPResponseStatus, _ fields: HTTPHeaders, closes: Bool, _ context: ChannelHandlerContext
    ) {
        var fields = fields
        fields.add(name: "Content-Length", value: "0")
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: fields)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        end(closes: closes, context)
    }

    private func end(closes: Bool, _ context: ChannelHandlerContext) {
        let promise = closes ? context.eventLoop.makePromise(of: Void.self) : nil
        let channel = context.channel
        promise?.futureResult.whenComplete { _ in channel.close(promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: promise)
    }

    /// Returns the range that a field asks for, cut at the object's end; `nil` if the object has no such range.
    private static func range(_ field: String, of byteCount: UInt64) -> Range<UInt64>? {
        let ends = field.dropFirst("bytes=".count).split(separator: "-")
        guard field.hasPrefix("bytes="), ends.count == 2, let first = UInt64(ends[0]), let last = UInt64(ends[1]),
            first <= last, first < byteCount
        else { return nil }
        return first..<min(last, byteCount - 1) + 1
    }
}

/// A certificate for this machine, made for one server and valid for a day.
struct OwnCertificate {
    /// The server's certificate and its private key.
    let configuration: TLSConfiguration
    /// The certificate as PEM, for clients that must trust it.
    let pem: String

    /// Makes a key and a certificate.
    ///
    /// - Throws: `DecryptionError.io` if the libraries fail.
    init() throws(DecryptionError) {
        do {
            let key = P256.Signing.PrivateKey()
            let name = try DistinguishedName { CommonName("chunkwise loopback") }
            let now = Date()
            let certificate = try Certificate(
                version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: .init(key.publicKey),
                notValidBefore: now.addingTimeInterval(-3600), notValidAfter: now.addingTimeInterval(86_400),
                issuer: name, subject: name,
                signatureAlgorithm: .ecdsaWithSHA256,
                extensions: try Certificate.Extensions {
                    Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                    try ExtendedKeyUsage([.serverAuth])
                    SubjectAlternativeNames([
                        .dnsName("localhost"), .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])),
                    ])
                },
                issuerPrivateKey: .init(key))
            pem = try certificate.serializeAsPEM().pemString
            configuration = .makeServerConfiguration(
                certificateChain: [.certificate(try NIOSSLCertificate(bytes: Array(pem.utf8), format: .pem))],
                privateKey: .privateKey(
                    try NIOSSLPrivateKey(bytes: Array(key.pemRepresentation.utf8), format: .pem)))
        } catch {
            throw .io(operation: "make a certificate", code: 0, reason: "\(error)")
        }
    }
}
#endif
