import Results
import TestSupport

/// A command of a document, and the way to try it: as it stands, unless it is listed here.
struct DocumentedCommand {
    /// The command to run; `nil` if it cannot be run.
    let command: String?
    /// The exit code that is right for what was printed; `nil` if nothing that was printed has one.
    let status: @Sendable (CommandRun) -> Int32?
    /// The reason for not running it as it stands; empty if it is.
    let reason: String

    /// Looks a command up.
    init(_ command: String) {
        self = Self.listed[command] ?? DocumentedCommand(command: command, reason: "") { _ in 0 }
    }

    private init(command: String?, reason: String, status: @escaping @Sendable (CommandRun) -> Int32?) {
        self.command = command
        self.status = status
        self.reason = reason
    }

    /// Every command that is not simply run, and why.
    static let listed: [String: DocumentedCommand] = [
        "scripts/run": .notRun("builds in release and measures for minutes; .ci/run runs it with a small plan"),
        "scripts/test": .notRun("is what runs this test"),
        "scripts/gate-ref main --format github --write markdown=comment.md --write junit=gate.xml":
            .notRun("builds two commits in release; the workflow gate.yml runs it"),
        "scripts/man man": .notRun("asks SwiftPM, which runs these tests, to build; .ci/run runs it"),
        "scripts/docs": .notRun("asks SwiftPM, which runs these tests, to build; .ci/run runs it"),
        "scripts/check": .notRun("is the first step of .ci/run"),
        "chunkwise verify mutants": .notRun("takes minutes in a debug build; .ci/run runs it, and MutantsTests"),
        "chunkwise vectors generate": .notRun("writes into the project's folder; VectorsTests compare the files"),
        "chunkwise vectors generate --check": .notRun("takes half a minute in a debug build; .ci/run runs it"),

        "chunkwise plan --object-size 4GB --latency 0ms,1ms,20ms,80ms --bandwidth 100MB/s": .instead(
            "chunkwise plan --object-size 4GB --latency 0ms,80ms --bandwidth 100MB/s --chunks 64KiB --windows 1MiB "
                + "--read-size 64KiB", "all formats with all chunks and windows take minutes in a debug build"),
        "chunkwise run --plan Benchmarks/plans/small.yml --output first": .instead(
            "chunkwise sweep --plan tiny.yml --output first", "all vectors take minutes in a debug build"),
        "chunkwise sweep --plan Benchmarks/plans/small.yml --output mine": .instead(
            "chunkwise sweep --plan tiny.yml --output mine", "a smaller plan does"),
        "chunkwise report reports/reference --format asv --commit $(git rev-parse HEAD) --output results": .instead(
            "chunkwise report reports/reference --format asv --output results "
                + "--commit 0123456789abcdef0123456789abcdef01234567", "the test's folder has no commits"),
        "chunkwise measure --backend openssl --window 256KiB": .shorter(
            "chunkwise measure --backend openssl --window 256KiB"),
        "chunkwise measure --backend nettle": .shorter("chunkwise measure --backend nettle"),
        "chunkwise measure --strategy cbc-chunked:chunk=16MB --workload random:64KiB --access chunk-cache":
            .shorter(
                "chunkwise measure --strategy cbc-chunked:chunk=16MB --workload random:64KiB "
                    + "--access chunk-cache --reads 4"),
        "chunkwise measure --strategy cbc-chunked:chunk=1MiB --workload trace:avplayer": .instead(
            "chunkwise measure --strategy cbc-chunked:chunk=1MiB --workload trace:avplayer "
                + "--source generated --rounds 1 --milliseconds 1", "making its object takes a debug build long"),
        "chunkwise measure --workload random:64KiB --arrival 500,1000,2000 --threads 2": .shorter(
            "chunkwise measure --workload random:64KiB --arrival 500,1000,2000 --threads 2"),
        "chunkwise measure --workload random:64KiB --arrival fixed:1000 --source http": .shorter(
            "chunkwise measure --workload random:64KiB --arrival fixed:1000 --source http"),
        "chunkwise measure --window 4MiB --latency 20ms --bandwidth 100MB/s --object-size 64MiB": .instead(
            "chunkwise measure --window 64KiB --latency 1ms --bandwidth 1GB/s --object-size 256KiB --rounds 1",
            "waits for most of a minute"),
        "chunkwise measure --input film.enc --key-file key --window 64KiB":
            .instead(
                "chunkwise measure --input film.enc --key-file key --window 64KiB "
                    + "--rounds 2 --milliseconds 5", "fewer rounds do"),

        "chunkwise measure --source https --window 256KiB": .shorter(
            "chunkwise measure --source https --window 256KiB"),
        "chunkwise verify --source https --backend openssl": .instead(
            "chunkwise verify --source https --backend openssl --vectors data/vectors/sp800-38a.json",
            "a choice of all vectors takes a debug build some time"),
        "chunkwise decrypt --key-file key https://example.org/film.enc film.mp4":
            .notRun("is about a server of the reader's; IntegrationTests run it over their own"),
        "chunkwise decrypt --strategy hls-aes128 https://example.org/film.m3u8 film.ts":
            .notRun("is about a server of the reader's; IntegrationTests run it over their own"),
        "chunkwise sweep --plan Benchmarks/plans/own.yml --output reports/served --source https://example.org/film.enc "
            + "--key-file key":
            .notRun("needs the Internet; IntegrationTests sweep an object on a server of their own"),
        "chunkwise tls-check example.org:443": .notRun("needs the Internet; IntegrationTests ask servers of their own"),
        "chunkwise serve --key-file key film.enc": .served(
            "chunkwise serve --key-file key film.enc"),
        "chunkwise serve --key-file key --allow-origin https://player.example film.enc":
            .served(
                "chunkwise serve --key-file key "
                    + "--allow-origin https://player.example film.enc"),
        "chunkwise serve --key-file key --record trace.json film.enc": .served(
            "chunkwise serve --key-file key --record trace.json film.enc"),
        "chunkwise serve --no-token --key-file key film.enc": .served(
            "chunkwise serve --no-token --key-file key film.enc"),
        "chunkwise measure --source http://127.0.0.1:8080/film --strategy ctr --key-file key "
            + "--iv 00000000000000000000000000000000 --workload random:64KiB --arrival 250,500,1000 --threads 4":
            .notRun("asks a server that has ended; OpenLoopTests ask one of theirs"),
        "chunkwise serve --strategy hls-aes128 hls": .served(
            "chunkwise serve --strategy hls-aes128 hls", before: Self.playlist),
        "chunkwise serve --strategy hls-aes128 --hls-encrypted hls/film.m3u8": .served(
            "chunkwise serve --strategy hls-aes128 --hls-encrypted hls/film.m3u8", before: Self.playlist),
        "chunkwise key-server --keys keys --audit audit.jsonl": .instead(
            "rm -f served; chunkwise key-server --keys keys --audit audit.jsonl --port 0 > served & server=$!; "
                + "until grep -q '^token' served || ! kill -0 $server; do sleep 0.1; done; "
                + "kill $server; wait $server", "does not end by itself"),
        "chunkwise decrypt --strategy hls-aes128 --key-server https://keys.example/v1/keys --key-server-token token "
            + "hls.m3u8 film": .notRun("asks a server that is only an example; IntegrationTests ask one of theirs"),
        "chunkwise keys measure --output reports/mine": .instead(
            "chunkwise keys measure --output reports/mine --delays 1 --keys 2 --rounds 6 --segment-size 16KiB "
                + "--max-ratio 1e9",
            "few short rounds, and no question of their time"),
        "chunkwise measure --workload trace:trace.json --strategy cbc-chunked:chunk=1MiB --bit-rate 8Mbit/s":
            .instead(
                "chunkwise measure --workload trace:data/traces/ffprobe-mp4.json --strategy cbc-chunked:chunk=1MiB "
                    + "--bit-rate 8Mbit/s --source generated --rounds 1 --milliseconds 1",
                "the server was asked for nothing"),

        "chunkwise gate --baseline 'chunkwise subject' --candidate 'chunkwise subject --extra-work 0.1'": .instead(
            gate: "chunkwise gate --plan tiny.yml --seconds 0.5 --baseline 'chunkwise subject' "
                + "--candidate 'chunkwise subject --extra-work 0.1'"),
        "chunkwise gate --baseline chunkwise-subject --candidate 'chunkwise subject' --max-memory-growth 4MiB":
            .instead(
                gate: "chunkwise gate --plan tiny.yml --seconds 0.5 --baseline chunkwise-subject "
                    + "--candidate 'chunkwise subject' --max-memory-growth 4MiB --no-verify"),
        "chunkwise gate --baseline 'chunkwise subject' --candidate 'chunkwise subject' --anchor 'chunkwise subject'":
            .instead(
                gate: "chunkwise gate --plan tiny.yml --seconds 0.5 --baseline 'chunkwise subject' "
                    + "--candidate 'chunkwise subject' --anchor 'chunkwise subject'"),
        "chunkwise gate --record ratios.json --candidate 'chunkwise subject'": .instead(
            "chunkwise gate --plan tiny.yml --seconds 0.5 --tolerance 1 --record ratios.json "
                + "--candidate 'chunkwise subject'", "one short cell does"),
        "chunkwise gate --against ratios.json --candidate 'chunkwise subject' --output gate.json":
            .instead(
                gate: "chunkwise gate --seconds 0.5 --against ratios.json --candidate 'chunkwise subject' "
                    + "--output gate.json"),
        "chunkwise gate self-test --runs 100 --slowdown 3%,4% --output gate-rates.jsonl": .instead(
            "chunkwise gate self-test --plan tiny.yml --seconds 0.1 --runs 1 --slowdown none --output gate-rates.jsonl",
            "takes half an hour"),
        "chunkwise gate --baseline 'python3 my_reader.py' --candidate 'python3 my_reader.py' --seconds 2": .instead(
            gate: "chunkwise gate --plan tiny.yml --baseline 'python3 my_reader.py' "
                + "--candidate 'python3 my_reader.py' --seconds 0.5"),

        "chunkwise verify --plugin \"$PWD/openssl_plugin.so\"": .instead(
            "chunkwise verify --plugin \"$PWD/openssl_plugin.so\" --vectors data/vectors/sp800-38a.json",
            "some vectors show it; PluginCommandTests have its faults"),
        "chunkwise measure --plugin \"$PWD/openssl_plugin.so\" --window 256KiB": .shorter(
            "chunkwise measure --plugin \"$PWD/openssl_plugin.so\" --window 256KiB"),
        "chunkwise gate --baseline 'chunkwise subject --backend openssl' --plugin \"$PWD/openssl_plugin.so\" --tolerance 20%":
            .instead(
                gate: "chunkwise gate --plan tiny.yml --seconds 0.5 --baseline 'chunkwise subject --backend openssl' "
                    + "--plugin \"$PWD/openssl_plugin.so\" --tolerance 20%"),
        "cargo build --offline --release --manifest-path Examples/plugins/rust/Cargo.toml":
            .notRun("not every machine of these tests has Rust"),
        "Examples/plugins/swift/build \"$PWD/swift_plugin.so\"": .notRun(
            "takes a minute, and PluginCommandTests have others"),
        "chunkwise verify --backend openssl:provider=default": .instead(
            "chunkwise verify --backend openssl:provider=default --vectors data/vectors/sp800-38a.json",
            "all vectors take minutes in a debug build"),
        "OPENSSL_MODULES=/opt/vendor/modules chunkwise verify --backend openssl:provider=vendor":
            .notRun("is about a provider of the reader's; PluginCommandTests build one"),
        "chunkwise measure --backend openssl:provider=fips:fips=yes":
            .notRun("is about a provider that few machines have; PluginCommandTests build one"),

        "chunkwise verify --evidence evidence": .instead(
            "chunkwise verify --vectors data/vectors/sp800-38a.json --evidence evidence",
            "all vectors take minutes in a debug build"),
        "chunkwise verify tamper --backend openssl": .instead(
            "chunkwise verify tamper --backend openssl --only cbc-continuous --only ctr",
            "chunks of 16 KiB take a debug build some time"),
        "chunkwise verify --backend nettle": .instead(
            "chunkwise verify --backend nettle --vectors data/vectors/sp800-38a.json",
            "all vectors take minutes in a debug build"),
        "chunkwise verify --subject 'python3 Examples/subjects/huge_files_on_ios.py'": .instead(
            "chunkwise verify --subject 'python3 Examples/subjects/huge_files_on_ios.py' --vectors data/vectors/sp800-38a.json",
            "some vectors show it", status: 1),
        "chunkwise verify --subject 'python3 Examples/subjects/python_cryptography.py'": .instead(
            "chunkwise verify --subject 'python3 Examples/subjects/python_cryptography.py' "
                + "--vectors data/vectors/sp800-38a.json", "some vectors show it; ConformanceTests have the others"),
        "chunkwise verify --subject 'python3 my_reader.py'": .instead(
            "chunkwise verify --subject 'python3 my_reader.py' --vectors data/vectors/sp800-38a.json",
            "some vectors show it"),
        "chunkwise verify --subject 'chunkwise subject --mutant iv-zero' --vectors data/vectors/chaining.json":
            .instead(
                "chunkwise verify --subject 'chunkwise subject --mutant iv-zero' --vectors data/vectors/chaining.json",
                "what it finds is a fault", status: 1),
        "chunkwise keys load --clients 10000000 --window 60 --output reports/mine": .instead(
            "chunkwise keys load --clients 100000 --window 60 --output reports/mine", "millions take a debug build long"
        ),
        "chunkwise keys load --loopback --output reports/mine": DocumentedCommand(
            command: "chunkwise keys load --loopback --output reports/mine --clients 24 --speed 100 --format json",
            reason: "few clients, and the code that goes with what the run found"
        ) { run in (try? KeyLoadRecord(file: run.output)).map(LoadCommandTests.status(of:)) },
        "chunkwise recommend reports/reference --workload seek": .notRun(
            "the first cells of a run, which these tests have, are read in order; RecommendCommandTests ask for seeks"),
        "chunkwise recommend reports/reference --workload seek --integrity none": .notRun(
            "the first cells of a run, which these tests have, are read in order; RecommendCommandTests ask for seeks"),
        "chunkwise verify search --time 10s --seed 7": .instead(
            "chunkwise verify search --time 500ms --seed 7", "half a second does"),
    ]

