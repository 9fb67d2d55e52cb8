// swift-tools-version: 6.1
import PackageDescription

let system: Target.Dependency = .product(name: "SystemPackage", package: "swift-system")
let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

func nio(_ product: String) -> Target.Dependency {
    .product(name: product, package: "swift-nio")
}

/// The floors, from bottom to top, each a folder of `Sources`. A target depends on floors below its own, and on its
/// own floor on targets before it; the end of this file checks it.
let floors: [(folder: String, targets: [Target])] = [
    (
        "Support",
        [
            .target(name: "CLinux"),
            .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
            .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
            .target(name: "Support", dependencies: ["COpenSSL"]),
        ]
    ),
    (
        "Core",
        [
            .target(name: "RandomAccess"),
            .target(name: "ByteSources", dependencies: ["CLinux", "Support", "RandomAccess", system]),
            .target(name: "HLS", dependencies: ["RandomAccess", "ByteSources", "Keys", system]),
        ]
    ),
    (
        "Backends",
        [
            .systemLibrary(name: "CGcrypt", pkgConfig: "libgcrypt", providers: [.apt(["libgcrypt20-dev"])]),
            .systemLibrary(name: "CNettle", pkgConfig: "nettle", providers: [.apt(["nettle-dev"])]),
            .target(name: "OpenSSLBackend", dependencies: ["RandomAccess", "COpenSSL"]),
            .target(name: "GcryptBackend", dependencies: ["RandomAccess", "CGcrypt"]),
            .target(name: "NettleBackend", dependencies: ["RandomAccess", "CNettle"]),
            .target(name: "KernelBackend", dependencies: ["CLinux", "RandomAccess"]),
            .target(
                name: "BoringSSLBackend",
                dependencies: [
                    "RandomAccess", .product(name: "Crypto", package: "swift-crypto"),
                    .product(name: "CryptoExtras", package: "swift-crypto"),
                ]
            ),
            .target(name: "SwiftAESBackend", dependencies: ["RandomAccess"]),
            .target(
                name: "BackendRegistry",
                dependencies: [
                    "RandomAccess", "OpenSSLBackend", "GcryptBackend", "NettleBackend", "KernelBackend",
                    "BoringSSLBackend", "SwiftAESBackend",
                ]
            ),
        ]
    ),
    (
        "Harness",
        [
            .target(name: "Statistics"),
            .target(name: "Results", dependencies: ["Support", "Statistics"]),
            .target(name: "SubjectProtocol", dependencies: ["Support", "RandomAccess", "ByteSources"]),
            .target(name: "Vectors", dependencies: ["CZlib", "Support", "RandomAccess", "ByteSources"]),
            .target(
                name: "Conformance",
                dependencies: [
                    "Support", "RandomAccess", "ByteSources", "HLS", "Results", "SubjectProtocol", "Vectors", system,
                ]
            ),
            .target(
                name: "Subject",
                dependencies: [
                    "CLinux", "Support", "RandomAccess", "ByteSources", "HLS", "SubjectProtocol", "Vectors", system,
                ]
            ),
            .target(
                name: "Measurement",
                dependencies: [
                    "CLinux", "Support", "RandomAccess", "ByteSources", "HLS", "Statistics", "Results",
                    "SubjectProtocol", "Vectors", "Subject", system, .product(name: "Yams", package: "Yams"),
                ]
            ),
            .target(
                name: "Gate",
                dependencies: [
                    "CLinux", "Support", "RandomAccess", "ByteSources", "Statistics", "Results", "SubjectProtocol",
                    "Measurement", system,
                ]
            ),
            .target(name: "Report", dependencies: ["Support", "Statistics", "Results"]),
        ]
    ),
    (
        "Streaming",
        [
            .target(
                name: "Keys",
                dependencies: [
                    "Support", "RandomAccess", "ByteSources", "Statistics", system,
                    .product(name: "Crypto", package: "swift-crypto"),
                ]
            ),
            .target(
                name: "KeyTesting",
                dependencies: [
                    "Support", "RandomAccess", "Statistics", "SubjectProtocol", "Keys", nio("NIOCore"),
                    nio("NIOHTTP1"), nio("NIOPosix"),
                ]
            ),
            .target(
                name: "HTTPSources",
                dependencies: [
                    "RandomAccess", "ByteSources", .product(name: "AsyncHTTPClient", package: "async-http-client"),
                    .product(name: "Crypto", package: "swift-crypto"), nio("NIOCore"), nio("NIOHTTP1"),
                    nio("NIOPosix"), .product(name: "NIOSSL", package: "swift-nio-ssl"), nio("NIOTLS"),
                    .product(name: "SwiftASN1", package: "swift-asn1"),
                    .product(name: "X509", package: "swift-certificates"),
                ]
            ),
            .target(name: "KeyExchanges", dependencies: ["RandomAccess", "Keys", "HTTPSources"]),
            .target(
                name: "Server",
                dependencies: [
                    "Support", "RandomAccess", "ByteSources", "HLS", "Keys",
                    .product(name: "HTTPTypes", package: "swift-http-types"),
                    .product(name: "HummingbirdCore", package: "hummingbird"),
                    .product(name: "Logging", package: "swift-log"), nio("NIOCore"), nio("NIOHTTP1"),
                    .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                    .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"), nio("NIOPosix"),
                    .product(name: "NIOSSL", package: "swift-nio-ssl"),
                    .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"), system,
                ]
            ),
        ]
    ),
    (
        "Tools",
        [
            .target(
                name: "CommandOptions",
                dependencies: [
                    "Support", "RandomAccess", "ByteSources", "HLS", "BackendRegistry", "Results", "SubjectProtocol",
                    "Vectors", "Measurement", "Gate", arguments, system,
                ]
            ),
            .target(
                name: "Commands",
                dependencies: [
                    "Support", "RandomAccess", "ByteSources", "HLS", "BackendRegistry", "Statistics", "Results",
                    "SubjectProtocol", "Vectors", "Conformance", "Subject", "Measurement", "Gate", "Report",
                    "CommandOptions", arguments, system,
                ]
            ),
            .executableTarget(name: "chunkwise", dependencies: ["Commands"]),
            .executableTarget(
                name: "chunkwise-subject",
                dependencies: ["Support", "ByteSources", "BackendRegistry", "SubjectProtocol", "Subject"]
            ),
            .executableTarget(
                name: "chunkwise-https",
                dependencies: [
                    "RandomAccess", "ByteSources", "HTTPSources", "Commands",
                    .product(name: "Crypto", package: "swift-crypto"), nio("NIOCore"), nio("NIOHTTP1"),
                    nio("NIOPosix"), .product(name: "NIOSSL", package: "swift-nio-ssl"),
                    .product(name: "SwiftASN1", package: "swift-asn1"),
                    .product(name: "X509", package: "swift-certificates"),
                ]
            ),
            .executableTarget(
                name: "chunkwise-key-client",
                dependencies: [
                    "Support", "RandomAccess", "ByteSources", "HLS", "Statistics", "Results", "Measurement", "Keys",
                    "HTTPSources", "KeyExchanges", "Server", "CommandOptions", arguments, system,
                ]
            ),
            .executableTarget(
                name: "chunkwise-keys",
                dependencies: [
                    "Support", "RandomAccess", "ByteSources", "HLS", "SwiftAESBackend", "Results", "SubjectProtocol",
                    "Keys", "KeyTesting", arguments, system,
                ]
            ),
            .executableTarget(
                name: "chunkwise-serve",
                dependencies: [
                    "CLinux", "Support", "RandomAccess", "ByteSources", "HLS", "Measurement", "Keys", "Server",
                    "CommandOptions", arguments, system,
                ]
            ),
            .executableTarget(
                name: "chunkwise-tls-check",
                dependencies: ["Support", "ByteSources", "Results", "HTTPSources", "CommandOptions", arguments]
            ),
        ]
    ),
]

