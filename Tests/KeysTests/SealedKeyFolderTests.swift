import ByteSources
import Foundation
import Glibc
import HLS
import Keys
import RandomAccess
import SwiftAESBackend
import Synchronization
import SystemPackage
import TestSupport
import Testing

private func permissions(_ path: String) -> mode_t {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
}

/// The warnings, in order.
final class Warnings: Sendable {
    private let list = Mutex<[KeyWarning]>([])

    var all: [KeyWarning] { list.withLock { $0 } }

    func add(_ warning: KeyWarning) { list.withLock { $0.append(warning) } }
}

@Suite("sealed keys in a folder")
struct SealedKeyFolderTests {
    private let outer: TemporaryFolder
    private let path: String
    private let clock = StillClock()

    init() throws {
        outer = try TemporaryFolder()
        path = outer.path("keys")
    }

    private func folder(isStrict: Bool = false, warnings: Warnings = Warnings()) throws -> SealedKeyFolder {
        try SealedKeyFolder(path: FilePath(path), isStrict: isStrict) { warnings.add($0) }
    }

    private func session(
        _ exchange: any KeyExchange, device: String = "device-1", sealer: UInt8 = 7
    ) throws -> KeySession {
        let key = try SecretKey([UInt8](repeating: sealer, count: 32))
        let storage = SealedKeyStore(storage: try folder(), sealer: try GCMSealer(backend: SwiftBitsliced(), key: key))
        return KeySession(exchange: exchange, device: device, seed: 1, clock: clock, storage: storage)
    }

    /// All bytes of all files, for searching.
    private func contents() -> [UInt8] {
        outer.names(in: "keys").flatMap { outer.bytes("keys/\($0)") ?? [] }
    }

    @Test("what is written is read, the oldest first, and erased up to a generation")
    func roundTrip() throws {
        let folder = try folder()
        #expect(try folder.sealed(identifier: "a").isEmpty)
        for generation in [2, 10, 1] { try folder.write([UInt8(generation)], identifier: "a", generation: generation) }
        try folder.write([99], identifier: "b", generation: 1)
        #expect(try folder.sealed(identifier: "a") == [[1], [2], [10]])
        try folder.erase(identifier: "a", generation: 2)
        #expect(try folder.sealed(identifier: "a") == [[10]])
        try folder.write([11, 12], identifier: "a", generation: 10)
        #expect(try folder.sealed(identifier: "a") == [[11, 12]])
        #expect(try folder.sealed(identifier: "b") == [[99]])
        try folder.erase(identifier: "none", generation: 5)
        #expect(outer.names(in: "keys").count == 2)
    }

    @Test("erased and replaced files are overwritten before they go")
    func overwritten() throws {
        let folder = try folder()
        for (generation, replacing) in [(1, false), (2, true)] {
            try folder.write([UInt8](repeating: 0xAB, count: 10_000), identifier: "a", generation: generation)
            let name = try #require(outer.names(in: "keys").last)
            // A second name keeps what the file becomes.
            #expect(link("\(path)/\(name)", outer.path("kept\(generation)")) == 0)
            if replacing {
                try folder.write([1], identifier: "a", generation: generation)
            } else {
                try folder.erase(identifier: "a", generation: generation)
            }
            #expect(outer.bytes("kept\(generation)") == [UInt8](repeating: 0, count: 10_000))
        }
    }

    @Test("folder and files are their owner's alone, and names tell nothing")
    func modes() throws {
        let identifier = "https://user:password@host/key?token=secret"
        try folder().write([1, 2, 3], identifier: identifier, generation: 1)
        #expect(permissions(path) == 0o700)
        let names = outer.names(in: "keys")
        #expect(names.count == 1)
        for name in names {
            #expect(permissions("\(path)/\(name)") == 0o600)
            #expect(!name.contains("user") && !name.contains("secret"))
        }
    }

