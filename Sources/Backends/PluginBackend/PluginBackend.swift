internal import CChunkwisePlugin
package import RandomAccess

/// An implementation in a shared library, through `include/chunkwise_plugin.h`. It is loaded into this process. Only
/// `chunkwise-subject` does that, under the supervision of a harness.
package struct PluginBackend: CipherBackend {
    /// The prefix of a plug-in's name, before the library's path.
    package static let prefix = "plugin:"

    /// `plugin:` and the name that the library reports.
    package var name: String { Self.prefix + library.name }

    /// The library's version, the file's SHA-256, and the names of the libraries that it needs.
    package var version: String {
        let shown = library.neededLibraries.prefix(Self.maxLibraries)
        let more = library.neededLibraries.count - shown.count
        return ([library.version, "sha256 \(library.digest)"] + shown + (more > 0 ? ["\(more) more libraries"] : []))
            .joined(separator: ", ")
    }

    /// The name, and the version without the rest.
    package var nameAndVersion: String { "\(name) \(library.version)" }

    /// The ciphers of the library, with the accepted key lengths; empty if it has only a whole reader.
    package let ciphers: [CipherSupport]

    /// The features are unknown.
    package let cpuFeatures: [String] = []

    /// The max number of libraries in a version.
    private static let maxLibraries = 8

    let library: PluginLibrary
    /// True if each call gets its own buffers with guards around them: for tests, not for measurements.
    private let isGuarded: Bool

    /// Loads a library.
    ///
    /// - Parameter path: An absolute path.
    /// - Throws: `PluginError` as a `DecryptionError.layer`.
    package init(path: String) throws(DecryptionError) {
        let library = try PluginLibrary(path: path)
        var ciphers: [CipherSupport] = []
        for cipher in Cipher.allCases where library.hasCiphers {
            // A library rejects an unsupported cipher or length when a key is made.
            var keyByteCounts: [Int] = []
            for byteCount in cipher.keyByteCounts where try library.takesKey(of: byteCount, for: cipher) {
                keyByteCounts.append(byteCount)
            }
            guard !keyByteCounts.isEmpty else { continue }
            let (min, max) = library.nonceByteCounts(of: cipher)
            guard min > 0, min <= max else {
                throw .plugin(
                    .refused(
                        path: path, reason: "its nonces have \(min) to \(max) bytes", expected: "a range above 0"))
            }
            ciphers.append(CipherSupport(cipher, keyByteCounts: keyByteCounts, nonceByteCounts: min...max))
        }
        guard !ciphers.isEmpty || !library.strategies.isEmpty else {
            throw .plugin(
                .refused(path: path, reason: "it has no cipher for any key", expected: "decrypt, and a key for it"))
        }
        self.init(library: library, ciphers: ciphers, isGuarded: true)
    }

    private init(library: PluginLibrary, ciphers: [CipherSupport], isGuarded: Bool) {
        self.library = library
        self.ciphers = ciphers
        self.isGuarded = isGuarded
    }

    /// The same library, called with the caller's buffers, at full speed.
    package var unguarded: PluginBackend {
        PluginBackend(library: library, ciphers: ciphers, isGuarded: false)
    }

    /// The library's whole reader; `nil` if it has ciphers only.
    package var reader: PluginReader? {
        library.strategies.isEmpty ? nil : PluginReader(library: library, isGuarded: isGuarded)
    }

    package func makeContext(
        _ cipher: Cipher, _ direction: CipherDirection, key: SecretKey
    ) throws(DecryptionError) -> any CipherContext {
        let support = try support(of: cipher, key: key)
        // In counter mode, both directions are the same.
        guard direction == .decrypt || cipher == .aesCTR else {
            throw .unsupported("\(cipher.rawValue) \(direction.rawValue)ion in \(nameAndVersion)")
        }
        return PluginContext(
            try PluginSchedule(library, cipher, key, isGuarded: isGuarded), support, name,
            guards: isGuarded ? PluginGuards(name) : nil)
    }
}

