import Measurement
package import Results

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

/// The cells that a gate compares if nobody says which.
package enum DefaultCells {
    /// What `backend` says in a cell of a gate, whose commands bring their own.
    package static let backend = "any"

    /// A few short cells: an iteration takes about a millisecond with a fast AES.
    ///
    /// - Parameter keyByteCount: The length of their keys.
    /// - Returns: The cells.
    package static func cells(keyByteCount: Int) -> [Cell] {
        func cell(
            _ strategy: String, chunk: UInt64? = nil, window: UInt64 = 256 << 10, workload: String = "sequential",
            reads: Int? = nil
        ) -> Cell {
            Cell(
                backend: backend, strategy: strategy, ivRule: chunk == nil ? nil : "sequence",
                padding: strategy == "ctr" ? nil : "pkcs7", chunkByteCount: chunk, windowByteCount: window,
                workload: workload, readCount: reads, keyByteCount: keyByteCount, objectByteCount: 4 << 20)
        }
        return [
            cell("cbc-continuous"), cell("ctr"), cell("cbc-chunked", chunk: 64 << 10),
            cell("cbc-continuous", workload: "random:4KiB", reads: 256),
            cell("cbc-chunked", chunk: 64 << 10, workload: "random:64KiB", reads: 64),
        ]
    }

    /// Cells as a gate takes them: those that differ only in what the commands decide are one.
    package static func distinct(_ cells: [Cell]) -> [Cell] {
        var known: Set<String> = []
        return cells.filter { known.insert($0.gateName).inserted }.map { cell in
            var cell = cell
            (cell.backend, cell.access, cell.threads, cell.label) = (backend, "block", 1, nil)
            return cell
        }
    }
}
