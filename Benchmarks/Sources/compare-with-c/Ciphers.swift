import Glibc
import OpenSSLBackend
import RandomAccess
import SwiftAESBackend

/// `swift-bitsliced` against OpenSSL, each with the CPU features that this process's environment leaves it.
struct Ciphers {
    let roundCount: Int

    func run() throws {
        let backends: [any CipherBackend] = [try OpenSSL(), SwiftBitsliced()]
        print(backends.map { "\($0.name) [\($0.cpuFeatures.joined(separator: " "))]" }.joined(separator: " and "))
        for cipher in Cipher.streaming {
            for byteCount in [16, 128, 4 << 10, 64 << 10, 256 << 10] {
                try run(cipher, byteCount: byteCount, backends)
            }
        }
    }

    /// Decrypts the same bytes again and again with AES-128, 4 MiB in a turn, and prints both rates and their ratio.
    private func run(_ cipher: Cipher, byteCount: Int, _ backends: [any CipherBackend]) throws {
        let key = try SecretKey([UInt8](0..<16))
        let iv = Block(bigEndianValue: 16)
        let input = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 251) }
        let callCount = (4 << 20) / byteCount
        var outputs: [UnsafeMutableRawBufferPointer] = []
        defer { for output in outputs { output.deallocate() } }
        var runners: [Race.Runner] = []
        for backend in backends {
            let context = try backend.makeContext(cipher, .decrypt, key: key)
            let output = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 64)
            outputs.append(output)
            guard let start = output.baseAddress else { return }
            runners.append(
                (
                    backend.name,
                    {
                        try timed {
                            try input.withUnsafeBytes { input in
                                for _ in 0..<callCount { try context.process(input, into: start, iv: iv) }
                            }
                        }
                    }
                ))
        }
        let race = try Race(runners, roundCount: roundCount)
        // No rate without the bytes.
        guard outputs[0].elementsEqual(outputs[1]) else { throw Failure("plaintexts differ") }
        let rates = backends.indices.map { index in
            decimals(Double(callCount * byteCount) / Double(race.median(index))).leftPadded(to: 8) + " GB/s"
        }
        print(
            "  \(cipher.rawValue), \(byteCount) bytes".padded(to: 26) + rates.joined()
                + "  ratio \(race.ratio(1, over: 0))")
    }
}
