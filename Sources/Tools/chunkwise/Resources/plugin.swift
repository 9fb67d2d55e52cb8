// A plug-in for Chunkwise: AES, from whose blocks Chunkwise's readers make ranges. chunkwise_plugin.h describes the
// parameters of each function. A function that you leave out is nil in the table.

import CChunkwisePlugin

/// The cipher of a key, and the key's schedule.
private final class Schedule {
    let cipher: Int32

    init(cipher: Int32) {
        self.cipher = cipher
    }
}

private func text(_ text: StaticString) -> UnsafePointer<CChar> {
    UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
}

nonisolated(unsafe) private let plugin: UnsafePointer<chunkwise_plugin> = {
    let plugin = UnsafeMutablePointer<chunkwise_plugin>.allocate(capacity: 1)
    plugin.initialize(to: chunkwise_plugin())
    plugin.pointee.abi = UInt32(CHUNKWISE_ABI)
    plugin.pointee.size = UInt32(MemoryLayout<chunkwise_plugin>.size)
    plugin.pointee.name = text("@NAME@")
    plugin.pointee.version = text("0")
    plugin.pointee.key = { cipher, key, count, made in
        guard [16, 24, 32].contains(count) else { return Int32(CHUNKWISE_INVALID_KEY.rawValue) }
        guard [Int32(CHUNKWISE_CBC.rawValue), Int32(CHUNKWISE_CTR.rawValue)].contains(cipher) else {
            return Int32(CHUNKWISE_UNSUPPORTED.rawValue)
        }
        // Make the schedule here.
        made?.pointee = Unmanaged.passRetained(Schedule(cipher: cipher)).toOpaque()
        return 0
    }
    plugin.pointee.key_free = { made in
        if let made { Unmanaged<Schedule>.fromOpaque(made).release() }
    }
    plugin.pointee.decrypt = { made, nonce, nonceCount, associatedData, associatedDataCount, input, output, count in
        // Decrypt here, with the schedule's cipher.
        Int32(CHUNKWISE_UNSUPPORTED.rawValue)
    }
    return UnsafePointer(plugin)
}()

/// The only symbol that Chunkwise looks up.
@_cdecl("chunkwise_plugin_v1")
public func chunkwisePlugin(harnessABI: UInt32) -> UnsafeRawPointer? {
    harnessABI == UInt32(CHUNKWISE_ABI) ? UnsafeRawPointer(plugin) : nil
}
