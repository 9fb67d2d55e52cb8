// swift-tools-version: 6.1
import PackageDescription

// Dependencies point one way, down this list; only a backend target imports a C module.
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
        .library(name: "Keys", targets: ["Keys"]),
        .library(name: "KeyFiles", targets: ["KeyFiles"]),
        .library(name: "HLS", targets: ["HLS"]),
        // A product of its own: who only reads files builds no HTTP client.
        .library(name: "HTTPSources", targets: ["HTTPSources"]),
        .library(name: "KeyExchanges", targets: ["KeyExchanges"]),
        // For `Benchmarks/`, a package of its own.
        .library(name: "Statistics", targets: ["Statistics"]),
        .executable(name: "chunkwise", targets: ["chunkwise"]),
        // A product of its own: who only measures builds no HTTP stack.
        .executable(name: "chunkwise-serve", targets: ["chunkwise-serve"]),
        // Key sessions and key servers' load, which need no crypto library and no measurement.
        .executable(name: "chunkwise-keys", targets: ["chunkwise-keys"]),
        .executable(name: "chunkwise-tls-check", targets: ["chunkwise-tls-check"]),
        // The same commands over objects on servers, which `chunkwise` starts where a source is a URL.
        .executable(name: "chunkwise-https", targets: ["chunkwise-https"]),
        // A product of its own: the server carries no HTTP client.
        .executable(name: "chunkwise-key-client", targets: ["chunkwise-key-client"]),
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
    targets: [
        .target(name: "RandomAccess"),
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CGcrypt", pkgConfig: "libgcrypt", providers: [.apt(["libgcrypt20-dev"])]),
        .systemLibrary(name: "CNettle", pkgConfig: "nettle", providers: [.apt(["nettle-dev"])]),
        .target(name: "CAFALG"),
        .target(name: "OpenSSLBackend", dependencies: ["RandomAccess", "COpenSSL"]),
        .target(name: "GcryptBackend", dependencies: ["RandomAccess", "CGcrypt"]),
        .target(name: "NettleBackend", dependencies: ["RandomAccess", "CNettle"]),
        .target(name: "KernelBackend", dependencies: ["RandomAccess", "CAFALG"]),
        .target(
            name: "BoringSSLBackend",
            dependencies: [
                "RandomAccess",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ]
        ),
        .target(name: "SwiftAESBackend", dependencies: ["RandomAccess"]),
        .target(
            name: "BackendRegistry",
            dependencies: [
                "RandomAccess", "OpenSSLBackend", "GcryptBackend", "BoringSSLBackend", "NettleBackend",
                "KernelBackend", "SwiftAESBackend",
            ]
        ),
        .target(name: "CAllocator"),
        .target(name: "CMappedMemory"),
        .target(
            name: "ByteSources",
            dependencies: ["CMappedMemory", "RandomAccess", .product(name: "SystemPackage", package: "swift-system")]
        ),
        .target(
            name: "SubjectProtocol",
            dependencies: ["JSON", "RandomAccess", "ByteSources"]
        ),
        .target(name: "JSON"),
        .target(name: "Threads"),
        .target(name: "Console"),
        .target(
            name: "Transfer",
            dependencies: [
                "RandomAccess", "ByteSources", "Threads",
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),
        // What a program with an HTTP client brings to the others.
        .target(name: "NetworkAccess", dependencies: ["JSON", "RandomAccess"]),
        .target(name: "Keys", dependencies: ["RandomAccess", "Statistics"]),
        .target(
            name: "KeyFiles",
            dependencies: [
                "JSON", "RandomAccess", "ByteSources", "Keys", "Transfer",
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),
        .target(name: "KeyLoad", dependencies: ["Keys", "Statistics"]),
        .target(
            name: "KeyLoopback",
            dependencies: [
                "KeyLoad", "Keys", "RandomAccess", "Statistics",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
        .target(name: "KeyScenarios", dependencies: ["JSON", "Keys", "SubjectProtocol"]),
        .target(
            name: "HLS",
            dependencies: [
                "RandomAccess", "ByteSources", "Keys", "Transfer",
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),
        .target(
            name: "Server",
            dependencies: [
                "JSON", "RandomAccess", "ByteSources", "Transfer", "HLS", "Keys", "SealedKeys",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),
        .target(
            name: "HTTPSources",
            dependencies: [
                "NetworkAccess", "RandomAccess",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ]
        ),
        .target(
            name: "SealedKeys",
            dependencies: ["Keys", "RandomAccess", .product(name: "Crypto", package: "swift-crypto")]
        ),
        .target(name: "KeyExchanges", dependencies: ["Keys", "HTTPSources", "RandomAccess", "SealedKeys"]),
        .target(name: "Vectors", dependencies: ["JSON", "RandomAccess", "ByteSources"]),
        .target(
            name: "Conformance",
            dependencies: [
                "JSON", "RandomAccess", "Vectors", "ByteSources", "SubjectProtocol", "Results", "Threads", "HLS",
            ]
        ),
        .target(
            name: "Mutants",
            dependencies: [
                "RandomAccess", "ByteSources", "JSON", "SubjectProtocol", "Vectors", "Conformance", "Results",
                "Threads",
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),
        .target(name: "Statistics"),
        .target(name: "Recommendation"),
        .target(name: "CPerfEvents"),
        .target(name: "CMachineLimits"),
        .target(name: "CAffinity"),
        .target(name: "MachineLimits", dependencies: ["CMachineLimits", "Statistics", "Threads"]),
        .target(name: "Results", dependencies: ["JSON", "MachineLimits"]),
        .target(
            name: "Measurement",
            dependencies: [
                "JSON", "NetworkAccess", "RandomAccess", "ByteSources", "Threads", "Transfer", "HLS",
                "SubjectProtocol", "Vectors", "Statistics", "Results", "MachineLimits", "CPerfEvents",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "Yams", package: "Yams"),
            ]
        ),
        .target(
            name: "Gate",
            dependencies: [
                "CAffinity", "JSON", "RandomAccess", "ByteSources", "SubjectProtocol", "Statistics", "Results",
                "Measurement",
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),
        .target(
            name: "Report",
            dependencies: [
                "Console", "JSON", "Results", "Statistics", "MachineLimits", "Recommendation", "Gate", "Threads",
            ]),
        .target(
            name: "CommandOptions",
            dependencies: [
                "Console", "JSON", "NetworkAccess", "RandomAccess", "BackendRegistry", "ByteSources", "Transfer",
                "SubjectProtocol", "Vectors", "Measurement", "Gate", "Results", "HLS",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),
        .executableTarget(
            name: "chunkwise-keys",
            dependencies: [
                "HLS", "JSON", "KeyFiles", "KeyLoad", "KeyLoopback", "KeyScenarios", "Keys", "RandomAccess",
                "Results", "SubjectProtocol", "SwiftAESBackend", "Transfer",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),
        .executableTarget(
            name: "chunkwise-serve",
            dependencies: [
                "CAllocator", "CommandOptions", "RandomAccess", "Measurement", "Server", "HLS", "JSON", "Keys",
                "SealedKeys",
                "Transfer",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),
        .executableTarget(
            name: "chunkwise-key-client",
            dependencies: [
                "CommandOptions", "Console", "RandomAccess", "ByteSources", "HLS", "HTTPSources", "JSON",
                "KeyExchanges", "Measurement",
                "Keys", "Results", "SealedKeys", "Server", "Statistics", "Transfer",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),
        .executableTarget(
            name: "chunkwise-tls-check",
            dependencies: [
                "CommandOptions", "Console", "JSON", "NetworkAccess", "Results", "HTTPSources",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .executableTarget(name: "chunkwise", dependencies: ["Commands"]),
        .executableTarget(
            name: "chunkwise-https",
            dependencies: [
                "Commands", "HTTPSources", "NetworkAccess", "RandomAccess",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ]
        ),
        .target(
            name: "Commands",
            dependencies: [
                "CommandOptions", "Console", "JSON", "NetworkAccess", "RandomAccess", "BackendRegistry", "ByteSources",
                "Transfer",
                "SubjectProtocol", "Vectors", "Conformance", "Mutants", "Measurement", "MachineLimits", "Statistics",
                "Results",
                "Recommendation", "Gate", "Report", "HLS", "Threads",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),
        .testTarget(
            name: "RandomAccessTests",
            dependencies: ["RandomAccess", "ByteSources", "BackendRegistry"], exclude: ["tink_streaming.py"]
        ),
        .testTarget(
            name: "ByteSourcesTests",
            dependencies: [
                "ByteSources", "RandomAccess", "SwiftAESBackend",
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),
        .testTarget(name: "SwiftAESBackendTests", dependencies: ["SwiftAESBackend", "RandomAccess"]),
        .testTarget(name: "NettleBackendTests", dependencies: ["NettleBackend"]),
        .testTarget(name: "KernelBackendTests", dependencies: ["KernelBackend", "SwiftAESBackend", "RandomAccess"]),
        .testTarget(
            name: "BackendRegistryTests", dependencies: ["BackendRegistry", "OpenSSLBackend", "RandomAccess"]),
        .testTarget(
            name: "VectorsTests", dependencies: ["Vectors", "RandomAccess", "ByteSources", "BackendRegistry"],
            exclude: ["Portable"]),
        .testTarget(
            name: "ConformanceTests",
            dependencies: ["Conformance", "Vectors", "RandomAccess", "ByteSources", "Results", "BackendRegistry"]
        ),
        .testTarget(
            name: "MutantsTests",
            dependencies: [
                "Mutants", "Conformance", "Vectors", "RandomAccess", "ByteSources", "Results", "BackendRegistry",
                "JSON",
            ]
        ),
        .testTarget(name: "MachineLimitsTests", dependencies: ["MachineLimits"]),
        .testTarget(name: "StatisticsTests", dependencies: ["Statistics"]),
        .testTarget(name: "RecommendationTests", dependencies: ["Recommendation", "Statistics"]),
        .testTarget(
            name: "ReportTests",
            dependencies: [
                "JSON", "Report", "Recommendation", "Results", "Statistics", "MachineLimits", "Gate", "TestSupport",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            exclude: [
                "Golden", "GoldenComparison", "GoldenGate", "GoldenHistory", "GoldenPage", "GoldenRecommendation",
                "GoldenSelfTest", "GoldenSideBySide", "Schemas",
            ]),
        .testTarget(
            name: "KeysTests",
            dependencies: ["Keys", "RandomAccess", "SwiftAESBackend", "Statistics"]
        ),
        .testTarget(
            name: "KeyFilesTests",
            dependencies: [
                "ByteSources", "HLS", "KeyFiles", "Keys", "RandomAccess", "SwiftAESBackend", "TestSupport",
                "chunkwise-keys",
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),
        .testTarget(
            name: "KeyLoadTests",
            dependencies: ["KeyLoad", "Keys", "Statistics", "Results", "TestSupport", "chunkwise-keys"]),
        .testTarget(name: "KeyLoopbackTests", dependencies: ["KeyLoopback", "KeyLoad", "Keys"]),
        .testTarget(
            name: "KeyScenariosTests",
            dependencies: ["KeyScenarios", "Keys", "JSON", "SubjectProtocol", "TestSupport", "chunkwise-keys"]
        ),
        .testTarget(
            name: "SealedKeysTests",
            dependencies: [
                "SealedKeys", "Keys", "RandomAccess", "TestSupport", .product(name: "Crypto", package: "swift-crypto"),
            ]
        ),
        .target(name: "TestSupport", dependencies: ["Results"], path: "Tests/TestSupport"),
        .testTarget(name: "JSONTests", dependencies: ["JSON"]),
        .testTarget(name: "ConsoleTests", dependencies: ["Console"]),
        .testTarget(name: "ThreadsTests", dependencies: ["Threads"]),
        .testTarget(
            name: "TransferTests",
            dependencies: [
                "Transfer", "RandomAccess", "ByteSources", "SwiftAESBackend", "TestSupport",
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),
        .testTarget(
            name: "HLSTests",
            dependencies: [
                "HLS", "RandomAccess", "ByteSources", "OpenSSLBackend", "TestSupport",
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),
        .testTarget(
            name: "SubjectProtocolTests",
            dependencies: ["SubjectProtocol", "JSON", "RandomAccess", "ByteSources", "TestSupport"]
        ),
        .testTarget(name: "ResultsTests", dependencies: ["JSON", "Results", "MachineLimits", "TestSupport"]),
        .testTarget(
            name: "MeasurementTests",
            dependencies: [
                "Measurement", "MachineLimits", "SubjectProtocol", "JSON", "RandomAccess", "ByteSources", "Results",
                "BackendRegistry", "OpenSSLBackend", "HLS", "TestSupport", "chunkwise",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),
        .testTarget(
            name: "GateTests",
            dependencies: [
                "Gate", "CAffinity", "Statistics", "Results", "Measurement", "RandomAccess", "OpenSSLBackend", "JSON",
                "TestSupport",
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),
        .testTarget(
            name: "DocumentTests",
            dependencies: [
                "chunkwise", "chunkwise-https", "chunkwise-keys", "JSON", "Results", "TestSupport", "RandomAccess",
                "ByteSources",
                "OpenSSLBackend", "GcryptBackend", "BoringSSLBackend", "NettleBackend", "KernelBackend",
                "SwiftAESBackend",
            ]
        ),
        .testTarget(
            name: "ChunkwiseTests",
            dependencies: [
                "chunkwise", "JSON", "Results", "TestSupport", "HLS", "RandomAccess", "ByteSources", "OpenSSLBackend",
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),
        .testTarget(
            name: "HTTPSourcesTests",
            dependencies: [
                "HTTPSources", "NetworkAccess", "RandomAccess", "ByteSources", "HLS", "JSON", "OpenSSLBackend",
                "TestSupport",
                "Transfer", "chunkwise", "chunkwise-https", "chunkwise-key-client", "chunkwise-keys", "chunkwise-serve",
                "chunkwise-tls-check",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            exclude: ["Peers"]
        ),
        .testTarget(
            name: "ServerTests",
            dependencies: [
                "Server", "RandomAccess", "ByteSources", "SwiftAESBackend", "OpenSSLBackend", "JSON", "Measurement",
                "TestSupport", "chunkwise", "chunkwise-serve", "chunkwise-key-client", "HLS", "HTTPSources",
                "KeyExchanges", "Keys", "Results",
                "SealedKeys",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            exclude: ["Clients"]
        ),
    ],
    swiftLanguageModes: [.v6]
)

// What a file imports is its own business unless it says otherwise.
for target in package.targets where target.type == .regular || target.type == .executable || target.type == .test {
    target.swiftSettings = (target.swiftSettings ?? []) + [.enableUpcomingFeature("InternalImportsByDefault")]
}
