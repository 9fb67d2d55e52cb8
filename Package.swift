// swift-tools-version: 6.1
import PackageDescription

let system: Target.Dependency = .product(name: "SystemPackage", package: "swift-system")
let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

/// What only builds with an HTTP stack need: a target of this package, or a product of another one.
func network(_ name: String, package: String? = nil) -> Target.Dependency {
    let condition: TargetDependencyCondition? = .when(traits: ["Network"])
    guard let package else { return .target(name: name, condition: condition) }
    return .product(name: name, package: package, condition: condition)
}

func nio(_ product: String) -> Target.Dependency { network(product, package: "swift-nio") }

/// swift-crypto: for sealed keys and certificates, and as one of the backends.
func crypto(_ product: String, trait: String) -> Target.Dependency {
    .product(name: product, package: "swift-crypto", condition: .when(traits: [trait]))
}

/// The floors, from bottom to top, each a folder of `Sources`. A target depends on floors below its own, and on its
/// own floor on targets before it; the end of this file checks it.
let floors: [(folder: String, targets: [Target])] = [
    (
        "Support",
        [
            .target(name: "CLinux"),
            .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
            .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
            .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
            .target(name: "Support", dependencies: ["CLinux", "COpenSSL"]),
        ]
    ),
    (
        "Core",
        [
            .target(
                name: "RandomAccess", dependencies: ["CYAML"],
                resources: [
                    "age", "aws-esdk", "cbc-chunked", "cbc-continuous", "chunk-iv-ct-mac", "chunk-nonce-ct-tag",
                    "clickhouse-disk", "cobblestone", "crypt4gh", "cryptomator-ctrmac", "cryptomator-gcm", "ctr",
                    "dare", "dare-1", "floe", "gocryptfs", "gocryptfs-aessiv", "hadoop-ctr", "iv-prefix-cbc",
                    "iv-prefix-cbc-mac", "iv-prefix-ctr", "matrix-attachment", "mega", "openpgp-seipd2", "openssl-enc",
                    "rclone-crypt", "rocksdb-ctr", "s3ec-gcm-range", "s3ec-kc-gcm-range", "seal", "sqlcipher-4",
                    "tink-aes-ctr-hmac", "tink-aes-gcm-hkdf", "xts-sectors",
                ].map { .embedInCode("Descriptions/\($0).yml") }
            ),
            .target(name: "ByteSources", dependencies: ["CLinux", "Support", "RandomAccess", system]),
            .target(name: "HLS", dependencies: ["Support", "RandomAccess", "ByteSources", system]),
        ]
    ),
    (
        "Backends",
        [
            .systemLibrary(name: "CGcrypt", pkgConfig: "libgcrypt", providers: [.apt(["libgcrypt20-dev"])]),
            .systemLibrary(name: "CNettle", pkgConfig: "nettle", providers: [.apt(["nettle-dev"])]),
            .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
            .target(name: "OpenSSLBackend", dependencies: ["RandomAccess", "COpenSSL"]),
            .target(name: "GcryptBackend", dependencies: ["RandomAccess", "CGcrypt"]),
            .target(name: "NettleBackend", dependencies: ["RandomAccess", "CNettle"]),
            .target(name: "SodiumBackend", dependencies: ["RandomAccess", "CSodium"]),
            .target(name: "KernelBackend", dependencies: ["CLinux", "RandomAccess"]),
            .target(
                name: "BoringSSLBackend",
                dependencies: [
                    "RandomAccess", crypto("Crypto", trait: "BoringSSL"), crypto("CryptoExtras", trait: "BoringSSL"),
                ]
            ),
            .systemLibrary(name: "CChunkwisePlugin", path: "include"),
            .target(name: "PluginBackend", dependencies: ["CLinux", "CChunkwisePlugin", "Support", "RandomAccess"]),
            .target(name: "CVectorLevels"),
            .target(name: "SwiftAESBackend", dependencies: ["CVectorLevels", "RandomAccess"]),
            .target(
                name: "BackendRegistry",
                dependencies: [
                    "RandomAccess", "OpenSSLBackend", "GcryptBackend", "NettleBackend", "SodiumBackend",
                    "KernelBackend", "BoringSSLBackend", "SwiftAESBackend", "PluginBackend",
                ]
            ),
            .target(
                name: "FormatKeys",
                dependencies: [
                    "COpenSSL", "CSodium", "Support", "RandomAccess", "OpenSSLBackend", "SodiumBackend",
                ]
            ),
        ]
    ),
    (
        "Harness",
        [
            .target(name: "Statistics"),
            .target(name: "Results", dependencies: ["Support", "Statistics"]),
            .target(name: "SubjectProtocol", dependencies: ["Support", "RandomAccess", "ByteSources", system]),
            .target(
                name: "Vectors",
                dependencies: ["CZlib", "Support", "RandomAccess", "ByteSources", "SubjectProtocol", system],
                resources: ["strategies.json", "message-formats.yml"].map { .embedInCode("Resources/\($0)") }
            ),
            .target(
                name: "Conformance",
                dependencies: [
                    "Support", "RandomAccess", "ByteSources", "HLS", "Statistics", "Results", "SubjectProtocol",
                    "Vectors", system,
                ]
            ),
            .target(
                name: "Subject",
                dependencies: [
                    "CLinux", "Support", "RandomAccess", "ByteSources", "HLS", "PluginBackend", "SubjectProtocol",
                    "Vectors", system,
                ]
            ),
            .target(
                name: "Measurement",
                dependencies: [
                    "CLinux", "Support", "RandomAccess", "ByteSources", "HLS", "Statistics", "Results",
                    "SubjectProtocol", "Vectors", "Subject", system,
                ]
            ),
            .target(
                name: "Gate",
                dependencies: [
                    "CLinux", "Support", "RandomAccess", "ByteSources", "Statistics", "Results", "SubjectProtocol",
                    "Vectors", "Measurement", system,
                ]
            ),
            .target(
                name: "Report", dependencies: ["Support", "Statistics", "Results"],
                // In the program itself, which is one file wherever it is installed.
                resources: ["page.css", "print.css", "chart.css", "chart-colours.css", "page.js"].map {
                    .embedInCode("Resources/\($0)")
                }
            ),
        ]
    ),
    (
        "Streaming",
        [
            .target(
                name: "Keys",
                dependencies: [
                    "Support", "RandomAccess", "ByteSources", "HLS", "Statistics", system,
                    crypto("Crypto", trait: "Network"),
                ]
            ),
            .target(
                name: "KeyTesting",
                dependencies: [
                    "Support", "RandomAccess", "Statistics", "Results", "SubjectProtocol", "Keys", nio("NIOCore"),
                    nio("NIOHTTP1"), nio("NIOPosix"),
                ]
            ),
            .target(
                name: "HTTPSources",
                dependencies: [
                    "RandomAccess", "ByteSources", network("AsyncHTTPClient", package: "async-http-client"),
                    crypto("Crypto", trait: "Network"), nio("NIOCore"), nio("NIOHTTP1"), nio("NIOPosix"),
                    network("NIOSSL", package: "swift-nio-ssl"), nio("NIOTLS"),
                    network("SwiftASN1", package: "swift-asn1"), network("X509", package: "swift-certificates"),
                ]
            ),
            .target(name: "KeyExchanges", dependencies: ["RandomAccess", "HLS", "Keys", "HTTPSources"]),
            .target(
                name: "Server",
                dependencies: [
                    "Support", "RandomAccess", "ByteSources", "HLS", "Keys", nio("NIOCore"), nio("NIOHTTP1"),
                    nio("NIOPosix"), network("NIOSSL", package: "swift-nio-ssl"), system,
                ]
            ),
        ]
    ),
    (
        "Tools",
        [
            .executableTarget(
                name: "chunkwise-subject",
                dependencies: [
                    "Support", "RandomAccess", "ByteSources", "BackendRegistry", "SubjectProtocol", "Subject",
                ]
            ),
            .executableTarget(
                name: "chunkwise",
                dependencies: [
                    "CLinux", "Support", "RandomAccess", "ByteSources", "HLS", "BackendRegistry", "FormatKeys",
                    "SwiftAESBackend", "Statistics", "Results", "SubjectProtocol", "Subject", "Vectors", "Conformance",
                    "Measurement", "Gate", "Report", "Keys", "KeyTesting", network("HTTPSources"),
                    network("KeyExchanges"), network("Server"), arguments, system,
                ],
                resources: ["chunkwise_plugin.h", "plugin.c", "plugin.rs", "plugin.swift"].map {
                    .embedInCode("Resources/\($0)")
                }
            ),
        ]
    ),
]

