internal import CChunkwisePlugin
internal import CLinux
internal import Glibc
import RandomAccess
import Support

/// A loaded shared library and its table; it stays loaded until the process ends.
///
/// - Source: `include/chunkwise_plugin.h`.
final class PluginLibrary: Sendable {
    /// The table, which is at least as long as its type.
    nonisolated(unsafe) let table: UnsafePointer<chunkwise_plugin>
    let name: String
    let version: String
    /// The strategies of its whole reader; empty if it has ciphers only.
    let strategies: [String]
    /// True if it has ciphers.
    let hasCiphers: Bool
    /// SHA-256 of the file, in hexadecimal digits.
    let digest: String
    /// The names of the libraries that it needs, and of those that were loaded with it.
    let neededLibraries: [String]

    /// Checks a file, loads it, and gets its table.
    ///
    /// - Parameter path: An absolute path, so that no search path decides which library is loaded.
    /// - Throws: `PluginError` as a `DecryptionError.layer`.
    init(path: String) throws(DecryptionError) {
        guard path.hasPrefix("/"), !path.contains("\0") else {
            throw .plugin(.refused(path: path, reason: "not an absolute path", expected: "one that begins with /"))
        }
        // A link is resolved once, so that a later change of the link has no effect.
        let path = Self.resolved(path)
        let before = try Self.checked(path)
        let digest = try Self.digest(of: path)
        let loaded = Self.loadedFiles()
        chunkwise_plugin_watch()
        // The plug-in's own libraries take precedence over this program's for common symbols: BoringSSL beside OpenSSL.
        let handle = PluginCall.run("initialization") { dlopen(path, RTLD_NOW | RTLD_LOCAL | Self.deepBinding) }
        guard let handle else {
            throw .plugin(.refused(path: path, reason: Self.linkerError(), expected: "a shared library that loads"))
        }
        // Makes sure that the loaded file is the one that was checked and hashed.
        guard try Self.checked(path) == before else {
            throw .plugin(
                .refused(path: path, reason: "it was changed meanwhile", expected: "a file that stays as it is"))
        }
        guard let symbol = dlsym(handle, "chunkwise_plugin_v1") else {
            throw .plugin(
                .refused(
                    path: path, reason: "it has no function chunkwise_plugin_v1", expected: "one, see docs/plugins.md"))
        }
        typealias Entry = @convention(c) (UInt32) -> UnsafePointer<chunkwise_plugin>?
        let entry = unsafeBitCast(symbol, to: Entry.self)
        let table = PluginCall.run("chunkwise_plugin_v1") { entry(UInt32(CHUNKWISE_ABI)) }
        guard let table else {
            throw .plugin(
                .refused(path: path, reason: "it gave no table for ABI \(CHUNKWISE_ABI)", expected: "a table"))
        }
        self.table = table
        func refused(_ reason: String, _ expected: String) -> DecryptionError {
            .plugin(.refused(path: path, reason: reason, expected: expected))
        }
        guard table.pointee.abi == UInt32(CHUNKWISE_ABI) else {
            throw refused("its table is of ABI \(table.pointee.abi)", "\(CHUNKWISE_ABI)")
        }
        guard Int(table.pointee.size) >= MemoryLayout<chunkwise_plugin>.size else {
            throw refused("its table has \(table.pointee.size) bytes", "sizeof(chunkwise_plugin)")
        }
        guard let name = table.pointee.name, let version = table.pointee.version else {
            throw refused("its table has no name or version", "both")
        }
        self.name = String(PlainText.line(String(cString: name)).prefix(Self.maxTextLength))
        self.version = String(PlainText.line(String(cString: version)).prefix(Self.maxTextLength))
        let hasReader =
            table.pointee.open != nil && table.pointee.cursor != nil && table.pointee.read != nil
            && table.pointee.cursor_free != nil && table.pointee.close != nil
        self.strategies = hasReader ? Self.texts(table.pointee.strategies) : []
        let hasKeys = table.pointee.key != nil && table.pointee.key_free != nil
        self.hasCiphers = hasKeys && table.pointee.decrypt != nil
        guard hasReader && !strategies.isEmpty || hasKeys else {
            throw refused(
                "its table has neither level whole",
                "key and key_free; or open, cursor, read, cursor_free, close and strategies")
        }
        self.digest = digest
        let needs = Self.texts { chunkwise_each_need(handle, $0, $1) }
        // A library that it needs may have been loaded already, such as libcrypto; one that was loaded with it may be
        // an indirect need.
        self.neededLibraries = Self.loadedFiles().filter { file in
            file != path && (!loaded.contains(file) || needs.contains { file.hasSuffix("/" + $0) })
        }.map(Self.resolvedName).filter { !$0.hasPrefix("libc.") && !$0.hasPrefix("ld-") }
    }

    /// The max number of characters of a name or a version; the rest is cut off.
    private static let maxTextLength = 60

    /// `RTLD_DEEPBIND`, a macro that Swift does not see.
    private static let deepBinding: Int32 = 0x8

    private static func linkerError() -> String {
        dlerror().map { PlainText.line(String(cString: $0)) } ?? "it cannot be loaded"
    }

    /// The identity of a file's version.
    private struct Identity: Equatable {
        var device, inode: UInt64
        var byteCount, modified, changed: Int
    }