    private static func notRun(_ reason: String) -> DocumentedCommand {
        DocumentedCommand(command: nil, reason: reason) { _ in nil }
    }

    private static func instead(
        _ command: String, _ reason: String, status: Int32 = 0
    ) -> DocumentedCommand {
        DocumentedCommand(command: command, reason: reason) { _ in status }
    }

    /// A gate on a machine that may be busy with other tests: it ends with the code that goes with its verdict.
    private static func instead(gate command: String) -> DocumentedCommand {
        DocumentedCommand(command: command + " --format json", reason: "one short cell, and its verdict as JSON") {
            Chunkwise.status(ofGate: $0.output)
        }
    }

    /// A playlist as small as they come.
    private static let playlist = "mkdir -p hls; printf '#EXTM3U\\n#EXT-X-ENDLIST\\n' > hls/film.m3u8; "

    /// A server, which is told to end once it says that it serves.
    private static func served(_ command: String, before: String = "") -> DocumentedCommand {
        .instead(
            before + "rm -f served; " + command + " --port 0 > served & server=$!; "
                + "until grep -q '^serving' served || ! kill -0 $server; do sleep 0.1; done; "
                + "kill $server; wait $server", "does not end by itself")
    }

    /// A measurement of little.
    private static func shorter(_ command: String) -> DocumentedCommand {
        .instead(command + " --object-size 1MiB --rounds 2 --milliseconds 5", "a smaller object does")
    }
}
