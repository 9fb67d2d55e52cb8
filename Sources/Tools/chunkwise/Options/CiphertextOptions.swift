import ArgumentParser
import ByteSources
import RandomAccess

/// The options about a user's ciphertext.
struct CiphertextOptions: ParsableArguments {
    @Flag(help: "Take a file for CBC or CTR from its first byte on, though that is not what it begins with.")
    var asIs = false

    init() {}

    /// Opens a ciphertext; see `GivenCiphertext.open(_:_:isAsSaid:_:)`.
    func open<Object>(
        _ source: any ByteSource, _ strategy: Strategy, _ open: () throws(DecryptionError) -> Object
    ) throws(DecryptionError) -> Object {
        try GivenCiphertext.open(source, strategy, isAsSaid: asIs, open)
    }

    /// Refuses the option where there is no such ciphertext.
    func refuse(with what: String) throws {
        try require(!asIs, "--as-is: expected none with \(what)")
    }
}
