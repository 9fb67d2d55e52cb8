import RandomAccess
import Results
import SubjectProtocol

extension PlanEntryReader {
    /// The object that is given, or the one that the entry asks for.
    func planned(defaultByteCount: UInt64) throws(PlanError) -> PlannedObject {
        if let object { return PlannedObject(object) }
        let strategy = try single(
            "strategy", known: Strategy.names + [PlaylistRequest.strategyName], fallback: "cbc-continuous")
        let source = try single(
            "source", known: ObjectKind.allCases.map(\.rawValue), fallback: ObjectKind.file.rawValue)
        let byteCount = try entry.size("object-size", default: defaultByteCount, minimum: 0)
        return PlannedObject(
            strategy: strategy, chunkByteCounts: try chunks(strategy), ivRule: try ivRule(strategy),
            padding: try padding(strategy, byteCount), keyByteCount: try keyByteCount(strategy), byteCount: byteCount,
            source: ObjectKind(rawValue: source) ?? .file)
    }

    private func chunks(_ strategy: String) throws(PlanError) -> [UInt64?] {
        if strategy.hasPrefix("tink") { return try segments() }
        if strategy == PlaylistRequest.strategyName { return try playlistSegments() }
        if strategy.hasPrefix("cobblestone") {
            if let texts = try entry.texts("chunk-size") {
                try require(false, "chunk-size", texts[0], "no chunk-size for \(strategy), whose chunks have 16KiB")
            }
            return [ChunkFormat.cobblestone(keyByteCount: 16, context: []).chunkByteCount]
        }
        guard let texts = try entry.texts("chunk-size") else {
            try require(strategy != "cbc-chunked", "strategy", strategy, "a chunk-size with it")
            return [nil]
        }
        try require(strategy == "cbc-chunked", "chunk-size", texts[0], "no chunk-size for \(strategy)")
        var sizes: [UInt64?] = []
        for text in texts {
            let size = try entry.size(text, key: "chunk-size", minimum: 16)
            try require(size % 16 == 0, "chunk-size", text, "a multiple of 16 bytes")
            sizes.append(size)
        }
        return sizes
    }

    /// The plaintext bytes of a playlist's segments.
    private func playlistSegments() throws(PlanError) -> [UInt64?] {
        var sizes: [UInt64?] = []
        for text in try entry.texts("chunk-size") ?? ["1MiB"] {
            let size = try entry.size(text, key: "chunk-size", minimum: 1 << 10)
            try require(size <= 1 << 32, "chunk-size", text, "at most 4GiB")
            sizes.append(size)
        }
        return sizes
    }

    /// Tink's segments are said with their tags, as its templates are named.
    private func segments() throws(PlanError) -> [UInt64?] {
        var sizes: [UInt64?] = []
        for text in try entry.texts("chunk-size") ?? ["4KiB"] {
            let size = try entry.size(text, key: "chunk-size", minimum: 64)
            try require(size <= 1 << 28, "chunk-size", text, "at most 256MiB")
            sizes.append(size - UInt64(ChunkFormat.tagByteCount))
        }
        return sizes
    }

    private func ivRule(_ strategy: String) throws(PlanError) -> String? {
        let rules = IVRule.allCases.map(\.rawValue)
        guard strategy == "cbc-chunked" else {
            if let text = try entry.text("iv-rule") {
                try require(false, "iv-rule", text, "no iv-rule for \(strategy)")
            }
            return nil
        }
        return try single("iv-rule", known: rules, fallback: "sequence")
    }

    private func padding(_ strategy: String, _ objectByteCount: UInt64) throws(PlanError) -> String? {
        if !strategy.hasPrefix("cbc") {
            if let text = try entry.text("padding") {
                try require(false, "padding", text, "no padding for \(strategy)")
            }
            return nil
        }
        let padding = try single("padding", known: Padding.allCases.map(\.rawValue), fallback: "pkcs7")
        try require(
            padding == "pkcs7" || objectByteCount % 16 == 0, "object-size", "\(objectByteCount)",
            "a multiple of 16 bytes, since padding is none")
        return padding
    }

    private func keyByteCount(_ strategy: String) throws(PlanError) -> Int {
        let known =
            switch strategy {
            case "cobblestone-128": ["128"]
            case "cobblestone-256": ["256"]
            case "tink-aes-gcm-hkdf": ["128", "256"]
            case PlaylistRequest.strategyName: ["128"]
            default: ["128", "192", "256"]
            }
        // Bits, as the ciphers are named after them.
        return switch try single("key-size", known: known, fallback: known[0]) {
        case "128": 16
        case "192": 24
        default: 32
        }
    }
}
