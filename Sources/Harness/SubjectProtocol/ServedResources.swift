package import RandomAccess

/// What the harness serves where an object has several resources: `need` is answered from the one that it names.
package protocol ServedResources: Sendable {
    /// The resource that a `need` asks for.
    ///
    /// - Parameter uri: The member `uri`, or `nil` if there is none.
    /// - Returns: The resource, or `nil` if the object has none of that name.
    func resource(_ uri: String?) -> (any ByteSource)?
}
