import Measurement
package import Results
import Support

extension Cell {
    /// The cell in words, without what a gate leaves to the commands that it compares: backend, access and threads.
    package var gateName: String {
        var parts = [strategy]
        if let chunkByteCount { parts.append("chunk=\(ByteSize(chunkByteCount))") }
        if let ivRule, ivRule != "sequence" { parts.append("iv=\(ivRule)") }
        if let padding, padding != "pkcs7" { parts.append("padding=\(padding)") }
        if keyByteCount != 16 { parts.append("aes\(keyByteCount * 8)") }
        if workload == CellWorkload.sequential.description {
            parts.append("window=\(ByteSize(windowByteCount))")
        } else {
            parts.append(workload)
            if let readCount { parts.append("reads=\(readCount)") }
            if workload.hasPrefix("trace:") { parts.append("window=\(ByteSize(windowByteCount))") }
        }
        parts.append("object=\(ByteSize(objectByteCount))")
        if source != ObjectKind.file.rawValue { parts.append(source) }
        if isCold == true { parts.append("cold") }
        if let remoteLatencyNanoseconds { parts.append("latency=\(remoteLatencyNanoseconds)ns") }
        return parts.joined(separator: " ")
    }
}
