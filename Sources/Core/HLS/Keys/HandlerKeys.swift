public import RandomAccess

/// A provider that is a function of the program's own.
public struct HandlerKeys: KeyProvider {
    private let handler: @Sendable (_ uri: String) throws -> SecretKey

    /// Creates a provider.
    ///
    /// - Parameter handler: Finds the key for a URI. What it throws becomes `KeyError.refused` with the error's
    ///   description, unless it is a `KeyError`; the description must not hold the key.
    public init(_ handler: @escaping @Sendable (_ uri: String) throws -> SecretKey) {
        self.handler = handler
    }

    /// Calls the handler; see `KeyProvider.key(for:)`.
    public func key(for uri: String) throws(KeyError) -> ProvidedKey {
        do {
            return ProvidedKey(try handler(uri))
        } catch let error as KeyError {
            throw error
        } catch DecryptionError.invalidKey(let byteCount) {
            throw .wrongLength(
                byteCount: byteCount, isMore: false, place: "what the handler returned", isHexadecimal: false)
        } catch {
            throw .refused(reason: "\(error)")
        }
    }
}