let tests: [Target] = [
    .testTarget(
        name: "RandomAccessTests",
        dependencies: ["RandomAccess", "ByteSources", "BackendRegistry"],
        exclude: ["tink_streaming.py"]
    ),
    .testTarget(
        name: "ByteSourcesTests",
        dependencies: ["RandomAccess", "ByteSources", "SwiftAESBackend", "TestSupport", system]
    ),
    .testTarget(name: "SwiftAESBackendTests", dependencies: ["RandomAccess", "SwiftAESBackend"]),
    .testTarget(name: "NettleBackendTests", dependencies: ["NettleBackend"]),
    .testTarget(name: "KernelBackendTests", dependencies: ["RandomAccess", "KernelBackend", "SwiftAESBackend"]),
    .testTarget(name: "BackendRegistryTests", dependencies: ["RandomAccess", "OpenSSLBackend", "BackendRegistry"]),
    .testTarget(
        name: "VectorsTests",
        dependencies: ["RandomAccess", "ByteSources", "BackendRegistry", "Vectors"],
        exclude: ["Portable"]
    ),
    .testTarget(
        name: "ConformanceTests",
        dependencies: [
            "Support", "RandomAccess", "ByteSources", "BackendRegistry", "Results", "Vectors", "Conformance",
        ]
    ),
    .testTarget(
        name: "SubjectTests",
        dependencies: [
            "Support", "RandomAccess", "ByteSources", "BackendRegistry", "SubjectProtocol", "Subject", "TestSupport",
        ]
    ),
    .testTarget(
        name: "MeasurementTests",
        dependencies: [
            "Support", "RandomAccess", "ByteSources", "HLS", "OpenSSLBackend", "BackendRegistry", "Results",
            "SubjectProtocol", "Subject", "Measurement", "chunkwise", "TestSupport", system,
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
            "RandomAccess", "ByteSources", "HLS", "SwiftAESBackend", "Statistics", "Keys", "chunkwise-keys",
            "TestSupport", system, .product(name: "Crypto", package: "swift-crypto"),
        ]
    ),
    .testTarget(
        name: "KeyTestingTests",
        dependencies: [
            "Support", "Statistics", "Results", "SubjectProtocol", "Keys", "KeyTesting", "chunkwise-keys",
            "TestSupport",
        ]
    ),
    .target(name: "TestSupport", dependencies: ["Results"], path: "Tests/TestSupport"),
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
        name: "DocumentTests",
        dependencies: [
            "Support", "RandomAccess", "ByteSources", "OpenSSLBackend", "GcryptBackend", "NettleBackend",
            "KernelBackend", "BoringSSLBackend", "SwiftAESBackend", "Results", "chunkwise", "chunkwise-https",
            "chunkwise-keys", "TestSupport",
        ]
    ),
    .testTarget(
        name: "ChunkwiseTests",
        dependencies: [
            "Support", "RandomAccess", "ByteSources", "HLS", "OpenSSLBackend", "Results", "chunkwise", "TestSupport",
            system,
        ]
    ),
    .testTarget(
        name: "HTTPSourcesTests",
        dependencies: [
            "Support", "RandomAccess", "ByteSources", "HLS", "OpenSSLBackend", "HTTPSources", "chunkwise",
            "chunkwise-https", "chunkwise-key-client", "chunkwise-keys", "chunkwise-serve", "chunkwise-tls-check",
            "TestSupport", nio("NIOCore"), nio("NIOHTTP1"), system,
        ],
        exclude: ["Peers"]
    ),
    .testTarget(
        name: "ServerTests",
        dependencies: [
            "Support", "RandomAccess", "ByteSources", "HLS", "OpenSSLBackend", "SwiftAESBackend", "Results",
            "Measurement", "Keys", "HTTPSources", "KeyExchanges", "Server", "chunkwise", "chunkwise-key-client",
            "chunkwise-serve", "TestSupport", .product(name: "HTTPTypes", package: "swift-http-types"), system,
        ],
        exclude: ["Clients"]
    ),
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
        .library(name: "KernelBackend", targets: ["KernelBackend"]),
        .library(name: "SwiftAESBackend", targets: ["SwiftAESBackend"]),
        .library(name: "HLS", targets: ["HLS"]),
        .library(name: "Keys", targets: ["Keys"]),
        .library(name: "HTTPSources", targets: ["HTTPSources"]),
        .library(name: "KeyExchanges", targets: ["KeyExchanges"]),
        // For `Benchmarks/`, a package of its own.
        .library(name: "Statistics", targets: ["Statistics"]),
        .executable(name: "chunkwise", targets: ["chunkwise"]),
        .executable(name: "chunkwise-https", targets: ["chunkwise-https"]),
        .executable(name: "chunkwise-key-client", targets: ["chunkwise-key-client"]),
        .executable(name: "chunkwise-keys", targets: ["chunkwise-keys"]),
        .executable(name: "chunkwise-serve", targets: ["chunkwise-serve"]),
        .executable(name: "chunkwise-subject", targets: ["chunkwise-subject"]),
        .executable(name: "chunkwise-tls-check", targets: ["chunkwise-tls-check"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        // `BoringSSL.version` states this number; a test compares the two.
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        // For `chunkwise-serve` only.
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1", traits: []),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.100.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.1"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.9.0"),
        // For `HTTPSources` only.
        .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-certificates", exact: "1.21.1"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
    ],
    targets: floors.flatMap(\.targets) + tests,
    swiftLanguageModes: [.v6]
)

for floor in floors {
    for target in floor.targets { target.path = "Sources/\(floor.folder)/\(target.name)" }
}

// What a file imports is its own business unless it says otherwise.
for target in package.targets where target.type != .system {
    target.swiftSettings = [.enableUpcomingFeature("InternalImportsByDefault")]
}

// Ends the build where a target depends on one that stands above it.
var standing: Set<String> = []
let own = Set(floors.flatMap { $0.targets.map(\.name) })
for target in floors.flatMap(\.targets) {
    for case .byNameItem(let name, _) in target.dependencies
    where own.contains(name) && name != "Keys" && !standing.contains(name) {
        fatalError("\(target.name) depends on \(name), which stands above it")
    }
    standing.insert(target.name)
}
