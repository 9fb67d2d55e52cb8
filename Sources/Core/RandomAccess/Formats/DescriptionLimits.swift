/// Limits of the information about a key that a description may reveal, and of its running time. `FormatReader` limits
/// its text.
extension Format.Rules {
    /// Refuses lengths and names that depend on the key: an attacker with the object alone would learn them, also from
    /// messages.
    func checkSecrets() throws(DescriptionError) {
        let sealed = (header + trailerFields).compactMap(\.sealed)
        let held = sealed.flatMap(\.holds)
        var secrets = Set(["key"] + held.map(\.name))
        for derived in derived where !secrets.isDisjoint(with: derived.formula.expression.names) {
            secrets.insert(derived.name)
        }
        // Parts of the key itself, without a hash in between.
        var raw = Set(["key"] + held.map(\.name))
        for derived in derived where derived.formula.expression.shows(raw) { raw.insert(derived.name) }
        for formula in (header + parts + trailerFields).flatMap(\.contents) where formula.expression.shows(raw) {
            throw DescriptionError(
                formula.place, "the key, or some of it, would stand in the file: expected what a hash makes of it")
        }
        for sealed in sealed where secrets.isDisjoint(with: sealed.key.expression.names) {
            for formula in sealed.holds.flatMap(\.contents) where formula.expression.shows(raw) {
                throw DescriptionError(
                    formula.place, "the key, or some of it, encrypted with what everybody knows: expected a secret key")
            }
        }
        let repetitions = header.compactMap(\.repetition).flatMap(\.formulas)
        let lengths =
            shapeFormulas + (allHeaderFields + trailerFields).map(\.byteCount)
            + [lastChunk, dataStart].compactMap(\.self)
        for formula in lengths + repetitions {
            for name in formula.expression.names.sorted() where secrets.contains(name) {
                throw DescriptionError(
                    formula.place, "\"\(name)\" follows from the key: expected what is known without it")
            }
        }
    }

    /// Refuses fields whose key depends on their own content, so that no reader could open them.
    func checkSealed() throws(DescriptionError) {
        var closed = header.filter { $0.sealed != nil }
        var waiting = derived[...]
        while true {
            let hidden = Set(closed.flatMap { $0.sealed?.holds.map(\.name) ?? [] } + waiting.map(\.name))
            let isOpen: (Format.Field) -> Bool = { field in
                field.sealed?.formulas.allSatisfy { hidden.isDisjoint(with: $0.expression.names) } ?? true
            }
            if let index = closed.firstIndex(where: isOpen) {
                closed.remove(at: index)
            } else if waiting.popFirst() == nil {
                break
            }
        }
        guard let field = closed.first, let key = field.sealed?.key else { return }
        throw DescriptionError(key.place, "\"\(field.name)\" opens with what it holds: expected what is known before")
    }

    /// The max number of password hashes of a description; each may take seconds.
    private static let maxPasswordHashCount = 2

    /// Refuses password hashes except in a few derived values, which are computed once.
    func checkWork() throws(DescriptionError) {
        let fields = (allHeaderFields + parts + trailerFields).flatMap {
            [$0.byteCount] + $0.contents + ($0.sealed?.formulas ?? []) + ($0.repetition?.formulas ?? [])
        }
        let checks = checks.flatMap { [$0.condition, $0.requirement] }
        let wholes = [whole?.condition, whole?.fold, whole?.requirement]
        let others =
            ([key, nonce, associatedData, rejectedNonce, hole, lastChunk, dataStart] + checks + wholes)
            .compactMap(\.self) + shapeFormulas + fields
        for formula in others where formula.expression.count(of: .pbkdf2) > 0 {
            throw DescriptionError(formula.place, "pbkdf2: expected it in \"derive\" only")
        }
        var count = 0
        for derived in derived {
            count += derived.formula.expression.count(of: .pbkdf2)
            guard count <= Self.maxPasswordHashCount else {
                throw DescriptionError(
                    derived.formula.place, "more than \(Self.maxPasswordHashCount) calls of pbkdf2: expected fewer")
            }
        }
    }
}