extension Cipher {
    /// The cipher's number in `chunkwise_plugin.h`.
    fileprivate var pluginNumber: Int32 {
        switch self {
        case .aesCBC: Int32(CHUNKWISE_CBC.rawValue)
        case .aesCTR: Int32(CHUNKWISE_CTR.rawValue)
        case .aesGCM: Int32(CHUNKWISE_GCM.rawValue)
        case .chaCha20Poly1305: Int32(CHUNKWISE_CHACHA20_POLY1305.rawValue)
        case .xChaCha20Poly1305: Int32(CHUNKWISE_XCHACHA20_POLY1305.rawValue)
        case .xSalsa20Poly1305: Int32(CHUNKWISE_XSALSA20_POLY1305.rawValue)
        case .aesXTS: Int32(CHUNKWISE_XTS.rawValue)
        case .aesOCB: Int32(CHUNKWISE_OCB.rawValue)
        case .aesEAX: Int32(CHUNKWISE_EAX.rawValue)
        case .aesGCMSIV: Int32(CHUNKWISE_GCM_SIV.rawValue)
        case .aesSIV: Int32(CHUNKWISE_SIV.rawValue)
        }
    }
}

extension PluginLibrary {
    /// Returns whether the library makes a schedule for a key length. Only its refusals count as "no"; the vectors find
    /// any other error.
    fileprivate func takesKey(of byteCount: Int, for cipher: Cipher) throws(DecryptionError) -> Bool {
        do throws(DecryptionError) {
            _ = try PluginSchedule(self, cipher, try SecretKey(material: 0..<UInt8(byteCount)))
            return true
        } catch {
            return !["unsupported", "invalidKey"].contains(error.protocolName)
        }
    }

    /// Returns the nonce lengths that the library accepts for a cipher.
    fileprivate func nonceByteCounts(of cipher: Cipher) -> (min: Int, max: Int) {
        var (min, max) = (cipher.nonceByteCount, cipher.nonceByteCount)
        // Ciphers with a single nonce length need no question.
        guard cipher.nonceByteCounts.count > 1 else { return (min, max) }
        PluginCall.run("nonces") { table.pointee.nonces?(cipher.pluginNumber, &min, &max) }
        return (min, max)
    }
}

/// A key schedule of the library.
private final class PluginSchedule {
    let table: UnsafePointer<chunkwise_plugin>
    let pointer: UnsafeMutableRawPointer?

    /// With `isGuarded`, the key ends at an inaccessible page, and is read-only.
    init(
        _ library: PluginLibrary, _ cipher: Cipher, _ key: SecretKey, isGuarded: Bool = false
    ) throws(DecryptionError) {
        table = library.table
        guard let make = table.pointee.key else { throw .unsupported("keys in \(library.name)") }
        var schedule: UnsafeMutableRawPointer?
        let guarded = GuardedMemory()
        try key.withUnsafeBytes { key throws(DecryptionError) in
            let bytes = isGuarded ? UnsafeRawBufferPointer(try guarded.buffer(key)) : key
            guarded.protect(true)
            try PluginCall.check("key", input: bytes) {
                make(cipher.pluginNumber, bytes.baseAddress, bytes.count, &schedule)
            }
        }
        pointer = schedule
    }

    deinit {
        PluginCall.run("key_free") { table.pointee.key_free?(pointer) }
        eraseStack()
    }
}

/// Guarded buffers for a call's input, its output, its associated data, and its IV, counter or nonce.
private final class PluginGuards {
    private let name: String
    private let input = GuardedMemory()
    private let output = GuardedMemory()
    private let associatedData = GuardedMemory()
    private let nonce = GuardedMemory(watching: 64)

    init(_ name: String) {
        self.name = name
    }

