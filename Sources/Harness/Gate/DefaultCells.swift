import Measurement
package import Results

/// The cells that a gate compares if nobody says which.
package enum DefaultCells {
    /// What `backend` says in a cell of a gate, whose commands bring their own.
    package static let backend = "any"

    /// A few short cells: an iteration takes less than a millisecond with a fast AES.
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

    /// Cells as a gate takes them: without what the commands decide, and each once.
    package static func distinct(_ cells: [Cell]) -> [Cell] {
        var known: Set<String> = []
        return cells.map { cell in
            var cell = cell
            (cell.backend, cell.access, cell.threads, cell.label) = (backend, "block", 1, nil)
            // Whether a file is mapped is the command's affair too.
            if cell.source == ObjectKind.mmap.rawValue { cell.source = ObjectKind.file.rawValue }
            return cell
        }.filter { known.insert($0.gateName).inserted }
    }
}
