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

/// The backends of this program. No other place names them all.
package enum BackendRegistry {
    /// A backend's name and its factory.
    package struct Entry: Sendable {
        /// The name that selects the backend.
        package let name: String
        /// Makes the backend, or throws the reason that this machine lacks it.
        package let make: @Sendable () throws(DecryptionError) -> any CipherBackend
    }

    /// All backends, in display order.
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

    /// Makes the backend over swift-crypto, which takes most of a minute to build and so depends on a package trait.
    private static func boringSSL() throws(DecryptionError) -> any CipherBackend {
        #if BoringSSL
        BoringSSL(machineFeatures: CPUFlags.ofThisMachine())
        #else
        throw .unavailable(
            backend: "boringssl", reason: "swift-crypto is not in this build",
            expected: "a program built by scripts/build --all")
        #endif
    }

    /// All names, in display order.
    package static var names: [String] { entries.map(\.name) }

    /// The names of the backends that this machine has.
    package static var availableNames: [String] {
        entries.filter { (try? $0.make()) != nil }.map(\.name)
    }

    /// Returns the names of the backends on this machine that offer a cipher.
    package static func availableNames(having cipher: Cipher) -> [String] {
        entries.filter { (try? $0.make())?.supports(cipher) == true }.map(\.name)
    }

    /// Returns the names of the backends on this machine that support a strategy.
    package static func availableNames(reading strategy: Strategy) -> [String] {
        entries.filter { (try? $0.make())?.supports(strategy) == true }.map(\.name)
    }

    /// The prefix of plug-in names, before the library's path.
    package static let pluginPrefix = PluginBackend.prefix
    private static let providerPrefix = OpenSSL.providerPrefix

    /// Returns whether a name denotes code from outside this program: a plug-in, `plugin:/absolute/lib.so`, or a
    /// provider of OpenSSL, `openssl:provider=NAME:PROPERTIES`. Only ``foreignBackend(named:)`` loads it, in a process
    /// of its own.
    package static func isForeign(_ name: String) -> Bool {
        name.hasPrefix(pluginPrefix) || name.hasPrefix(providerPrefix)
    }

    /// Returns one of this program's own backends by its name.
    ///
    /// - Throws: `DecryptionError.unsupported` if there is no such backend, `.unavailable` if this machine lacks it, or
    ///   any other error of its factory.
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

    /// Returns any backend by its name, and loads its library into this process.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - isGuarded: True to put a plug-in's buffers between guard pages, which takes time.
    /// - Returns: The backend.
    /// - Throws: The errors of ``backend(named:)``, of a plug-in or of a provider.
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