let tests: [Target] = [
    .testTarget(
        name: "RandomAccessTests",
        dependencies: ["RandomAccess", "ByteSources", "BackendRegistry", "TestSupport"],
        exclude: ["tink_streaming.py"]
    ),
    .testTarget(
        name: "ByteSourcesTests",
        dependencies: [
            "CLinux", "RandomAccess", "ByteSources", "BackendRegistry", "OpenSSLBackend", "SwiftAESBackend",
            "TestSupport", system,
        ]
    ),
    .testTarget(name: "SwiftAESBackendTests", dependencies: ["RandomAccess", "SwiftAESBackend"]),
    .testTarget(name: "NettleBackendTests", dependencies: ["RandomAccess", "NettleBackend"]),
    .testTarget(name: "KernelBackendTests", dependencies: ["RandomAccess", "KernelBackend", "SwiftAESBackend"]),
    .testTarget(name: "BackendRegistryTests", dependencies: ["RandomAccess", "OpenSSLBackend", "BackendRegistry"]),
    .testTarget(name: "FormatKeysTests", dependencies: ["Support", "RandomAccess", "FormatKeys"]),
    .testTarget(
        name: "VectorsTests",
        dependencies: ["RandomAccess", "ByteSources", "BackendRegistry", "Vectors", "TestSupport", system],
        exclude: ["Portable"]
    ),
    .testTarget(
        name: "ConformanceTests",
        dependencies: [
            "Support", "RandomAccess", "ByteSources", "BackendRegistry", "Results", "Statistics", "SubjectProtocol",
            "Vectors", "Conformance", "TestSupport",
        ]
    ),
    .testTarget(
        name: "SubjectTests",
        dependencies: [
            "Support", "RandomAccess", "ByteSources", "BackendRegistry", "SubjectProtocol", "Subject", "TestSupport",
            system,
        ]
    ),
    .testTarget(
        name: "MeasurementTests",
        dependencies: [
            "Support", "RandomAccess", "ByteSources", "HLS", "OpenSSLBackend", "BackendRegistry", "Results",
            "SubjectProtocol", "Subject", "Measurement", "TestSupport", system,
        ]
    ),
    .testTarget(name: "StatisticsTests", dependencies: ["Statistics"]),
    .testTarget(
        name: "ReportTests",
        dependencies: [
            "Support", "Statistics", "Results", "Measurement", "Gate", "Report", "TestSupport",
            .product(name: "Crypto", package: "swift-crypto"),
        ],
        exclude: [
            "Golden", "GoldenComparison", "GoldenGate", "GoldenHistory", "GoldenPage", "GoldenRecommendation",
            "GoldenSelfTest", "GoldenSideBySide", "Schemas",
        ]
    ),
    .testTarget(
        name: "KeysTests",
        dependencies: [
            "RandomAccess", "ByteSources", "HLS", "OpenSSLBackend", "SwiftAESBackend", "Statistics", "Keys",
            "TestSupport", system, .product(name: "Crypto", package: "swift-crypto"),
        ]
    ),
    .testTarget(
        name: "KeyTestingTests",
        dependencies: [
            "Support", "Results", "Keys", "KeyTesting",
        ]
    ),
    // Optimized also in debug: it makes and compares megabytes.
    .target(
        name: "TestSupport", dependencies: ["RandomAccess", "Results"], path: "Tests/TestSupport",
        swiftSettings: [.unsafeFlags(["-O"])]
    ),
    .testTarget(name: "SupportTests", dependencies: ["Support"]),
    .testTarget(
        name: "HLSTests",
        dependencies: ["RandomAccess", "ByteSources", "HLS", "OpenSSLBackend", "TestSupport", system]
    ),
    .testTarget(
        name: "SubjectProtocolTests",
        dependencies: ["Support", "RandomAccess", "ByteSources", "SubjectProtocol", "TestSupport"]
    ),
    .testTarget(name: "ResultsTests", dependencies: ["Support", "Results", "Measurement", "TestSupport"]),
    .testTarget(
        name: "GateTests",
        dependencies: [
            "CLinux", "Support", "RandomAccess", "OpenSSLBackend", "Statistics", "Results", "Measurement", "Gate",
            "TestSupport", system,
        ]
    ),
    .testTarget(
        name: "HTTPSourcesTests",
        dependencies: ["RandomAccess", "ByteSources", "HTTPSources", nio("NIOCore"), nio("NIOHTTP1")]
    ),
    .testTarget(
        name: "ServerTests",
        dependencies: [
            "Support", "RandomAccess", "ByteSources", "BackendRegistry", "HLS", "Measurement", "Keys", "Server",
            "TestSupport", nio("NIOCore"), nio("NIOEmbedded"),
            nio("NIOHTTP1"), nio("NIOPosix"), system,
        ]
    ),
    // All tests that start this program's commands and its servers, and other programs beside them.
    .testTarget(
        name: "IntegrationTests",
        dependencies: [
            "Support", "RandomAccess", "ByteSources", "HLS", "OpenSSLBackend", "GcryptBackend", "NettleBackend",
            "SodiumBackend", "KernelBackend", "BoringSSLBackend", "SwiftAESBackend", "BackendRegistry", "FormatKeys",
            "Results", "SubjectProtocol", "Measurement", "Keys", "KeyTesting", "HTTPSources", "KeyExchanges", "Server",
            "chunkwise", "TestSupport", crypto("Crypto", trait: "Network"), system,
        ],
        exclude: ["HTTP/Peers", "Server/Clients"]
    ),
]

