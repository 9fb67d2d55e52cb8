import RandomAccess
import SwiftAESBackend
import Testing

@testable import KernelBackend

/// A kernel in this process: it takes pieces that are as small as asked for, and returns them bit by bit.
private final class FakeSocket: PieceSocket {
    let largestPieceByteCount: Int
    var maxBytesTaken = Int.max
    var maxBytesReturned = Int.max
    var failsAtReceive = false
    private(set) var resetCount = 0
    private(set) var sentCount = 0

    private let cipher: any CipherContext
    private var output: [UInt8] = []

    init(_ cipher: Cipher, _ direction: CipherDirection, key: SecretKey, largestPieceByteCount: Int) throws {
        self.cipher = try SwiftReference().makeContext(cipher, direction, key: key)
        self.largestPieceByteCount = largestPieceByteCount
    }

    func send(
        _ piece: UnsafeRawBufferPointer, direction: CipherDirection, iv: Block
    ) throws(DecryptionError) -> Int {
        #expect(output.isEmpty, "a piece is sent while another one is still inside")
        #expect(piece.count > 0 && piece.count <= largestPieceByteCount)
        var taken = Array(piece.prefix(maxBytesTaken))
        sentCount += 1
        do {
            try taken.withUnsafeMutableBytes { try cipher.process(inPlace: $0, iv: iv) }
        } catch {
            throw .backend(name: "fake", operation: "send", reason: "\(error)")
        }
        output = taken
        return taken.count
    }

    func receive(into buffer: UnsafeMutableRawBufferPointer) throws(DecryptionError) -> Int {
        #expect(buffer.count == output.count, "asked for what never comes, or not for all")
        if failsAtReceive { throw .backend(name: "fake", operation: "receive", reason: "as asked for") }
        let count = min(output.count, maxBytesReturned)
        buffer.copyBytes(from: output.prefix(count))
        output.removeFirst(count)
        return count
    }

    func reset() {
        resetCount += 1
        output = []
    }
}

private func sample(_ byteCount: Int) -> [UInt8] {
    (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 17) }
}

private func inPlace(_ context: any CipherContext, _ input: [UInt8], _ iv: Block) throws -> [UInt8] {
    var bytes = input
    try bytes.withUnsafeMutableBytes { try context.process(inPlace: $0, iv: iv) }
    return bytes
}

private func outOfPlace(_ context: any CipherContext, _ input: [UInt8], _ iv: Block) throws -> [UInt8] {
    var output = [UInt8](repeating: 0, count: input.count)
    try input.withUnsafeBytes { input in
        try output.withUnsafeMutableBytes { output in
            if let start = output.baseAddress { try context.process(input, into: start, iv: iv) }
        }
    }
    return output
}

@Suite("stretches that go through a socket in pieces")
struct PieceTests {
    /// A kernel's way with a stretch of bytes.
    struct Treatment: Sendable, CustomTestStringConvertible {
        var largest: Int
        var taken = Int.max
        var returned = Int.max
        var testDescription: String { "pieces of \(largest), \(taken) taken, \(returned) returned at once" }
    }

    @Test(
        "pieces, short writes and short reads give what one piece gives", arguments: Cipher.streaming,
        [
            Treatment(largest: 4096), Treatment(largest: 16), Treatment(largest: 48, returned: 7),
            Treatment(largest: 64, taken: 32), Treatment(largest: 64, taken: 32, returned: 1),
        ])
    func pieces(cipher: Cipher, treatment: Treatment) throws {
        let key = try SecretKey(sample(24))
        let iv = Block(bigEndianValue: .max - 3)
        for direction in CipherDirection.allCases {
            let reference = try SwiftReference().makeContext(cipher, direction, key: key)
            let socket = try FakeSocket(
                cipher, direction, key: key, largestPieceByteCount: treatment.largest)
            socket.maxBytesTaken = treatment.taken
            socket.maxBytesReturned = treatment.returned
            let context = KernelContext(CipherSupport(cipher), direction, socket: socket)
            for count in [0, 16, 32, 48, 64, 80, 400, 416] + (cipher == .aesCTR ? [1, 15, 17, 63, 65, 401] : []) {
                let expected = try outOfPlace(reference, sample(count), iv)
                #expect(try outOfPlace(context, sample(count), iv) == expected, "\(count) bytes")
                #expect(try inPlace(context, sample(count), iv) == expected, "\(count) bytes in place")
            }
            #expect(socket.resetCount == 0)
        }
    }

    @Test("after a failure nothing of the stretch is left in the socket")
    func failure() throws {
        let key = try SecretKey(sample(16))
        let iv = Block(bigEndianValue: 5)
        let socket = try FakeSocket(.aesCBC, .decrypt, key: key, largestPieceByteCount: 32)
        let context = KernelContext(CipherSupport(.aesCBC), .decrypt, socket: socket)
        let good = try inPlace(context, sample(64), iv)
        socket.failsAtReceive = true
        #expect(throws: DecryptionError.self) { try inPlace(context, sample(64), iv) }
        #expect(socket.resetCount == 1)
        socket.failsAtReceive = false
        #expect(try inPlace(context, sample(64), iv) == good)
    }

    @Test("a write that ends inside a block, or takes nothing, is an error and not wrong bytes", arguments: [0, 8, 24])
    func oddWrites(taken: Int) throws {
        let socket = try FakeSocket(
            .aesCTR, .decrypt, key: SecretKey(sample(16)), largestPieceByteCount: 64)
        socket.maxBytesTaken = taken
        let context = KernelContext(CipherSupport(.aesCTR), .decrypt, socket: socket)
        #expect(throws: DecryptionError.self) { try inPlace(context, sample(64), Block(bigEndianValue: 5)) }
        #expect(socket.resetCount == 1)
    }

    @Test("CBC of a part of a block never reaches the kernel", arguments: [1, 15, 17])
    func partialBlocks(count: Int) throws {
        let socket = try FakeSocket(
            .aesCBC, .decrypt, key: SecretKey(sample(16)), largestPieceByteCount: 64)
        let context = KernelContext(CipherSupport(.aesCBC), .decrypt, socket: socket)
        #expect(throws: DecryptionError.self) { try inPlace(context, sample(count), Block(bigEndianValue: 5)) }
        #expect(socket.sentCount == 0)
    }
}

@Suite("the kernel's list of drivers")
struct KernelDriversTests {
    private static let list = """
        name         : cbc(aes)
        driver       : cbc(aes-generic)
        priority     : 100

        name         : cbc(aes)
        driver       : cbc-aes-aesni
        module       : aesni_intel
        priority     : 400

        name         : ctr(aes)
        driver       : ctr-aes-vaes-avx512
        priority     : 800

        name         : ecb(aes)
        driver       : ecb(aes-fixed-time)
        priority     : 101
        """

    @Test(
        "features are those of the driver with the highest priority",
        arguments: [
            (["cbc(aes)"], ["aes"]), (["ctr(aes)"], ["vaes"]), (["cbc(aes)", "ctr(aes)"], ["aes", "vaes"]),
            (["ecb(aes)"], []), (["xts(aes)"], []),
        ])
    func features(ciphers: [String], expected: [String]) {
        let drivers = KernelDrivers(lines: Self.list.split(separator: "\n").map(String.init))
        #expect(drivers.features(for: ciphers) == expected)
    }

    @Test("a list that makes no sense has no features")
    func nonsense() {
        #expect(KernelDrivers(lines: ["driver : aesni", "priority: 9", "", "name"]).features(for: ["cbc(aes)"]) == [])
    }
}
