import Foundation
import Glibc
import Testing

@testable import RandomAccess

@Suite("memory of keys")
struct SecretMemoryTests {
    /// The kernel's flags of the mapping that an address lies in. Source: proc_pid_smaps(5), `VmFlags`.
    private func flags(at address: UInt) throws -> Set<Substring> {
        let file = try #require(fopen("/proc/self/smaps", "re"))
        defer { fclose(file) }
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        var isInside = false
        while getline(&line, &capacity, file) > 0, let start = line {
            let words = String(cString: start).split { $0 == " " || $0 == "\n" }
            let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            if ends.count == 2 { isInside = (ends[0]..<ends[1]).contains(address) }
            if isInside, words[0] == "VmFlags:" { return Set(words.dropFirst()) }
        }
        return []
    }

    @Test("it is in no core dump, and is locked as far as the user may lock any", arguments: [16, 32, 64, 65, 5000])
    func pages(byteCount: Int) throws {
        let key = try SecretKey(material: [UInt8](repeating: 7, count: byteCount))
        let address = key.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        let flags = try flags(at: address)
        #expect(flags.contains("dd"), "\(flags)")
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(8), &limit)
        // Other tests have keys as well, which the limit is for together.
        if limit.rlim_cur >= 8 << 20 { #expect(flags.contains("lo"), "\(flags)") }
    }

    @Test("it is erased when the key goes, and used again")
    func reuse() throws {
        for byteCount in [16, 24, 64] {
            let memory = try SecretMemory.allocate(byteCount: byteCount)
            memory.copyBytes(from: [UInt8](repeating: 0xA5, count: byteCount))
            SecretMemory.release(memory)
            // Pages of small secrets stay mapped. Another test's key may have the slot by now, but not these bytes.
            #expect(!memory.allSatisfy { $0 == 0xA5 })
        }
        var addresses: Set<UInt> = []
        for number in 0..<10_000 {
            let key = try SecretKey([UInt8](repeating: UInt8(number & 255), count: 16))
            addresses.insert(key.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) })
        }
        #expect(addresses.count < 1000)
        let keys = try (0..<1000).map { try SecretKey([UInt8](repeating: UInt8($0 & 255), count: 32)) }
        #expect(Set(keys.map { $0.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } }).count == 1000)
        for (number, key) in keys.enumerated() {
            #expect(key.withUnsafeBytes { $0.allSatisfy { $0 == UInt8(number & 255) } })
        }
    }
}
