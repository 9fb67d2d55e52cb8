import ArgumentParser
import ByteSources
import RandomAccess

/// The options about a user's ciphertext.
struct CiphertextOptions: ParsableArguments {
    @Flag(help: "Decrypt from the first byte with CBC or CTR, even if the file looks like another format.")
    var asIs = false

    init() {}

    /// Opens a ciphertext; see `GivenCiphertext.open(_:_:isAsSaid:_:)`.
    func open<Object>(
        _ source: any ByteSource, _ strategy: Strategy, _ open: () throws(DecryptionError) -> Object
    ) throws(DecryptionError) -> Object {
        try GivenCiphertext.open(source, strategy, isAsSaid: asIs, open)
    }

    /// Refuses the option for an input without such a ciphertext.
    func refuse(with what: String) throws {
        try require(!asIs, "--as-is: expected none with \(what)")
    }
}
