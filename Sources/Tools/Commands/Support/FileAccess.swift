import ByteSources
import RandomAccess
import SystemPackage

/// How a file's ciphertext is reached.
enum FileAccess: String, CaseIterable {
    /// Where the system keeps it.
    case mmap
    /// Copied, window by window.
    case pread

    /// Opens a file.
    func open(_ path: FilePath) throws(DecryptionError) -> any ByteSource {
        switch self {
        case .mmap: try MappedSource(path: path)
        case .pread: try FileSource(path: path)
        }
    }
}
