/// The files of a new plug-in.
struct PluginTemplate {
    /// The programming language of a plug-in.
    enum Language: String, CaseIterable {
        case c
        case rust
        case swift
    }

    let name: String
    let language: Language

    /// The files with their paths.
    var files: [(path: String, text: String)] {
        let header = ("chunkwise_plugin.h", text(PackageResources.chunkwise_plugin_h))
        switch language {
        case .c:
            return [
                header, ("\(name).c", text(PackageResources.plugin_c)),
                (
                    "Makefile",
                    makefile("\(name).c chunkwise_plugin.h", "$(CC) -O2 -Wall -Wextra -fPIC -shared $< -o $@ $(LDLIBS)")
                ),
            ]
        case .rust:
            let manifest = """
                [package]
                name = "\(name)"
                version = "0.1.0"
                edition = "2021"

                [lib]
                crate-type = ["cdylib"]

                [profile.release]
                panic = "abort"

                """
            return [
                ("Cargo.toml", manifest), ("src/lib.rs", text(PackageResources.plugin_rs)),
                (
                    "Makefile",
                    makefile(
                        "src/lib.rs Cargo.toml",
                        "cargo build --release --offline && cp target/release/lib$(basename $@).so $@")
                ),
            ]
        case .swift:
            let map = "module CChunkwisePlugin {\n  header \"chunkwise_plugin.h\"\n  export *\n}\n"
            return [
                header, ("module.modulemap", map), ("\(name).swift", text(PackageResources.plugin_swift)),
                (
                    "Makefile",
                    makefile(
                        "\(name).swift chunkwise_plugin.h module.modulemap",
                        "swiftc -O -swift-version 6 -I . -emit-library $< -o $@")
                ),
            ]
        }
    }

    private func makefile(_ needs: String, _ command: String) -> String { "\(name).so: \(needs)\n\t\(command)\n" }

    private func text(_ bytes: [UInt8]) -> String {
        String(decoding: bytes, as: UTF8.self).replacing("@NAME@", with: name)
    }
}
