import Benchmark
import BoringSSLBackend
import ByteSources
import GcryptBackend
import KernelBackend
import NettleBackend
import OpenSSLBackend
import RandomAccess
import SwiftAESBackend

/// The backends that this machine has.
private func availableBackends() -> [any CipherBackend] {
    let makers: [() throws -> any CipherBackend] = [
        { try OpenSSL() }, { try Gcrypt() }, { BoringSSL(machineFeatures: []) }, { Nettle(machineFeatures: []) },
        { try KernelCrypto() },
        { SwiftReference() }, { SwiftBitsliced() },
    ]
    return makers.compactMap { try? $0() }
}

/// For each backend: one read of 4 KiB from memory, and decryption of blocks without anything around it.
func addBackends() {
    for backend in availableBackends() {
        addRead(backend)
        for byteCount in [16, 4096, 256 << 10] { addDecryption(backend, byteCount: byteCount) }
    }
}

private func addRead(_ backend: any CipherBackend) {
    Benchmark("read 4 KiB: \(backend.name)", configuration: .init(scalingFactor: .one)) { benchmark in
        let object = try EncryptedObject(
            source: MemorySource([UInt8](repeating: 0x5A, count: 1 << 20)),
            strategy: Strategy(
                "cbc-continuous", ["iv": .bytes([UInt8](repeating: 0, count: 16)), "padding": .text("none")]),
            backend: backend,
            key: SecretKey([UInt8](repeating: 1, count: 16)))
        let cursor = try object.makeCursor()
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 4096)
        defer { room.deallocate() }
        benchmark.startMeasurement()
        for index in benchmark.scaledIterations {
            blackHole(try cursor.read(at: UInt64(index * 4099 % (1 << 19)), into: room))
        }
        benchmark.stopMeasurement()
    }
}

private func addDecryption(_ backend: any CipherBackend, byteCount: Int) {
    let name = byteCount < 1024 ? "\(byteCount) B" : "\(byteCount >> 10) KiB"
    Benchmark("decrypt \(name): \(backend.name)", configuration: .init(scalingFactor: .one)) { benchmark in
        let context = try backend.makeContext(
            .aesCBC, .decrypt, key: SecretKey([UInt8](repeating: 1, count: 16)))
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 4096)
        defer { room.deallocate() }
        room.initializeMemory(as: UInt8.self, repeating: 0x5A)
        benchmark.startMeasurement()
        for _ in benchmark.scaledIterations {
            try context.process(inPlace: room, iv: Block(bigEndianValue: 0))
        }
        benchmark.stopMeasurement()
    }
}
