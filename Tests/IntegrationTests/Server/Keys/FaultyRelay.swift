import Foundation
import Glibc
import Synchronization

/// Stands between a client and a server of this machine, and does one thing wrong on each connection.
final class FaultyRelay: Sendable {
    /// A fault at a byte of one direction.
    enum Fault: Hashable, CaseIterable {
        case cut
        case reset
        case flip
        case drop
        case double
        case insert
    }

    /// The fault of the connections from now on.
    struct Plan: Sendable {
        var fault: Fault
        /// True if it changes the server's bytes, not the client's.
        var isAnswer: Bool
        var place: Int
        var bit: UInt8
    }

    /// The port that it listens on.
    let port: UInt16

    private let listener: Int32
    private let target: UInt16
    private let plan = Mutex<Plan?>(nil)

    /// Listens, and connects to `target` for each client.
    init(to target: UInt16) throws {
        self.target = target
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = Self.address(0)
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        var count = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &count) }
        }
        guard bound == 0, listen(descriptor, 64) == 0 else { throw ServerFailure("no relay") }
        port = UInt16(bigEndian: address.sin_port)
        listener = descriptor
        Thread { [weak self] in
            while true {
                let client = accept(descriptor, nil, nil)
                guard client >= 0, let self else { return }
                Self.relay(client, to: target, self.plan.withLock { $0 })
            }
        }.start()
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// Says what is done next.
    func set(_ plan: Plan?) { self.plan.withLock { $0 = plan } }

    private static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private static func relay(_ client: Int32, to port: UInt16, _ plan: Plan?) {
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = address(port)
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else {
            close(server)
            close(client)
            return
        }
        let rest = Mutex(2)
        let ends = Ends(count: rest, descriptors: [client, server])
        Thread { pump(client, server, plan?.isAnswer == false ? plan : nil, ends) }.start()
        Thread { pump(server, client, plan?.isAnswer == true ? plan : nil, ends) }.start()
    }

    /// Closes both connections when both directions are done.
    private final class Ends: Sendable {
        private let count: Mutex<Int>
        private let descriptors: [Int32]

        init(count: consuming Mutex<Int>, descriptors: [Int32]) {
            self.count = count
            self.descriptors = descriptors
        }

        /// Ends one direction, and with it the other.
        func finish(isReset: Bool) {
            for descriptor in descriptors {
                if isReset {
                    var lingering = linger(l_onoff: 1, l_linger: 0)
                    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &lingering, socklen_t(MemoryLayout<linger>.size))
                }
                shutdown(descriptor, Int32(SHUT_RDWR))
            }
            let isLast = count.withLock { count in
                count -= 1
                return count == 0
            }
            if isLast { descriptors.forEach { close($0) } }
        }
    }

    private static func pump(_ source: Int32, _ sink: Int32, _ plan: Plan?, _ ends: Ends) {
        var passed = 0
        var isReset = false
        reading: while true {
            var bytes = [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
                count = max(0, recv(source, buffer.baseAddress, buffer.count, 0))
            }
            guard !bytes.isEmpty else { break }
            let count = bytes.count
            var isOver = false
            if let plan, (passed..<passed + count).contains(plan.place) {
                let place = plan.place - passed
                switch plan.fault {
                case .cut, .reset:
                    bytes.removeSubrange(place...)
                    isOver = true
                    isReset = plan.fault == .reset
                case .flip: bytes[place] ^= plan.bit
                case .drop: bytes.remove(at: place)
                case .double: bytes.insert(contentsOf: bytes[place...], at: place)
                case .insert: bytes.insert(plan.bit, at: place)
                }
            }
            passed += count
            var sent = 0
            while sent < bytes.count {
                let count = bytes[sent...].withUnsafeBytes {
                    Glibc.send(sink, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { break reading }
                sent += count
            }
            if isOver { break }
        }
        ends.finish(isReset: isReset)
    }
}