    /// Checks that only its owner, either the superuser or the current user, can replace a library; the path contains
    /// no links.
    private static func checked(_ path: String) throws(DecryptionError) -> Identity {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw .plugin(.missing(path: path, reason: String(cString: strerror(errno))))
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .plugin(.refused(path: path, reason: "not a regular file", expected: "a shared library"))
        }
        try check(status, path, "it")
        // Checks each folder above it as well: a user who may write to one of them can replace the folder below.
        var folder = path
        while let end = folder.lastIndex(of: "/"), folder != "/" {
            folder = end == folder.startIndex ? "/" : String(folder[..<end])
            var folderStatus = stat()
            guard stat(folder, &folderStatus) == 0 else { continue }
            try check(folderStatus, path, "folder \(folder)")
        }
        return Identity(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), byteCount: Int(status.st_size),
            modified: status.st_mtim.tv_sec * 1_000_000_000 + status.st_mtim.tv_nsec,
            changed: status.st_ctim.tv_sec * 1_000_000_000 + status.st_ctim.tv_nsec)
    }

    private static func check(_ status: stat, _ path: String, _ what: String) throws(DecryptionError) {
        // In a folder such as /tmp, other users may create files but not replace this one; only its owner may.
        let isSticky = status.st_mode & S_IFMT == S_IFDIR && status.st_mode & S_ISVTX != 0
        guard isSticky || status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
            let permissions = String(status.st_mode & 0o777, radix: 8)
            throw .plugin(
                .refused(
                    path: path, reason: "others may write to \(what), whose permissions are \(permissions)",
                    expected: "chmod go-w"))
        }
        guard status.st_uid == 0 || status.st_uid == geteuid() else {
            throw .plugin(
                .refused(
                    path: path, reason: "\(what) belongs to user \(status.st_uid)",
                    expected: "user 0 or \(geteuid()), who runs this"))
        }
    }

    private static func digest(of path: String) throws(DecryptionError) -> String {
        guard let file = fopen(path, "re") else {
            throw .plugin(.missing(path: path, reason: String(cString: strerror(errno))))
        }
        defer { fclose(file) }
        let hasher = SHA256Hasher()
        withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 16) { buffer in
            while case let count = fread(buffer.baseAddress, 1, buffer.count, file), count > 0 {
                hasher.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
        }
        return Hexadecimal.encode(hasher.finish())
    }

    /// Returns the paths of all loaded libraries.
    private static func loadedFiles() -> [String] { texts(chunkwise_each_library) }

    /// Returns the texts that a C function passes to its callback.
    private static func texts(
        _ body: (@convention(c) (UnsafePointer<CChar>?, UnsafeMutableRawPointer?) -> Void, UnsafeMutableRawPointer) ->
            Void
    ) -> [String] {
        var texts: [String] = []
        withUnsafeMutablePointer(to: &texts) { texts in
            body(
                { text, context in
                    guard let text else { return }
                    context?.assumingMemoryBound(to: [String].self).pointee.append(String(cString: text))
                }, texts)
        }
        return texts
    }

    /// Returns the name of the file behind symbolic links, which contains a library's version:
    /// `libmbedcrypto.so.2.28.3`.
    private static func resolvedName(_ path: String) -> String {
        let whole = resolved(path)
        return whole.split(separator: "/").last.map { PlainText.line(String($0)) } ?? whole
    }

    /// Returns the path without symbolic links.
    private static func resolved(_ path: String) -> String {
        let resolved = realpath(path, nil)
        defer { free(resolved) }
        return resolved.map { String(cString: $0) } ?? path
    }

    private static func texts(_ list: UnsafePointer<UnsafePointer<CChar>?>?) -> [String] {
        var texts: [String] = []
        var next = list
        while let text = next?.pointee, texts.count < 32 {
            texts.append(String(cString: text))
            next = next?.successor()
        }
        return texts
    }
}

/// A call of a plug-in, which is reported if it ends the process.
enum PluginCall {
    /// Calls a function of the plug-in.
    ///
    /// `function` is its name, `input` the memory that it may read, `output` the memory that it may write to, `start`
    /// its IV, counter or nonce.
    @inline(__always)
    static func run<Result>(
        _ function: StaticString, input: UnsafeRawBufferPointer? = nil, output: UnsafeMutableRawBufferPointer? = nil,
        start: UnsafeRawBufferPointer? = nil, _ body: () -> Result
    ) -> Result {
        let before = chunkwise_plugin_begin(
            chunkwise_plugin_call(
                function: UnsafeRawPointer(function.utf8Start).assumingMemoryBound(to: CChar.self),
                input: input?.baseAddress, input_byte_count: input?.count ?? 0, output: output?.baseAddress,
                output_byte_count: output?.count ?? 0, start: start?.baseAddress, start_byte_count: start?.count ?? 0))
        defer { chunkwise_plugin_resume(before) }
        return body()
    }

    /// Calls a function that returns a `chunkwise_result`.
    ///
    /// - Throws: `PluginError.failed` as a `DecryptionError.layer`.
    @inline(__always)
    static func check(
        _ function: StaticString, input: UnsafeRawBufferPointer? = nil, output: UnsafeMutableRawBufferPointer? = nil,
        _ body: () -> Int32
    ) throws(DecryptionError) {
        let result = run(function, input: input, output: output, body)
        guard result == 0 else { throw .plugin(.failed(function: "\(function)", result: result)) }
    }

    /// Calls code of this program from within a call of the plug-in.
    static func outside<Result>(_ body: () -> Result) -> Result {
        let before = chunkwise_plugin_begin(chunkwise_plugin_call())
        defer { chunkwise_plugin_resume(before) }
        return body()
    }
}
