import BackendRegistry
import Conformance
import RandomAccess
import Results
import SubjectProtocol
import Support
import Vectors

/// The backends of this machine.
enum Backends {
    /// The backends that are available and wanted, by default those with AES. Prints a warning for a backend that
    /// fails, but not for one that this machine lacks, because `chunkwise backends` shows that.
    static func available(
        where isWanted: (any CipherBackend) -> Bool = { !$0.aesCiphers.isEmpty }
    ) -> [any CipherBackend] {
        BackendRegistry.entries.compactMap { entry in
            do throws(DecryptionError) {
                let backend = try entry.make()
                return isWanted(backend) ? backend : nil
            } catch {
                if case .unavailable = error { return nil }
                Terminal.warn("backend \(entry.name) is not available: \(error)")
                return nil
            }
        }
    }

    /// The reasons for which backends are not available or have no format's cipher, by backend name.
    static func missing() -> [String: String] {
        var reasons: [String: String] = [:]
        for entry in BackendRegistry.entries {
            do throws(DecryptionError) {
                if try entry.make().strategyNames.isEmpty { reasons[entry.name] = "it has no strategy's cipher" }
            } catch { reasons[entry.name] = "\(error)" }
        }
        return reasons
    }

    /// The names of the backends that this machine lacks.
    static func unavailableNames() -> [String] {
        let available = BackendRegistry.availableNames
        return BackendRegistry.names.filter { !available.contains($0) }
    }

    /// Our readers, one over each backend.
    static func subjects(_ backends: [any CipherBackend]) -> [InProcessSubject] {
        backends.map { InProcessSubject(backend: $0) }
    }

    /// A record for each backend that this machine lacks, which counts all vectors as not run.
    static func notRun(groups: [VectorGroup]) -> [ConformanceRecord] {
        let count = groups.reduce(0) { $0 + $1.vectorCount }
        return unavailableNames().map { name in
            ConformanceRecord(subject: name, passed: 0, failed: 0, unsupported: 0, notRun: count, failures: [])
        }
    }

    /// Runs vectors on backends, with progress on a terminal. With `all`, slow backends get large reads too.
    static func verify(
        _ backends: [any CipherBackend], groups: [VectorGroup], threadCount: Int, all: Bool = false,
        relocate: InProcessSubject.Relocate? = nil,
        shouldStop: @escaping @Sendable () -> Bool = { Interruption.wasRequested }
    ) -> [ConformanceRecord] {
        defer { Terminal.clearProgress() }
        let display = ProgressDisplay()
        return Verification(
            backends: backends, threadCount: threadCount,
            largestReadByteCounts: all ? [:] : Verification.slowBackends, relocate: relocate
        ).run(
            groups,
            progress: { progress in
                display.show(progress.finished, of: progress.total, "parts of the vectors", name: progress.subject)
            }, shouldStop: shouldStop)
    }
}

/// Runs vectors with the libraries' CPU features disabled step by step, because each step runs other code.
///
/// The libraries examine the CPU once, when they are loaded, so that each step is a fresh process of this program.
enum CPUMasks {
    /// A step, with the setting that makes a library ignore CPU features.
    struct Mask: Hashable {
        var name: String
        var variable: String
        var value: String
    }

