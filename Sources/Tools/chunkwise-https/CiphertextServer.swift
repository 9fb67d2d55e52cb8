import ByteSources
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import RandomAccess
import Synchronization

/// A server of ranges on this machine, for measurements and vectors over HTTP and TLS.
///
/// It is as simple as can be, and answers what an `HTTPSource` asks: one range of one object, over HTTP/1.1.
final class CiphertextServer: LoopbackServer {
    /// What is served, by number.
    final class Contents: Sendable {
        private let stored = Mutex<(objects: [Int: any ByteSource], next: Int)>(([:], 1))

        /// Adds an object and says under which number.
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
    /// Where the certificate is, for clients; `nil` without TLS.
    private let certificatePath: String?

    /// Starts a server on a port that is free.
    ///
    /// - Parameter isSecure: Whether it speaks TLS, with a certificate of its own.
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

    func withdraw(_ place: RemoteObject) {
        if let number = place.url.split(separator: "/").last.flatMap({ Int($0) }) { contents.remove(number) }
    }

    /// Writes what nobody but clients on this machine has to trust.
    private static func write(_ pem: String) throws -> String {
        let path = FileManager.default.temporaryDirectory
            .appending(path: "chunkwise-\(UUID().uuidString).pem").path(percentEncoded: false)
        try Data(pem.utf8).write(to: URL(filePath: path), options: .withoutOverwriting)
        return path
    }
}
