import BackendRegistry
import RandomAccess
import Results
import Testing
import Vectors

@testable import Conformance

/// An injected fault as the integrity matrix shows it.
struct TamperedFault: CustomTestStringConvertible, Sendable {
    var mutant: String
    /// The kind of tampering that shows it.
    var kind: String
    /// Tells if a case of this kind shows the fault; those of other faults do not.
    var isShown: @Sendable (TamperRecord.Case) -> Bool
    var testDescription: String { mutant }
}

@Suite("the integrity matrix")
struct TamperMatrixTests {
    private static let targets = TamperTarget.all
    /// Small chunks, for debug builds.
    private static let tink = targets.filter { $0.label == "tink-aes-gcm-hkdf" }
    private static let unauthenticated = targets.filter { !$0.isAuthenticated }

    private static func row(_ subject: InProcessSubject, _ targets: [TamperTarget]) throws -> TamperRecord.Row {
        let record = TamperVerification(targets: targets).run([subject])[0]
        return try #require(record.rows.first)
    }

    @Test(
        "each backend notices every change to an authenticated format before it delivers a wrong byte",
        arguments: ["openssl", "libgcrypt", "boringssl", "nettle", "swift-bitsliced"])
    func noticed(backend: String) throws {
        let row = try Self.row(InProcessSubject(backend: BackendRegistry.backend(named: backend)), Self.tink)
        let first = row.cases.first { $0.failure != nil }
        #expect(row.failed == 0, "\(first?.place ?? ""): \(first?.failure ?? "")")
        #expect(row.state == .run && row.cases.count > 150)
        for kind in TamperRecord.Row.kinds { #expect(row.counts(kind: kind).isClean, "\(kind)") }
        // Changes are noticed both at open and at a read.
        #expect(row.counts().detectedAtOpen > 50 && row.counts().detectedAtRead > 20)
        #expect(row.cases.allSatisfy { $0.touching.isDetected && $0.touching.wrongByteCount == 0 })
    }

    @Test("Cobblestone, too")
    func cobblestone() throws {
        let targets = Self.targets.filter { $0.label.hasPrefix("cobblestone-256") }
        let row = try Self.row(InProcessSubject(backend: BackendRegistry.backend(named: "openssl")), targets)
        #expect(row.failed == 0 && row.counts().isClean && row.cases.count > 150)
    }

    @Test("CBC, CTR and HLS show what passes, and what has to be noticed is")
    func passing() throws {
        let backend = try BackendRegistry.backend(named: "openssl")
        let record = try #require(
            TamperVerification(targets: Self.unauthenticated).run(
                [InProcessSubject(backend: backend)]
            ).first)
        #expect(record.rows.count == Self.unauthenticated.count && record.failed == 0)
        for row in record.rows {
            let counts = row.counts()
            #expect(row.state == .run && counts.detected < counts.cases && counts.wrongByteCount > 0, "\(row.strategy)")
            let flips = row.undetectedWrongByteCounts(kind: "flip")
            // A block and a bit of the next one; in CTR, a bit; in XTS, a block. A full chunk's padding is no
            // plaintext.
            let name = row.strategy.split(separator: ":").first.map(String.init) ?? ""
            let cipher = (try? Format.named(name)).map { Strategy(sampling: $0).cipher } ?? .aesCBC
            let maximum: UInt64 = cipher == .aesCTR ? 1 : cipher == .aesXTS ? 16 : 17
            #expect(flips.last == maximum, "\(row.strategy): \(flips)")
            // Whatever PROTOCOL.md asks of opening came of it, and of nothing else.
            for one in row.cases where !one.openingErrors.isEmpty {
                #expect(one.sequential.state == .detectedAtOpen && one.sequential.wrongByteCount == 0, "\(one.place)")
            }
        }
        let noticed = record.rows.filter { $0.strategy == "ctr" }.map { $0.counts().detected }
        #expect(noticed == [0])
    }

    static let faults = [
        TamperedFault(mutant: "chunk-tag-ignored", kind: "flip") {
            $0.sequential.state == .undetected && $0.sequential.wrongByteCount == 1
        },
        TamperedFault(mutant: "chunk-end-ignored", kind: "truncate") {
            !$0.openingErrors.isEmpty && $0.sequential.state != .detectedAtOpen
        },
        TamperedFault(mutant: "chunk-released-first", kind: "flip") {
            $0.sequential.state == .detectedAtRead && $0.sequential.releasedByteCount > 0
        },
        TamperedFault(mutant: "chunk-checked-at-its-end", kind: "flip") {
            $0.sequential.state == .detectedAtRead && $0.sequential.readCount > 0 && $0.sequential.wrongByteCount > 0
        },
        TamperedFault(mutant: "chunk-edge-ends", kind: "truncate") {
            $0.place.hasPrefix("to the end of chunk") && $0.sequential.state == .undetected
                && $0.sequential.missingByteCount > 0 && $0.sequential.wrongByteCount == 0
        },
        TamperedFault(mutant: "sealed-number-searched", kind: "swap") {
            $0.sequential.state == .undetected && $0.sequential.wrongByteCount > 1000
        },
        TamperedFault(mutant: "chunk-trailing-ignored", kind: "extend") {
            $0.sequential.state == .undetected && $0.sequential.wrongByteCount == 0
        },
    ]

    @Test("a fault in what is authenticated, and when, shows in the cases that stand for it", arguments: faults)
    func show(fault: TamperedFault) throws {
        let mutant = try #require(Mutant.named(fault.mutant))
        let row = try Self.row(mutant.subject(over: BackendRegistry.backend(named: "openssl")), Self.tink)
        let shown = row.cases.filter { $0.kind == fault.kind && fault.isShown($0) }
        #expect(!shown.isEmpty && shown.allSatisfy { $0.failure != nil }, "\(row.counts(kind: fault.kind))")
    }

    @Test("a header that is not compared shows in the header's cases")
    func commitment() throws {
        let mutant = try #require(Mutant.named("commitment-ignored"))
        let targets = Self.targets.filter { $0.label.hasPrefix("cobblestone-128") }
        let row = try Self.row(mutant.subject(over: BackendRegistry.backend(named: "openssl")), targets)
        let counts = row.counts(kind: "header")
        #expect(counts.detected < counts.cases && counts.failed > 0)
    }

    @Test("of CBC, only what has to be noticed is a failure", arguments: ["padding-unchecked", "padding-last-byte"])
    func padding(name: String) throws {
        let mutant = try #require(Mutant.named(name))
        let targets = Self.unauthenticated.filter { $0.label == "cbc-continuous" }
        let row = try Self.row(mutant.subject(over: BackendRegistry.backend(named: "openssl")), targets)
        #expect(row.failed > 0 && row.cases.filter { $0.failure != nil }.allSatisfy { !$0.openingErrors.isEmpty })
    }

    @Test("what is not supported, and what is broken off, is no row of figures")
    func notRun() throws {
        let subject = InProcessSubject(backend: try BackendRegistry.backend(named: "openssl"))
        let none = InProcessSubject(name: "none", supports: { _, _ in false }, open: subject.open)
        #expect(try Self.row(none, Self.tink).state == .unsupported)
        let stopped = TamperVerification(targets: Self.tink, isInterrupted: { true }).run([subject])[0]
        #expect(stopped.rows.map(\.state) == [.notRun] && stopped.executed == 0)
    }
}
