internal import CChunkwisePlugin
package import RandomAccess

/// An implementation in a shared library, through `include/chunkwise_plugin.h`. It is loaded into this process: only
/// `chunkwise-subject`, which a harness watches, does that.
package struct PluginBackend: CipherBackend {
    /// The name that a plug-in is selected by, before the library's path.
    package static let prefix = "plugin:"

    /// `plugin:` and the name that the library gives itself.
    package var name: String { Self.prefix + library.name }

    /// The library's version, the file's SHA-256, and the names of the libraries that it needs.
    package var version: String {
        let shown = library.neededLibraries.prefix(Self.maxLibraries)
        let more = library.neededLibraries.count - shown.count
        return ([library.version, "sha256 \(library.digest)"] + shown + (more > 0 ? ["\(more) more libraries"] : []))
            .joined(separator: ", ")
    }

    /// The key lengths for which the library makes a schedule; of one with a whole reader only, all that AES has.
    package let keyByteCounts: [Int]

    /// The modes that the library has blocks of; none if it only has a whole reader.
    package let modes: [CipherMode]

    /// Not known.
    package let cpuFeatures: [String] = []

    /// The max number of libraries that a version names.
    private static let maxLibraries = 8

    let library: PluginLibrary
    /// Whether each call gets buffers of its own with guards around them: for tests, not for measurements.
    private let isGuarded: Bool

    /// Loads a library.
    ///
    /// - Parameter path: Absolute.
    /// - Throws: `PluginError` as a `DecryptionError.layer`.
    package init(path: String) throws(DecryptionError) {
        let library = try PluginLibrary(path: path)
        // Each member by itself: the table may be shorter than the type is here.
        let table = library.table
        let offered: [(CipherMode, Bool)] = [
            (.cbc, table.pointee.cbc_decrypt != nil), (.ctr, table.pointee.ctr != nil), (.gcm, library.gcmOpen != nil),
        ]
        let named = library.hasKeys ? offered.filter(\.1).map(\.0) : []
        // Who lacks a cipher or a length says so when a key is made.
        var lengths = Dictionary(uniqueKeysWithValues: named.map { ($0, [Int]()) })
        for mode in named {
            for byteCount in [16, 24, 32] where try library.takesKey(of: byteCount, for: mode) {
                lengths[mode, default: []].append(byteCount)
            }
        }
        let modes = named.filter { lengths[$0]?.isEmpty == false }
        guard !modes.isEmpty || !library.strategies.isEmpty else {
            throw .plugin(
                .refused(path: path, reason: "it has no cipher for any key", expected: "cbc_decrypt, ctr or gcm_open"))
        }
        let common = [16, 24, 32].filter { byteCount in modes.allSatisfy { lengths[$0]?.contains(byteCount) == true } }
        self.init(
            library: library, modes: modes, keyByteCounts: common.isEmpty ? [16, 24, 32] : common, isGuarded: true)
    }

    private init(library: PluginLibrary, modes: [CipherMode], keyByteCounts: [Int], isGuarded: Bool) {
        self.library = library
        self.modes = modes
        self.keyByteCounts = keyByteCounts
        self.isGuarded = isGuarded
    }

    /// The same library, called with the buffers of whoever reads: as fast as it is.
    package var unguarded: PluginBackend {
        PluginBackend(library: library, modes: modes, keyByteCounts: keyByteCounts, isGuarded: false)
    }

    /// The library's whole reader, or `nil` if it has blocks only.
    package var reader: PluginReader? {
        library.strategies.isEmpty ? nil : PluginReader(library: library, isGuarded: isGuarded)
    }

    package func makeContext(
        mode: CipherMode, direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext {
        guard modes.contains(mode), mode != .gcm, mode == .ctr || direction == .decrypt else {
            throw .unsupported("\(mode.rawValue.uppercased()) \(direction.rawValue)ion in \(name)")
        }
        return PluginContext(
            try PluginSchedule(
                library, mode == .cbc ? CHUNKWISE_CBC : CHUNKWISE_CTR, key, isGuarded: isGuarded), isCBC: mode == .cbc,
            guards: isGuarded ? PluginGuards(name) : nil)
    }

    package func makeChunkContext(
        direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any ChunkContext {
        guard modes.contains(.gcm), direction == .decrypt, let open = library.gcmOpen else {
            throw .unsupported("GCM \(direction.rawValue)ion in \(name)")
        }
        return PluginChunkContext(
            try PluginSchedule(library, CHUNKWISE_GCM, key, isGuarded: isGuarded), open,
            guards: isGuarded ? PluginGuards(name) : nil)
    }
}

extension PluginLibrary {
    /// Whether it makes a schedule for a key of a length: any other result than that it cannot is for the vectors to find.
    fileprivate func takesKey(of byteCount: Int, for mode: CipherMode) throws(DecryptionError) -> Bool {
        let cipher =
            switch mode {
            case .cbc: CHUNKWISE_CBC
            case .ctr: CHUNKWISE_CTR
            case .gcm: CHUNKWISE_GCM
            }
        do throws(DecryptionError) {
            _ = try PluginSchedule(self, cipher, try SecretKey([UInt8](repeating: 0, count: byteCount)))
            return true
        } catch {
            return !["unsupported", "invalidKey"].contains(error.protocolName)
        }
    }
}

/// A key schedule of the library's.
private final class PluginSchedule {
    let table: UnsafePointer<chunkwise_plugin>
    let pointer: UnsafeMutableRawPointer?

    /// With `isGuarded`, the key ends where a page begins that nobody may touch, and is not written to.
    init(
        _ library: PluginLibrary, _ cipher: chunkwise_cipher, _ key: SecretKey, isGuarded: Bool = false
    ) throws(DecryptionError) {
        table = library.table
        guard let make = table.pointee.key else { throw .unsupported("keys in \(library.name)") }
        var schedule: UnsafeMutableRawPointer?
        let guarded = GuardedMemory()
        try key.withUnsafeBytes { key throws(DecryptionError) in
            let bytes = isGuarded ? UnsafeRawBufferPointer(try guarded.buffer(key)) : key
            guarded.protect(true)
            try PluginCall.check("key", input: bytes) {
                make(Int32(cipher.rawValue), bytes.baseAddress, bytes.count, &schedule)
            }
        }
        pointer = schedule
    }

    deinit {
        PluginCall.run("key_free") { table.pointee.key_free?(pointer) }
        eraseStack()
    }
}

/// Buffers with guards for a call's input, its output, and its IV, counter or nonce.
private final class PluginGuards {
    private let name: String
    private let input = GuardedMemory()
    private let output = GuardedMemory()
    private let start = GuardedMemory(watching: 64)

    init(_ name: String) {
        self.name = name
    }

    /// Makes a call in buffers with guards instead of the caller's, and returns what it returns. Of a call that fails, nothing
    /// is copied to the destination.
    func run(
        _ function: StaticString, _ source: UnsafeRawBufferPointer, _ destination: UnsafeMutableRawBufferPointer,
        start: UnsafeRawBufferPointer, isStartKept: Bool,
        _ body: (UnsafeRawBufferPointer, UnsafeMutableRawBufferPointer, UnsafeMutableRawBufferPointer) -> Int32
    ) throws(DecryptionError) -> Int32 {
        let given = try self.start.buffer(start)
        let result: Int32
        let written: UnsafeMutableRawBufferPointer
        if source.baseAddress == UnsafeRawPointer(destination.baseAddress) {
            written = try output.buffer(source)
            result = body(UnsafeRawBufferPointer(written), written, given)
        } else {
            written = try output.buffer(byteCount: destination.count)
            let read = UnsafeRawBufferPointer(try input.buffer(source))
            input.protect(true)
            result = body(read, written, given)
        }
        try output.check(function, name)
        try self.start.check(function, name, "IV, counter or nonce")
        if isStartKept, !given.elementsEqual(start) {
            throw .backend(name: name, operation: "\(function)", reason: "it wrote to its counter or nonce")
        }
        if result == 0 { destination.copyMemory(from: UnsafeRawBufferPointer(written)) }
        return result
    }
}

/// CBC and CTR by a library's functions.
private final class PluginContext: CipherContext {
    private let schedule: PluginSchedule
    private let isCBC: Bool
    private let guards: PluginGuards?

    init(_ schedule: PluginSchedule, isCBC: Bool, guards: PluginGuards?) {
        self.schedule = schedule
        self.isCBC = isCBC
        self.guards = guards
    }

    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, iv: Block
    ) throws(DecryptionError) {
        guard input.count > 0 else { return }
        let output = UnsafeMutableRawBufferPointer(start: output, count: input.count)
        let function: StaticString = isCBC ? "cbc_decrypt" : "ctr"
        guard let guards else {
            var block = iv.bigEndianValue.bigEndian
            return try withUnsafeMutableBytes(of: &block) { start throws(DecryptionError) in
                try PluginCall.check(function, input: input, output: output) { call(input, output, start) }
            }
        }
        let result = try iv.withUnsafeBytes { start throws(DecryptionError) in
            try guards.run(function, input, output, start: start, isStartKept: !isCBC) { input, output, start in
                PluginCall.run(function, input: input, output: output, start: UnsafeRawBufferPointer(start)) {
                    call(input, output, start)
                }
            }
        }
        guard result == 0 else { throw .plugin(.failed(function: "\(function)", result: result)) }
    }

    private func call(
        _ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer, _ start: UnsafeMutableRawBufferPointer
    ) -> Int32 {
        let (table, pointer) = (schedule.table, schedule.pointer)
        let start = start.assumingMemoryBound(to: UInt8.self).baseAddress
        let result =
            isCBC
            ? table.pointee.cbc_decrypt?(pointer, start, input.baseAddress, output.baseAddress, input.count / 16)
            : table.pointee.ctr?(pointer, start, input.baseAddress, output.baseAddress, input.count)
        return result ?? Int32(CHUNKWISE_UNSUPPORTED.rawValue)
    }
}

/// GCM by a library's function.
private final class PluginChunkContext: ChunkContext {
    private let schedule: PluginSchedule
    private let open: PluginCall.GCMOpen
    private let guards: PluginGuards?

    init(_ schedule: PluginSchedule, _ open: @escaping PluginCall.GCMOpen, guards: PluginGuards?) {
        self.schedule = schedule
        self.open = open
        self.guards = guards
    }

    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, start: Block
    ) throws(DecryptionError) -> Bool {
        let count = input.count - ChunkFormat.tagByteCount
        let output = UnsafeMutableRawBufferPointer(start: output, count: count)
        func call(
            _ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer, _ nonce: UnsafeRawBufferPointer
        ) -> Int32 {
            PluginCall.run("gcm_open", input: input, output: output, start: nonce) {
                open(
                    schedule.pointer, nonce.assumingMemoryBound(to: UInt8.self).baseAddress, input.baseAddress,
                    output.baseAddress, count)
            }
        }
        let result = try start.withUnsafeBytes { bytes throws(DecryptionError) in
            let nonce = UnsafeRawBufferPointer(rebasing: bytes[..<12])
            return try guards?.run("gcm_open", input, output, start: nonce, isStartKept: true) {
                call($0, $1, UnsafeRawBufferPointer($2))
            } ?? call(input, output, nonce)
        }
        if result == Int32(CHUNKWISE_AUTHENTICATION_FAILED.rawValue) { return false }
        guard result == 0 else { throw .plugin(.failed(function: "gcm_open", result: result)) }
        return true
    }
}
