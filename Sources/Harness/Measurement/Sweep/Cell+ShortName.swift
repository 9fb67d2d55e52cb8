package import Results
internal import Support

extension Cell {
    /// The cell in a few words, for whoever watches: `libgcrypt 256KiB sequential`. What is usual is left out, so that
    /// two cells of a plan may have the same.
    package var shortName: String {
        var parts = [backend]
        if strategy != "cbc-continuous" { parts.append(strategy) }
        if let chunkByteCount { parts.append("\(ByteSize(chunkByteCount)) chunks") }
        if !workload.hasPrefix("random:") { parts.append("\(ByteSize(windowByteCount))") }
        parts.append(workload)
        if access != AccessPolicy.block.rawValue { parts.append(access) }
        if threads != 1 { parts.append("\(threads) threads") }
        if keyByteCount != 16 { parts.append("aes\(keyByteCount * 8)") }
        if source != ObjectKind.file.rawValue { parts.append(source) }
        if isCold == true { parts.append("cold") }
        if remoteLatencyNanoseconds != nil { parts.append("remote") }
        return parts.joined(separator: " ")
    }
}