    /// Makes a call in guarded buffers instead of the caller's, and returns its result. If the call fails, nothing is
    /// copied to the destination.
    func run(
        _ function: StaticString, _ source: UnsafeRawBufferPointer, _ destination: UnsafeMutableRawBufferPointer,
        nonce: UnsafeRawBufferPointer, associatedData: UnsafeRawBufferPointer, _ body: PluginContext.Call
    ) throws(DecryptionError) -> Int32 {
        let given = UnsafeRawBufferPointer(try self.nonce.buffer(nonce))
        var associated = associatedData
        if !associatedData.isEmpty {
            associated = UnsafeRawBufferPointer(try self.associatedData.buffer(associatedData))
            self.associatedData.protect(true)
        }
        let result: Int32
        let written: UnsafeMutableRawBufferPointer
        if source.baseAddress == UnsafeRawPointer(destination.baseAddress) {
            written = try output.buffer(source)
            result = body(UnsafeRawBufferPointer(written), written, given, associated)
        } else {
            written = try output.buffer(byteCount: destination.count)
            let read = UnsafeRawBufferPointer(try input.buffer(source))
            input.protect(true)
            result = body(read, written, given, associated)
        }
        try output.check(function, name)
        try self.nonce.check(function, name, "IV, counter or nonce")
        guard given.elementsEqual(nonce) else {
            throw .backend(name: name, operation: "\(function)", reason: "it wrote to its IV, counter or nonce")
        }
        if result == 0 { destination.copyMemory(from: UnsafeRawBufferPointer(written)) }
        return result
    }
}

/// A cipher of the library.
private final class PluginContext: CipherContext {
    /// A call with input, output, nonce and associated data.
    typealias Call = (
        UnsafeRawBufferPointer, UnsafeMutableRawBufferPointer, UnsafeRawBufferPointer, UnsafeRawBufferPointer
    ) -> Int32

    private let schedule: PluginSchedule
    private let support: CipherSupport
    private let tagByteCount: Int
    private let takesWholeBlocks: Bool
    private let name: String
    private let guards: PluginGuards?

    init(_ schedule: PluginSchedule, _ support: CipherSupport, _ name: String, guards: PluginGuards?) {
        self.schedule = schedule
        self.support = support
        (tagByteCount, takesWholeBlocks) = (support.cipher.tagByteCount, support.cipher.takesWholeBlocks)
        self.name = name
        self.guards = guards
    }

    func process(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawPointer, nonce: UnsafeRawBufferPointer,
        associatedData: UnsafeRawBufferPointer
    ) throws(DecryptionError) -> Bool {
        try support.check(nonce: nonce, in: name)
        let count = input.count - tagByteCount
        guard count >= 0, count % 16 == 0 || !takesWholeBlocks else {
            throw .backend(
                name: name, operation: "decrypt",
                reason: "\(input.count) bytes: expected \(count < 0 ? "a tag" : "a multiple of 16")")
        }
        switch support.cipher {
        case .aesXTS: try support.check(dataUnit: input, in: name)
        case .xSalsa20Poly1305: try support.check(associatedData: associatedData, in: name)
        default: break
        }
        guard input.count > 0 else { return true }
        let output = UnsafeMutableRawBufferPointer(start: output, count: count)
        let result =
            try guards?.run("decrypt", input, output, nonce: nonce, associatedData: associatedData, call)
            ?? call(input, output, nonce, associatedData)
        if result == Int32(CHUNKWISE_AUTHENTICATION_FAILED.rawValue), tagByteCount > 0 { return false }
        guard result == 0 else { throw .plugin(.failed(function: "decrypt", result: result)) }
        return true
    }

    private func call(
        _ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer, _ nonce: UnsafeRawBufferPointer,
        _ associatedData: UnsafeRawBufferPointer
    ) -> Int32 {
        PluginCall.run("decrypt", input: input, output: output, start: nonce) {
            schedule.table.pointee.decrypt?(
                schedule.pointer, nonce.assumingMemoryBound(to: UInt8.self).baseAddress, nonce.count,
                associatedData.baseAddress, associatedData.count, input.baseAddress, output.baseAddress, output.count)
                ?? Int32(CHUNKWISE_UNSUPPORTED.rawValue)
        }
    }
}