    @Test("what others can open is a warning, and an error if one is strict", arguments: [0o755, 0o770, 0o701])
    func openFolder(_ mode: Int) throws {
        _ = try folder()
        chmod(path, mode_t(mode))
        let warnings = Warnings()
        _ = try folder(warnings: warnings)
        #expect(warnings.all == [.folderOpenToOthers(path: path, permissions: UInt32(mode))])
        #expect(
            throws: DecryptionError.openToOthers(
                path: "key folder \(path)", permissions: UInt32(mode), expected: 0o700)
        ) { try folder(isStrict: true) }
    }

    @Test("a file that others can open is a warning, and an error if one is strict", arguments: [0o644, 0o660, 0o604])
    func openFile(_ mode: Int) throws {
        try folder().write([1], identifier: "a", generation: 1)
        let file = "\(path)/\(try #require(outer.names(in: "keys").first))"
        chmod(file, mode_t(mode))
        let warnings = Warnings()
        #expect(try folder(warnings: warnings).sealed(identifier: "a") == [[1]])
        #expect(warnings.all == [.readableByOthers(path: file, permissions: UInt32(mode))])
        #expect(
            throws: DecryptionError.openToOthers(path: "key file \(file)", permissions: UInt32(mode), expected: 0o600)
        ) { try folder(isStrict: true).sealed(identifier: "a") }
    }

    @Test("links, pipes, folders and long files are no keys, and nothing waits for them")
    func strange() throws {
        let folder = try folder()
        try folder.write([1], identifier: "a", generation: 1)
        let name = try #require(outer.names(in: "keys").first)
        let stem = "\(path)/\(name.dropLast("1.key".count))"
        #expect(mkfifo(stem + "2.key", 0o600) == 0)
        try outer.file("other", [UInt8](repeating: 0x5A, count: 10))
        #expect(symlink(outer.path("other"), stem + "3.key") == 0)
        #expect(FileManager.default.createFile(atPath: stem + "4.key", contents: nil))
        #expect(truncate(stem + "4.key", 1 << 40) == 0)
        #expect(try folder.sealed(identifier: "a") == [[1], [], [], []])
        #expect(truncate(stem + "4.key", 100) == 0)
        try folder.erase(identifier: "a", generation: 9)
        #expect(outer.names(in: "keys").isEmpty)
        #expect(outer.bytes("other") == [UInt8](repeating: 0x5A, count: 10))
    }

    @Test("a rental's life on real files: the updated key replaces the old one, elsewhere it is of no use")
    func rental() async throws {
        let exchange = OneKey(terms: .persistable(storage: .seconds(30 * 86_400), playback: .seconds(86_400)))
        let first = try session(exchange)
        await first.persist(["a"])
        _ = try await first.key(for: "a")
        let before = outer.names(in: "keys")
        #expect(before.count == 1 && before[0].hasSuffix("-1.key"))
        #expect(!contents().contains(OneKey.bytes))
        // Another process, later: no question, and the first use starts the second clock.
        let second = try session(exchange)
        let key = try await second.key(for: "a")
        #expect(key.withUnsafeBytes { Array($0) } == OneKey.bytes)
        await second.endRead(try await second.beginRead(with: "a"))
        let after = outer.names(in: "keys")
        #expect(after.count == 1 && after[0].hasSuffix("-2.key"))
        #expect(!contents().contains(OneKey.bytes))
        #expect(exchange.count == 1)
        // Another device, another sealing key: each asks for an online key.
        for (device, sealer, failure) in [("device-2", 7, KeyFailure.otherDevice), ("device-1", 8, .unopenable)] {
            let other = try session(OneKey(), device: device, sealer: UInt8(sealer))
            _ = try await other.key(for: "a")
            #expect(await other.notices == [.storedUnusable(identifier: "a", failure)])
            #expect("\(failure)".contains("ask for an online key"))
        }
        // Use is stored ahead until the session ends. The clock set back by an hour, then a day later.
        await second.close()
        clock.wall.withLock { $0 -= .seconds(3600) }
        let behind = try session(OneKey())
        _ = try await behind.key(for: "a")
        #expect(
            await behind.notices == [.storedUnusable(identifier: "a", .clockSetBack(by: .seconds(3600)))])
        clock.wall.withLock { $0 += .seconds(3600 + 86_400) }
        let late = try session(OneKey())
        _ = try await late.key(for: "a")
        #expect(await late.notices == [.storedUnusable(identifier: "a", .playbackExpired)])
        #expect(outer.names(in: "keys").isEmpty)
    }

    @Test("each byte of a stored key counts")
    func damaged() async throws {
        let exchange = OneKey(terms: .persistable(storage: .seconds(86_400), playback: .seconds(86_400)))
        let first = try session(exchange)
        await first.persist(["a"])
        _ = try await first.key(for: "a")
        let name = "keys/\(try #require(outer.names(in: "keys").first))"
        let whole = try #require(outer.bytes(name))
        for place in [0, 8, 20, whole.count / 2, whole.count - 1] {
            var changed = whole
            changed[place] ^= 0x40
            try outer.file(name, changed)
            let other = try session(OneKey())
            _ = try await other.key(for: "a")
            #expect(await other.notices == [.storedUnusable(identifier: "a", .unopenable)])
        }
    }

    @Test("a folder that cannot be is a named error")
    func impossible() throws {
        #expect(throws: DecryptionError.self) { try SealedKeyFolder(path: FilePath(outer.path("none/keys"))) }
        try outer.file("file", "x")
        #expect(throws: DecryptionError.self) { try SealedKeyFolder(path: FilePath(outer.path("file"))) }
    }
}

@Suite("device identities")
struct DeviceIdentityTests {
    @Test("an identity is made once, and is its owner's alone")
    func made() throws {
        let folder = try TemporaryFolder()
        let path = FilePath(folder.path("device"))
        #expect(throws: DecryptionError.self) { try DeviceIdentity(path: path) }
        let first = try DeviceIdentity(path: path, isMade: true)
        #expect(try DeviceIdentity(path: path, isMade: true) == first)
        #expect(try DeviceIdentity(path: path, isStrict: true) == first)
        #expect(folder.names == ["device"] && permissions(folder.path("device")) == 0o600)
        #expect(first.name.count == 64)
        let other = try DeviceIdentity(path: FilePath(folder.path("other")), isMade: true)
        #expect(other != first)
        chmod(folder.path("device"), 0o640)
        let warnings = Warnings()
        #expect(try DeviceIdentity(path: path, warn: warnings.add) == first)
        #expect(warnings.all == [.readableByOthers(path: folder.path("device"), permissions: 0o640)])
        #expect(throws: DecryptionError.self) { try DeviceIdentity(path: path, isStrict: true) }
    }

    @Test(
        "a file that holds no identity is an error, and stays as it is",
        arguments: ["", "\n", "abc\n", String(repeating: "G", count: 64), String(repeating: "a", count: 62)])
    func wrong(_ text: String) throws {
        let folder = try TemporaryFolder()
        try folder.file("device", text)
        #expect {
            try DeviceIdentity(path: FilePath(folder.path("device")), isMade: true)
        } throws: {
            guard case .invalidParameter("device identity", _, _) = $0 as? DecryptionError else { return false }
            return true
        }
        #expect(folder.bytes("device") == Array(text.utf8))
    }
}
