import Glibc
import TestSupport

@testable import RandomAccess
@testable import SwiftAESBackend

/// A random key and a random plaintext, which nothing but the code under test holds in the clear for long.
final class HygieneSecrets: @unchecked Sendable {
    let keyByteCount: Int
    let plaintextByteCount: Int
    private let mask: UInt8 = .random(in: 1...255)
    private let masked: UnsafeMutableRawBufferPointer

    /// Draws a key and a plaintext, and adds what they look like to a search.
    init(_ name: String, keyByteCount: Int, plaintextByteCount: Int = 40_007, to scan: SecretScan) throws {
        self.keyByteCount = keyByteCount
        self.plaintextByteCount = plaintextByteCount
        masked = .allocate(byteCount: keyByteCount + plaintextByteCount, alignment: 16)
        try HeldThread.run { [self] in
            for index in masked.indices { masked[index] = .random(in: 0...255) }
            withKeyBytes { key in
                scan.add("\(name): key", UnsafeRawBufferPointer(key))
                Self.addTexts(UnsafeRawBufferPointer(key), name, to: scan)
            }
            withPlaintext { scan.add("\(name): plaintext", UnsafeRawBufferPointer($0), pieceByteCount: 16) }
            try Self.addSchedules(of: key(), name, to: scan)
            // States of AES that held round keys.
            eraseStack()
        }
    }

    deinit { masked.deallocate() }

    /// Calls `body` with the key, which is erased afterwards.
    func withKeyBytes<Result>(_ body: (UnsafeMutableRawBufferPointer) throws -> Result) rethrows -> Result {
        try withClear(0..<keyByteCount, body)
    }

    /// Calls `body` with the plaintext, which is erased afterwards.
    func withPlaintext<Result>(_ body: (UnsafeMutableRawBufferPointer) throws -> Result) rethrows -> Result {
        try withClear(keyByteCount..<masked.count, body)
    }

    private func withClear<Result>(
        _ range: Range<Int>, _ body: (UnsafeMutableRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        let pages = ErasedPages.allocate(byteCount: range.count)
        defer { ErasedPages.free(pages) }
        for index in range { pages[index - range.lowerBound] = masked[index] ^ mask }
        return try body(pages)
    }

    /// The key as the code under test has it.
    func key() throws -> SecretKey {
        try withKeyBytes { try SecretKey(material: $0) }
    }

    private static func byte(_ index: Int, of state: AESState) -> UInt8 {
        UInt8(truncatingIfNeeded: state.columns[index / 4] >> UInt32(24 - 8 * (index % 4)))
    }

    /// Hexadecimal digits, small and capital.
    private static func addTexts(_ key: UnsafeRawBufferPointer, _ name: String, to scan: SecretScan) {
        for digits in ["0123456789abcdef", "0123456789ABCDEF"] {
            let digits = Array(digits.utf8)
            let text = ErasedPages.allocate(byteCount: 2 * key.count)
            defer { ErasedPages.free(text) }
            for index in key.indices {
                text[2 * index] = digits[Int(key[index] >> 4)]
                text[2 * index + 1] = digits[Int(key[index] & 15)]
            }
            scan.add("\(name): key as digits", UnsafeRawBufferPointer(text), pieceByteCount: 16)
        }
    }

    /// Adds the round keys of a key: for encryption and for the equivalent inverse cipher, with their bytes in order, in
    /// words of the other order, and turned around; the bit planes of `swift-bitsliced`; and GCM's hash key.
    /// Of a key that is two of AES, those of both.
    static func addSchedules(of key: SecretKey, _ name: String, to scan: SecretScan) throws {
        guard Cipher.aesCBC.keyByteCounts.contains(key.byteCount) else {
            let middle = key.byteCount / 2
            for half in [0..<middle, middle..<key.byteCount] {
                let part = try key.withUnsafeBytes { try SecretKey(material: $0[half]) }
                if part.byteCount <= 32 { try addSchedules(of: part, name, to: scan) }
            }
            return
        }
        let pages = ErasedPages.allocate(byteCount: 4096)
        defer { ErasedPages.free(pages) }
        func add(_ form: String) {
            scan.add("\(name): \(form)", UnsafeRawBufferPointer(rebasing: pages[..<16]))
        }
        let schedule = KeySchedule(key)
        for round in 0...schedule.roundCount {
            for isInverse in [false, true] where !isInverse || round > 0 && round < schedule.roundCount {
                var state = AESState(Block(bigEndianValue: 0))
                state.addRoundKey(schedule, round: round)
                if isInverse { state.invMixColumns() }
                let form = isInverse ? "inverse round key" : round == 0 ? "key" : "round key"
                for index in 0..<16 { pages[index] = byte(index, of: state) }
                if round > 0 { add(form) }
                for index in 0..<16 { pages[index] = byte(index ^ 3, of: state) }
                add("\(form) in words")
                for index in 0..<16 { pages[index] = byte(15 - index, of: state) }
                add("\(form) turned around")
            }
        }
        let planes = pages.baseAddress.map { $0.bindMemory(to: Plane.self, capacity: 256) }
        guard let planes else { return }
        for round in [0, 1, schedule.roundCount] {
            var block: UInt128 = 0
            var state = AESState(Block(bigEndianValue: 0))
            state.addRoundKey(schedule, round: round)
            for index in (0..<16).reversed() {
                block = block << 8 | UInt128(byte(index, of: state) ^ (round == 0 ? 0 : 0x63))
            }
            for count in [NarrowBatch.planeCount, WideBatch<Plane>.planeCount] {
                for index in 0..<count { pages.storeBytes(of: block, toByteOffset: 16 * index, as: UInt128.self) }
                if count == 8 { NarrowBatch.pack(planes) } else { WideBatch<Plane>.pack(planes) }
                // From a plane on that is not only ones or zeros, as much of memory is.
                let first = (0..<count).first { index in
                    let words = planes[index].words
                    return words[0] != words[1]
                }
                guard let first else { continue }
                let part = pages[16 * first..<16 * count]
                scan.add("\(name): bit planes", UnsafeRawBufferPointer(rebasing: part), pieceByteCount: part.count)
            }
        }
        // H. Source: NIST SP 800-38D, section 7.1, step 1.
        let hashKey = AESBlockCipher(key).encrypt(Block(bigEndianValue: 0))
        hashKey.store(to: pages)
        add("hash key")
        Block(bigEndianValue: hashKey.bigEndianValue.byteSwapped).store(to: pages)
        add("hash key turned around")
    }
}
