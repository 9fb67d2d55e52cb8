package import RandomAccess
import Vectors

extension Mutant {
    /// Faults of readers of a format: a right reader reads with one rule of the description changed.
    static let rules: [Mutant] = rules(of: Format.known)

    /// Returns the faults that make a difference to at least one of the formats.
    package static func rules(of formats: [Format]) -> [Mutant] {
        allRules.filter { rule in formats.contains { $0.changing(rule.change) != $0 } }.map(\.mutant)
    }

    private static let allRules = numbers + headers + ends

    private static let numbers: [Rule] =
        [8, 16, 24].map { bits in
            .rule(
                "number-\(bits)-bit", "A chunk's number has \(bits) bits in its nonce, associated data and key.",
                flag: .chunkCounter, source: "Wycheproof, flag CounterRollover"
            ) { $0.replaceInChunks(["i": .operation(.bitAnd, .name("i"), .integer((1 << Int128(bits)) - 1))]) }
        } + [
            .rule(
                "number-from-1", "Chunks are counted from 1.", flag: .chunkOrder,
                source: "c2sp.org/age, \"Payload\""
            ) { $0.replaceInChunks(["i": .operation(.plus, .name("i"), .integer(1))]) },
            .rule(
                "number-from-0", "Chunks are counted from 0 in a format that counts from another number.",
                flag: .chunkOrder, source: "RocksDB, env/env_encryption.cc"
            ) { rules in
                rules.mapInChunks { part in
                    guard case .operation(.plus, let left, let right) = part else { return nil }
                    return [left, right].contains(.name("i")) ? .name("i") : nil
                }
            },
            .rule(
                "number-unscaled", "A chunk's number is taken in other units than the format's.", flag: .chunkCounter,
                source: "ceph/ceph#39005"
            ) { rules in
                rules.mapInChunks { part in
                    switch part {
                    case .operation(.times, .name("i"), _): .name("i")
                    case .operation(.shiftLeft, .operation(.shiftRight, .name("i"), let bits), _):
                        .operation(.shiftRight, .name("i"), bits)
                    default: nil
                    }
                }
            },
            .rule(
                "first-counter-lower", "The number that a format starts its counter with is 1 too low.",
                flag: .chunkEdge, source: "NIST SP 800-38D, section 7.1"
            ) { rules in
                let nonce = rules.nonce.expression.mapping { part in
                    guard case .call(.u32be, let arguments) = part, case .integer(let start)? = arguments.first,
                        start > 0
                    else { return nil }
                    return .call(.u32be, [.integer(start - 1)])
                }
                rules.nonce = Formula(nonce, rules.nonce.kind, at: rules.nonce.place)
            },
            .rule(
                "number-reversed", "The bytes of a chunk's number are in the other order.", flag: .chunkOrder,
                source: "rclone/rclone#677"
            ) { rules in
                rules.changeInChunks { $0.names.contains("i") ? $0.reversingByteOrder : $0 }
            },
            .rule(
                "number-constant", "All chunks have the number 0.", flag: .chunkOrder,
                source: "NIST SP 800-38D, section 8.2"
            ) { $0.replaceInChunks(["i": .integer(0)]) },
            .rule(
                "last-flag-ignored", "The last chunk is opened as one that others follow.", flag: .truncatedChunks,
                source: "str4d/rage#195"
            ) { $0.replaceInChunks(["last": .integer(0)]) },
            .rule(
                "associated-data-ignored", "Chunks are opened without their associated data.", flag: .chunkOrder,
                source: "NIST SP 800-38D, section 7.2"
            ) { rules in
                if !rules.hasNoAssociatedData { rules.associatedData = nil }
            },
        ]

    private static let headers: [Rule] = [
        .rule(
            "salt-ignored", "Keys are derived without the header's random bytes.", flag: .keyDerivation,
            source: "RFC 5869, section 3.1"
        ) { rules in
            let random = Set(rules.header.filter(\.content.isEmpty).map(\.name))
            rules.replaceInDerived(random)
        },
        .rule(
            "context-ignored", "Keys are derived without what the object is bound to.", flag: .keyDerivation,
            source: "RFC 5869, section 3.2"
        ) { rules in
            let given = rules.inputs.filter { if case .bytes(nil) = $0.kind { true } else { false } }.map(\.name)
            rules.replaceInDerived(Set(given))
        },
        .rule(
            "commitment-ignored", "Header fields that follow from the key are not compared.", flag: .headerCheck,
            source: "c2sp.org/chunked-encryption, \"Key derivation\""
        ) { rules in
            let derived = Set(rules.derived.map(\.name) + ["key"])
            rules.changeHeader { $0.names.isDisjoint(with: derived) }
        },
        .rule(
            "header-unchecked", "Header fields that are the same in all objects are not compared.", flag: .headerCheck,
            source: "rclone/rclone, \"magic\""
        ) { rules in
            let derived = Set(rules.derived.map(\.name) + ["key"])
            rules.changeHeader(besides: rules.neededNames) { !$0.names.isDisjoint(with: derived) }
        },
        .rule(
            "part-unchecked", "The parts of chunks that must be something are not compared.", flag: .chunkTag,
            source: "minio/sio, DARE.md, \"Security considerations\""
        ) { rules in
            rules.layout = rules.layout.map { part in
                guard case .field(var field) = part else { return part }
                field.content = []
                return .field(field)
            }
        },
    ]

