import BackendRegistry
import Foundation
import Testing

@Suite("versions")
struct VersionTests {
    @Test(
        "BoringSSL's version is that of the package that is asked for",
        .enabled(if: BackendRegistry.names.contains("boringssl"), "built without BoringSSL"))
    func boringSSL() throws {
        let manifest = try String(
            contentsOf: URL(filePath: #filePath).appending(path: "../../../Package.swift").standardized, encoding: .utf8
        )
        let line = try #require(manifest.split(separator: "\n").first { $0.contains("apple/swift-crypto\"") })
        let version = try #require(line.split(separator: "\"").first { $0.first?.isNumber == true })
        #expect(try BackendRegistry.backend(named: "boringssl").version.hasPrefix("swift-crypto \(version) "))
    }
}
