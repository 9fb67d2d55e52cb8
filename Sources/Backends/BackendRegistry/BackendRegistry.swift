internal import GcryptBackend
internal import KernelBackend
internal import NettleBackend
internal import OpenSSLBackend
internal import PluginBackend
package import RandomAccess
internal import SodiumBackend
internal import SwiftAESBackend

#if BoringSSL
internal import BoringSSLBackend
#endif

/// The backends that this program knows: the one place that names them all.
package enum BackendRegistry {
    /// A backend's name, and what it takes to get it.
    package struct Entry: Sendable {
        /// The name that selects the backend.
        package let name: String
        /// Makes the backend, or says why this machine does not have it.
        package let make: @Sendable () throws(DecryptionError) -> any CipherBackend
    }

    /// All backends, in the order in which they are shown.
    package static let entries: [Entry] = [
        Entry(name: "openssl") { () throws(DecryptionError) in try OpenSSL() },
        Entry(name: "libgcrypt") { () throws(DecryptionError) in try Gcrypt() },
        Entry(name: "boringssl") { () throws(DecryptionError) in try boringSSL() },
        Entry(name: "nettle") { () throws(DecryptionError) in Nettle(machineFeatures: CPUFlags.ofThisMachine()) },
        Entry(name: "sodium") { () throws(DecryptionError) in try Sodium() },
        Entry(name: "af-alg") { () throws(DecryptionError) in try KernelCrypto() },
        Entry(name: "swift-reference") { () throws(DecryptionError) in SwiftReference() },
        Entry(name: "swift-bitsliced") { () throws(DecryptionError) in SwiftBitsliced() },
    ]

    /// What swift-crypto carries takes most of a minute to build, and so hangs on a trait of the package.
    private static func boringSSL() throws(DecryptionError) -> any CipherBackend {
        #if BoringSSL
        BoringSSL(machineFeatures: CPUFlags.ofThisMachine())
        #else
        throw .unavailable(
            backend: "boringssl", reason: "swift-crypto is not in this build",
            expected: "a program built by swift build -c release")
        #endif
    }

    /// All names, in the order in which they are shown.
    package static var names: [String] { entries.map(\.name) }

    /// The names of the backends that this machine has.
    package static var availableNames: [String] {
        entries.filter { (try? $0.make()) != nil }.map(\.name)
    }

    /// The names of the backends that this machine has and that have a cipher.
    package static func availableNames(having cipher: Cipher) -> [String] {
        entries.filter { (try? $0.make())?.supports(cipher) == true }.map(\.name)
    }

    /// The names of the backends that this machine has and that have what a strategy's objects take.
    package static func availableNames(reading strategy: Strategy) -> [String] {
        entries.filter { (try? $0.make())?.supports(strategy) == true }.map(\.name)
    }

    /// What names of plug-ins begin with, before the library's path.
    package static let pluginPrefix = PluginBackend.prefix
    private static let providerPrefix = OpenSSL.providerPrefix

    /// Whether a name is of code that is not this program's: a plug-in, `plugin:/absolute/lib.so`, or a provider of OpenSSL,
    /// `openssl:provider=NAME:PROPERTIES`. It is loaded by ``foreignBackend(named:)`` only, in a process of its own.
    package static func isForeign(_ name: String) -> Bool {
        name.hasPrefix(pluginPrefix) || name.hasPrefix(providerPrefix)
    }

    /// Makes one of this program's own backends by its name.
    ///
    /// - Throws: `DecryptionError.unsupported` if there is no such backend, `.unavailable` if this machine lacks it, or
    ///   what else making it throws.
    package static func backend(named name: String) throws(DecryptionError) -> any CipherBackend {
        guard let entry = entries.first(where: { $0.name == name }) else {
            throw .unsupported(
                isForeign(name)
                    ? "backend \"\(name)\" here: expected it for verify, measure, sweep, run or gate, which load it in "
                        + "another process"
                    : "backend \"\(name)\": expected one of \(names.joined(separator: ", ")), \(pluginPrefix)/PATH or "
                        + "\(providerPrefix)NAME")
        }
        return try entry.make()
    }

    /// Makes any backend by its name, and loads what it takes into this process.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - isGuarded: Whether a plug-in's buffers lie between pages that it may not touch, which takes time.
    /// - Returns: The backend.
    /// - Throws: As ``backend(named:)``; what a plug-in or provider throws.
    package static func foreignBackend(
        named name: String, isGuarded: Bool = true
    ) throws(DecryptionError) -> any CipherBackend {
        if name.hasPrefix(pluginPrefix) {
            let plugin = try PluginBackend(path: String(name.dropFirst(pluginPrefix.count)))
            return isGuarded ? plugin : plugin.unguarded
        }
        if name.hasPrefix(providerPrefix) {
            return try OpenSSL(provider: String(name.dropFirst(providerPrefix.count)))
        }
        return try backend(named: name)
    }
}
