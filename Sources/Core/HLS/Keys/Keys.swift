// Whoever opens playlists needs the keys' words as well: `KeyProvider`, `ProvidedKey`, `KeyWarning`, `KeyError`.
@_exported public import Keys
