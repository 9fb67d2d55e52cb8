import Results
import Support
import Testing

@testable import Report

@Suite("computed plans in words")
struct PlanReportTests {
    private static func candidate(
        chunk: UInt64 = 16_384, backend: String = "openssl", milliseconds: Double = 20, download: UInt64 = 1 << 28
    ) -> ComputedPlan.Candidate {
        let nanoseconds = UInt64(milliseconds * 1e6)
        return ComputedPlan.Candidate(
            configuration: .init(
                backend: backend, strategy: "tink-aes-gcm-hkdf", keyByteCount: 16, chunkByteCount: chunk,
                access: .block, windowByteCount: 1 << 20),
            layout: .init(notices: [.change], storedByteCount: 1 << 30, maxByteCount: nil),
            firstByteNanoseconds: 2 * nanoseconds,
            seeks: [
                .init(
                    rangeByteCount: 65_536, medianNanoseconds: nanoseconds, slowNanoseconds: nanoseconds,
                    coldNanoseconds: nanoseconds, requestCount: 1, amplification: 1 + Double(chunk) / 65_536)
            ], downloadBytesPerSecond: download, memoryByteCount: 1 << 20 + chunk)
    }

    private static func plan(_ candidates: [ComputedPlan.Candidate], latency: UInt64 = 20_000_000) -> ComputedPlan {
        let libraries = ["openssl", "nettle"] + (1...20).map { "library-\($0)" }
        return ComputedPlan(
            storage: .init(latencyNanoseconds: latency, bytesPerSecond: 100_000_000, client: "chunkwise"),
            objectByteCount: 1 << 30,
            rates: libraries.map {
                .init(backend: $0, mode: "gcm", keyByteCount: 16, callByteCount: 16_384, bytesPerSecond: 1 << 30)
            }, memoryBudget: nil, wantsIntegrity: true, candidates: candidates)
    }

    private static func text(_ plans: [ComputedPlan], isWhole: Bool = false) -> String {
        PlanReport(plans).text(isWhole: isWhole).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    @Test("the terminal names the measured rates' table, and has it if it is asked for the whole")
    func rates() {
        let plan = Self.plan([Self.candidate()])
        let short = Self.text([plan])
        #expect(short.contains("in calls of a chunk or a window. See --all.") && !short.contains("library-20"))
        #expect(Self.text([plan], isWhole: true).contains("library-20, AES-128 gcm 16 KiB 1.00 GiB/s"))
    }

    @Test("the answer says that its chunk is the smallest that was tried, if others were tried")
    func smallestChunk() {
        let chunks = { (candidates: [ComputedPlan.Candidate]) in Self.text([Self.plan(candidates)]) }
        let large = Self.candidate(chunk: 65_536)
        #expect(
            chunks([large, Self.candidate()]).contains(
                "Chunks of 16 KiB are the smallest that were tried of this format (--chunks)."))
        let slow = Self.candidate(chunk: 4096, milliseconds: 40)
        for candidates in [[Self.candidate()], [slow, Self.candidate(), large]] {
            let text = chunks(candidates)
            #expect(text.contains("Take tink-aes-gcm-hkdf, chunks of 16 KiB: a read"), "\(text)")
            #expect(!text.contains("the smallest that were tried"))
        }
    }

    @Test("libraries within 5 % of each other tie, and the answer names none")
    func libraries() {
        let other = { Self.candidate(backend: "nettle", milliseconds: $0) }
        let tie = Self.text([Self.plan([Self.candidate(), other(20.9)])])
        #expect(tie.contains("Take tink-aes-gcm-hkdf, chunks of 16 KiB: a read"), "\(tie)")
        #expect(tie.contains("The library does not matter here: openssl and nettle are within 5.0 % of each other."))
        let slower = Self.text([Self.plan([Self.candidate(), other(22)])])
        #expect(slower.contains("Take tink-aes-gcm-hkdf, chunks of 16 KiB, openssl: a read"), "\(slower)")
        let download = Self.candidate(backend: "nettle", milliseconds: 20, download: 1 << 29)
        let downloads = Self.text([Self.plan([Self.candidate(), download])])
        #expect(!slower.contains("does not matter") && !downloads.contains("does not matter"))
    }

    @Test("the page of several questions says once what to take for each, and has no empty verdict")
    func severalQuestions() {
        let plans = [1_000_000, 20_000_000].map { Self.plan([Self.candidate()], latency: $0) }
        for file in PlanReport(plans).files.prefix(2) {
            let text = String(decoding: file.bytes, as: UTF8.self)
            #expect(text.components(separatedBy: "Take tink-aes-gcm-hkdf").count == 3, "\(file.name)")
            #expect(!text.contains("Verdict"), "\(file.name)")
        }
        let page = String(decoding: PlanReport([plans[0]]).files[0].bytes, as: UTF8.self)
        #expect(page.contains("<a class=\"skip\" href=\"#verdict\">") && page.contains("<section id=\"verdict\""))
    }
}