/// Some of the tests by their names, for `scripts/sanitize`: a sanitizer's build of all of them takes long.
let chosenTests = Context.environment["CHUNKWISE_TESTS"].map { names in
    let names = names.split(separator: ",").map(String.init)
    return tests.filter { $0.type != .test || names.contains($0.name) }
}

/// The program of `scripts/fuzz`, which builds it in a folder of its own, instrumented.
let fuzzing: [Target] =
    Context.environment["CHUNKWISE_FUZZING"] == nil
    ? []
    : [
        .executableTarget(
            name: "fuzz",
            dependencies: [
                "Support", "RandomAccess", "ByteSources", "HLS", "SwiftAESBackend", "Results", "SubjectProtocol",
                "Vectors", "Measurement", "Gate", "Keys", "KeyTesting", "FormatKeys", "TestSupport",
                network("HTTPSources"), network("Server"), nio("NIOCore"), nio("NIOEmbedded"), nio("NIOPosix"),
            ],
            path: "Tests/Fuzzing", exclude: ["corpus"], swiftSettings: [.unsafeFlags(["-parse-as-library"])],
            // libFuzzer comes with Swift; gold cannot link it.
            linkerSettings: [.unsafeFlags(["-use-ld=lld"]), .linkedLibrary("stdc++")]
        )
    ]

