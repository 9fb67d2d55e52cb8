import Glibc

/// Small text files that the kernel makes up when they are read.
enum ProcFile {
    /// The file's lines; none if it cannot be read.
    static func lines(_ path: String) -> [String] {
        guard let file = fopen(path, "re") else { return [] }
        defer { fclose(file) }
        var text: [UInt8] = []
        withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 16) { room in
            while case let count = fread(room.baseAddress, 1, room.count, file), count > 0 {
                text.append(contentsOf: UnsafeRawBufferPointer(rebasing: room[..<count]))
            }
        }
        return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// The file's first line, or `nil`.
    static func line(_ path: String) -> String? {
        lines(path).first
    }
}
