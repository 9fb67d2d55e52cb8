import ArgumentParser
import CommandOptions
import Glibc
import RandomAccess
import Server
import SystemPackage

/// What is served.
extension ServeCommand {
    /// Where everything is said that goes wrong while the server runs.
    @Sendable static func report(_ text: String) {
        Terminal.writeError("chunkwise serve: \(text)")
    }

    /// What the arguments name.
    func catalogue(_ token: AccessToken?) throws -> any ContentCatalogue {
        let isOneFolder = inputs.count == 1 && isFolder(inputs[0])
        for input in inputs where !isOneFolder && isFolder(input) {
            throw CommandFailure(.usage, "folder \(input): expected files, or one folder and nothing else")
        }
        if layout.strategy == PlaylistKeyOptions.strategyName {
            try layout.refuseParameters()
            if let iv {
                throw CommandFailure(.usage, "--iv \(iv): expected none with the strategy \(layout.strategy)")
            }
            return try playlists(token, isOneFolder: isOneFolder)
        }
        let format = try format()
        guard isOneFolder else {
            try playlistKeys.refuse(with: "\(layout.strategy) and files")
            if hlsEncrypted {
                throw CommandFailure(.usage, "--hls-encrypted: expected a folder, or --strategy hls-aes128")
            }
            let files = try attempt { try EncryptedFiles(files: inputs.map { FilePath($0) }, format: format) }
            try checkFirst(files)
            return files
        }
        let folder = FilePath(inputs[0])
        var options = try playlistOptions(token, key: nil)
        options.mayBeOthers = true
        return try attemptInput {
            CombinedCatalogue(
                try ServedPlaylists(folder: folder, options: options),
                before: try EncryptedFiles(folder: folder, format: format))
        }
    }

    private func format() throws -> EncryptedFiles.Format {
        var fixedIV = try iv.map { try IVOptions.parse(["--iv", $0]).block() }
        // What is wrong with the options should not wait for the first request.
        let example = try layout.strategy(iv: fixedIV ?? Block(bigEndianValue: 0))
        if example.chunkFormat != nil {
            if let iv {
                throw CommandFailure(.usage, "--iv \(iv): expected none with the strategy \(layout.strategy)")
            }
            // Nothing uses it; and no file holds one.
            fixedIV = Block(bigEndianValue: 0)
        }
        let cipher = try Validated.backend(backend)
        let key = try keyOptions.key()
        let layout = layout
        return EncryptedFiles.Format(description: "\(example)", iv: fixedIV) {
            (source, iv) throws(DecryptionError) in
            guard let strategy = try? layout.strategy(iv: iv) else { throw .unsupported(layout.strategy) }
            return try EncryptedObject(source: source, strategy: strategy, backend: cipher, key: key)
        }
    }

    private func playlistOptions(_ token: AccessToken?, key: SecretKey?) throws -> ServedPlaylists.Options {
        var options = ServedPlaylists.Options(
            backend: try Validated.backend(backend),
            keys: try playlistKeys.rings(key, isStrict: keyOptions.strict) { Self.report("warning: \($0)") })
        options.keepsEncryption = hlsEncrypted
        options.query = token.map { "?\(AccessToken.queryName)=\($0.text)" } ?? ""
        options.isRecorded = record != nil
        options.report = Self.report
        return options
    }

    /// The playlists of a folder, or those that were named, which lie in one.
    private func playlists(_ token: AccessToken?, isOneFolder: Bool) throws -> ServedPlaylists {
        var options = try playlistOptions(token, key: keyOptions.isGiven ? keyOptions.key() : nil)
        if isOneFolder {
            return try attemptInput { try ServedPlaylists(folder: FilePath(inputs[0]), options: options) }
        }
        let paths = inputs.map { FilePath($0) }
        let folders = Set(paths.map { $0.removingLastComponent() })
        guard let folder = folders.first, folders.count == 1 else {
            throw CommandFailure(.usage, "playlists in several folders: expected one folder for all")
        }
        options.named = paths.compactMap { $0.lastComponent?.string }
        let playlists = try attemptInput {
            try ServedPlaylists(folder: folder.isEmpty ? "." : folder, options: options)
        }
        for (input, name) in zip(inputs, options.named) {
            let content = try attempt { try playlists.content(at: [name]) }
            guard content != nil else {
                throw CommandFailure(.missingInput, "\(input): expected a playlist, whose name ends in .m3u8")
            }
        }
        return playlists
    }

    /// Files that were named are opened once, so that a wrong key is not found by the first client.
    private func checkFirst(_ files: EncryptedFiles) throws {
        for input in inputs {
            let name = FilePath(input).lastComponent?.string ?? input
            let content = try attempt(name) { try files.content(at: [name]) }
            guard content != nil else {
                throw CommandFailure(.missingInput, "\(input): expected a file that can be read")
            }
        }
    }

    /// The corresponding C function is `opendir`.
    private func isFolder(_ path: String) -> Bool {
        guard let stream = opendir(path) else { return false }
        closedir(stream)
        return true
    }
}