let package = Package(
    name: "chunkwise",
    products: [
        .library(name: "RandomAccess", targets: ["RandomAccess"]),
        .library(name: "ByteSources", targets: ["ByteSources"]),
        .library(name: "OpenSSLBackend", targets: ["OpenSSLBackend"]),
        .library(name: "GcryptBackend", targets: ["GcryptBackend"]),
        .library(name: "BoringSSLBackend", targets: ["BoringSSLBackend"]),
        .library(name: "NettleBackend", targets: ["NettleBackend"]),
        .library(name: "SodiumBackend", targets: ["SodiumBackend"]),
        .library(name: "KernelBackend", targets: ["KernelBackend"]),
        .library(name: "SwiftAESBackend", targets: ["SwiftAESBackend"]),
        .library(name: "HLS", targets: ["HLS"]),
        .library(name: "Keys", targets: ["Keys"]),
        .library(name: "HTTPSources", targets: ["HTTPSources"]),
        .library(name: "KeyExchanges", targets: ["KeyExchanges"]),
        // For `Benchmarks/`, a package of its own.
        .library(name: "Statistics", targets: ["Statistics"]),
        .executable(name: "chunkwise", targets: ["chunkwise"]),
        .executable(name: "chunkwise-subject", targets: ["chunkwise-subject"]),
    ],
    // `swift build` has both; what they bring takes most of the time of building everything. Without them,
    // `swift build --disable-default-traits`, or the one that is wanted with `--traits`.
    traits: [
        .default(enabledTraits: ["Network", "BoringSSL"]),
        .trait(
            name: "Network",
            description: "HTTP and TLS: serve, key-server, tls-check, URLs as sources, and the libraries for them."),
        .trait(name: "BoringSSL", description: "The backend boringssl, from swift-crypto."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        // `BoringSSL.version` states this number; a test compares the two.
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-system", exact: "1.8.1"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        // For `HTTPSources` only.
        .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
        .package(url: "https://github.com/apple/swift-certificates", exact: "1.21.1"),
        .package(url: "https://github.com/apple/swift-asn1", exact: "1.7.4"),
    ],
    targets: floors.flatMap(\.targets) + (chosenTests ?? tests) + fuzzing,
    swiftLanguageModes: [.v6]
)

for floor in floors {
    for target in floor.targets where target.path == nil {
        target.path = "Sources/\(floor.folder)/\(target.name)"
    }
}

// What a file imports is its own business unless it says otherwise.
for target in package.targets where target.type != .system {
    target.swiftSettings = (target.swiftSettings ?? []) + [.enableUpcomingFeature("InternalImportsByDefault")]
}

/// What tests wait for: built with optimization by `scripts/test`, in debug as well. Not by others, since a package with
/// such flags cannot be depended on.
let optimized = [
    "Support", "RandomAccess", "ByteSources", "HLS", "SwiftAESBackend", "Statistics", "Results", "SubjectProtocol",
    "Vectors", "Conformance", "Subject", "Measurement", "Gate", "Report",
]
if Context.environment["CHUNKWISE_OPTIMIZED"] != nil {
    for target in package.targets where optimized.contains(target.name) {
        target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-O"], .when(configuration: .debug))]
    }
}

// Ends the build where a target depends on one that stands above it.
var standing: Set<String> = []
let own = Set(floors.flatMap { $0.targets.map(\.name) })
for target in floors.flatMap(\.targets) {
    for dependency in target.dependencies {
        let name: String
        switch dependency {
        case .byNameItem(let found, _), .targetItem(let found, _): name = found
        default: continue
        }
        guard own.contains(name), !standing.contains(name) else { continue }
        fatalError("\(target.name) depends on \(name), which stands above it")
    }
    standing.insert(target.name)
}
