// swift-tools-version: 6.1
import PackageDescription

// A package of its own, so that who uses `chunkwise` as a library does not get what its benchmarks need.
let package = Package(
    name: "chunkwise-benchmarks",
    dependencies: [
        .package(name: "chunkwise", path: ".."),
        // Without its default traits it needs no interposers; its malloc counts then read 0 and are not asked for.
        .package(url: "https://github.com/ordo-one/benchmark", exact: "1.38.1", traits: []),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-system", exact: "1.8.1"),
    ],
    targets: [
        .executableTarget(
            name: "InnerParts",
            dependencies: [
                .product(name: "Benchmark", package: "benchmark"),
                .product(name: "BoringSSLBackend", package: "chunkwise"),
                .product(name: "ByteSources", package: "chunkwise"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "GcryptBackend", package: "chunkwise"),
                .product(name: "KernelBackend", package: "chunkwise"),
                .product(name: "NettleBackend", package: "chunkwise"),
                .product(name: "OpenSSLBackend", package: "chunkwise"),
                .product(name: "RandomAccess", package: "chunkwise"),
                .product(name: "Statistics", package: "chunkwise"),
                .product(name: "SwiftAESBackend", package: "chunkwise"),
            ],
            path: "Benchmarks/InnerParts",
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]
        ),
        .target(name: "CLoops", linkerSettings: [.linkedLibrary("crypto"), .linkedLibrary("gcrypt")]),
        .target(name: "CAllocationCount"),
        .target(name: "CCycleCount"),
        .executableTarget(
            name: "timing-leaks",
            dependencies: [
                "CCycleCount",
                .product(name: "RandomAccess", package: "chunkwise"),
                .product(name: "SwiftAESBackend", package: "chunkwise"),
            ]
        ),
        .executableTarget(name: "c-decrypt", dependencies: ["CLoops"]),
        .executableTarget(
            name: "fixed-answer",
            dependencies: [
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
        .executableTarget(
            name: "compare-with-c",
            dependencies: [
                "CLoops", "CAllocationCount",
                .product(name: "ByteSources", package: "chunkwise"),
                .product(name: "GcryptBackend", package: "chunkwise"),
                .product(name: "OpenSSLBackend", package: "chunkwise"),
                .product(name: "RandomAccess", package: "chunkwise"),
                .product(name: "SwiftAESBackend", package: "chunkwise"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
