import ByteSources
import CommandOptions
import Measurement
import RandomAccess
import SystemPackage

/// An object of the user's, to measure on.
struct OwnObject {
    let layout: StrategyOptions
    let ivOptions: IVOptions
    let keyOptions: KeyOptions

    /// Opens a file.
    func file(_ path: String) throws -> MeasuredObject {
        guard !URLText.isURL(path) else {
            throw CommandFailure(
                .usage, "--input \(URLText.shown(path)): expected a file (a URL of HTTP goes into --source)")
        }
        try refusePlaylist("--input \(path)")
        let strategy = try layout.strategy(ivOptions)
        let key = try keyOptions.key()
        return try attemptInput { try MeasuredObject.file(FilePath(path), strategy: strategy, key: key) }
    }

    /// Opens an object on a server.
    func served(_ url: String, _ network: NetworkOptions) throws -> (object: MeasuredObject, place: RemoteObject) {
        try refusePlaylist("--source \(URLText.shown(url))")
        let place = try network.place(url, isStrict: keyOptions.strict)
        _ = try Network.required()
        let strategy = try layout.strategy(ivOptions)
        let key = try keyOptions.key()
        let ciphertext = try Network.open(place)
        let object = try attempt(URLText.shown(url)) {
            try MeasuredObject.served(ciphertext, at: place, strategy: strategy, key: key)
        }
        return (object, place)
    }

    private func refusePlaylist(_ option: String) throws {
        guard layout.isPlaylist else { return }
        throw CommandFailure(
            .usage, "\(option): expected none with --strategy \(layout.strategy), whose object is made here")
    }
}