    /// The steps of a backend, without the first one, which has all features.
    ///
    /// A step disables only the features in its own setting, not those of earlier steps.
    ///
    /// - Source: OPENSSL_ia32cap(3) for the bits of CPUID.1 and CPUID.7; `src/hwfeatures.c` of libgcrypt and
    ///   `fat-x86_64.c` of Nettle for their names.
    static func masks(of backend: String) -> [Mask] {
        switch backend {
        // BoringSSL reads the same variable, and numbers the bits alike: `crypto/cpu_intel.cc`.
        case "openssl", "boringssl":
            [
                // CPUID.7: AVX512F, DQ, IFMA, CD, BW, VL; VAES and VPCLMULQDQ.
                ("vaes and avx512", ":~0x600D0230000"),
                // CPUID.1: FMA, AVX, XOP; CPUID.7: AVX2 as well.
                ("avx", "~0x1000180000000000:~0x600D0230020"), ("aes", "~0x200000200000000"),
                // Also without SSSE3, only tables are left.
                ("aes and ssse3", "~0x200020200000000"),
            ].map { Mask(name: "\(backend) without \($0)", variable: "OPENSSL_ia32cap", value: $1) }
        case "libgcrypt":
            [
                ("vaes", "intel-vaes-vpclmul"), ("avx", "intel-vaes-vpclmul,intel-avx2,intel-avx"),
                // PCLMULQDQ is for GCM's and GCM-SIV's tags.
                ("aes", "intel-vaes-vpclmul,intel-aesni,intel-pclmul"),
                (
                    "aes and ssse3",
                    "intel-vaes-vpclmul,intel-aesni,intel-pclmul,intel-avx2,intel-avx,intel-ssse3"
                ),
            ].map { Mask(name: "\(backend) without \($0)", variable: "CHUNKWISE_GCRYPT_DISABLE_HWF", value: $1) }
        // Nettle uses only the features that the variable names.
        case "nettle":
            [Mask(name: "nettle without aes", variable: "NETTLE_FAT_OVERRIDE", value: "none")]
        // AVX2 is part of AVX-512.
        case "swift-bitsliced":
            [("avx512", "avx512vl"), ("avx2", "avx2")].map {
                Mask(name: "\(backend) without \($0)", variable: "CHUNKWISE_SWIFT_DISABLE_HWF", value: $1)
            }
        default:
            []
        }
    }

    /// Runs the vectors with all features, and then once for each step.
    ///
    /// - Returns: A record for each backend and step, such as `openssl without aes`.
    static func verify(_ backends: [String], vectors: [String]) throws -> [ConformanceRecord] {
        Interruption.install(endsAtOnce: true)
        defer { Terminal.clearProgress() }
        var records: [ConformanceRecord] = []
        for backend in backends {
            _ = try Validated.backend(backend, isForData: false)
            records.append(try run(backend, named: backend, mask: nil, vectors: vectors))
            let masks = canBeMasked ? masks(of: backend) : []
            if masks.isEmpty {
                // The backend uses no CPU features, or this CPU is not x86-64.
                records.append(
                    ConformanceRecord(
                        subject: "\(backend) without CPU features", passed: 0, failed: 0, unsupported: 0, notRun: 1,
                        failures: []))
            }
            for mask in masks {
                records.append(try run(backend, named: mask.name, mask: mask, vectors: vectors))
            }
        }
        return records
    }

    private static var canBeMasked: Bool {
        #if arch(x86_64)
        true
        #else
        false
        #endif
    }

    private static func run(
        _ backend: String, named name: String, mask: Mask?, vectors: [String]
    ) throws -> ConformanceRecord {
        Terminal.showProgress("verify: \(name)")
        let command = [Program.path, "verify", "--format", "json", "--backend", backend]
        let captured = try attempt(name) {
            try CapturedCommand(
                command + vectors.flatMap { ["--vectors", $0] },
                environment: mask.map { [$0.variable: $0.value] } ?? [:])
        }
        guard let subject = JSONValue.parse(captured.output)?["subjects"]?.array?.first else {
            let reason = SubjectError.died(status: captured.status, log: captured.log)
            return ConformanceRecord(
                subject: name, passed: 0, failed: 1, unsupported: 0, notRun: 0,
                failures: [.init(id: "process", flags: [], reason: "\(reason): expected a result")])
        }
        func count(_ member: String) -> Int { Int(clamping: subject[member]?.integer ?? 0) }
        let failures = (subject["failures"]?.array ?? []).map { failure in
            ConformanceRecord.Failure(
                id: failure["id"]?.string ?? "", flags: failure["flags"]?.array?.compactMap(\.string) ?? [],
                reason: failure["reason"]?.string ?? "")
        }
        return ConformanceRecord(
            subject: name, passed: count("passed"), failed: count("failed"), unsupported: count("unsupported"),
            notRun: count("notRun"), failures: failures)
    }
}