    private static let ends: [Rule] = [
        .rule(
            "empty-last-refused", "An empty last chunk is an error.", flag: .chunkEdge, source: "str4d/rage#319"
        ) { if $0.emptyLast == .allowed { $0.emptyLast = .never } },
        .rule(
            "empty-last-allowed", "An empty last chunk behind full ones is taken for a last chunk.",
            flag: .impossibleLastChunk, source: "c2sp.org/age, \"Payload\""
        ) { if $0.emptyLast == .onlyChunk { $0.emptyLast = .allowed } },
        .rule(
            "full-last-allowed", "A ciphertext that ends with a full chunk is taken for a whole one.",
            flag: .truncatedChunks, source: "c2sp.org/chunked-encryption, \"Message chunking\""
        ) { $0.isLastNeverFull = false },
        .rule(
            "end-unchecked", "The last chunk is not looked at when an object is opened.", flag: .truncatedChunks,
            source: "str4d/rage#195"
        ) { rules in
            // Without tags, there is nothing to check; the padding of a last chunk is looked at in any case.
            if rules.padding == nil, rules.layout.contains(where: { if case .tag = $0 { true } else { $0.isCode } }) {
                rules.checksLast = false
                // Without its fields, a trailer of unknown length would not be skipped.
                if rules.lastChunk == nil { rules.trailerFields = [] }
            }
        },
        .rule(
            "hole-refused", "A chunk of zeros is an error.", flag: .chunkTag, source: "rfjakob/gocryptfs#532"
        ) { $0.hole = nil },
    ]

    /// A change of a description, and the mutant that reads with the changed rules.
    private struct Rule {
        let mutant: Mutant
        let change: @Sendable (inout Format.Rules) -> Void

        static func rule(
            _ name: String, _ summary: String, flag: VectorFlag, source: String,
            _ change: @escaping @Sendable (inout Format.Rules) -> Void
        ) -> Rule {
            let mutant = Mutant(name, summary, flag: flag, source: source) { backend in
                let right = InProcessSubject(backend: backend)
                // The mutant skips the vectors of formats without such a rule, since it reads those correctly.
                return InProcessSubject(
                    name: name, supports: { right.supports($0, $1) && $0.changing(change) != $0 }
                ) { (setup, source, strategy, key) throws(DecryptionError) in
                    try right.open(setup, source, strategy.changing(change), key)
                }
            }
            return Rule(mutant: mutant, change: change)
        }
    }
}

extension Format.Rules {
    /// Changes the formulas that are evaluated for each chunk.
    fileprivate mutating func changeInChunks(_ change: (Expression) -> Expression) {
        func changed(_ formula: Formula) -> Formula {
            Formula(change(formula.expression), formula.kind, at: formula.place)
        }
        (nonce, key) = (changed(nonce), changed(key))
        associatedData = associatedData.map(changed)
        layout = layout.map { part in
            guard case .field(var field) = part, part.isCode else { return part }
            field.content = field.content.map(changed)
            return .field(field)
        }
    }

    fileprivate mutating func mapInChunks(_ change: (Expression) -> Expression?) {
        changeInChunks { $0.mapping(change) }
    }

    mutating func replaceInChunks(_ values: [String: Expression]) {
        changeInChunks { $0.replacing(values) }
    }

    /// Removes some names from the formulas of derived values.
    fileprivate mutating func replaceInDerived(_ names: Set<String>) {
        let nothing = Dictionary(uniqueKeysWithValues: names.map { ($0, Expression.bytes(ByteString([]))) })
        for index in derived.indices {
            let formula = derived[index].formula
            derived[index].formula = Formula(formula.expression.replacing(nothing), formula.kind, at: formula.place)
        }
    }

    /// Compares only some of the header fields.
    fileprivate mutating func changeHeader(besides names: Set<String> = [], _ isCompared: (Expression) -> Bool) {
        for index in header.indices where !names.contains(header[index].name) {
            header[index].content.removeAll { !isCompared($0.expression) }
        }
    }

    /// The names of the values that tell the cipher or any length, without which every object would be unsupported, and
    /// of those that the last chunk repeats, where opening compares them again.
    fileprivate var neededNames: Set<String> {
        var formulas = [cipher] + [start, trailer, chunk, firstChunk, lastChunk, dataStart, padding].compactMap { $0 }
        for case .field(let field) in layout where checksLast { formulas += field.content }
        for part in layout + (header + trailerFields).map(Format.Part.field) {
            guard case .field(let field) = part else { continue }
            formulas.append(field.byteCount)
            if let repetition = field.repetition { formulas += [repetition.times] + repetition.fields.map(\.byteCount) }
        }
        // A derived value follows from names before it.
        return derived.reversed().reduce(into: Set(formulas.flatMap(\.expression.names))) { names, value in
            if names.contains(value.name) { names.formUnion(value.formula.expression.names) }
        }
    }
}
