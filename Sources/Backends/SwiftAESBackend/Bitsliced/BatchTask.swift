internal import CVectorLevels
import Glibc
import RandomAccess

/// The vectors for batches: a CPU's widest, chosen once.
enum VectorLevel: Int, CaseIterable {
    /// 128 bits, which each CPU has.
    case portable
    /// 256 bits.
    case avx2
    /// 256 bits, with more registers and more kinds of gates.
    case avx512

    /// This CPU's level, without features named in the variable `CHUNKWISE_SWIFT_DISABLE_HWF`, such as `avx512vl` or
    /// `avx2`.
    static let ofThisMachine = best(
        upTo: present, disabled: getenv("CHUNKWISE_SWIFT_DISABLE_HWF").map { String(cString: $0) } ?? "")

    /// The highest level that the CPU supports.
    static var present: VectorLevel { VectorLevel(rawValue: Int(chunkwise_vectors_present().rawValue)) ?? .portable }

    /// Returns the highest supported level without the features in `disabled`, names separated by commas.
    static func best(upTo present: VectorLevel, disabled: String) -> VectorLevel {
        let disabled = disabled.split(separator: ",")
        let allowed = allCases.prefix { level in
            level.rawValue <= present.rawValue && !disabled.contains { $0 == level.cpuFeature ?? "" }
        }
        return allowed.last ?? .portable
    }

    /// The CPU feature that the level needs in addition to those of lower levels, by the kernel's name.
    var cpuFeature: String? {
        switch self {
        case .portable: nil
        case .avx2: "avx2"
        case .avx512: "avx512vl"
        }
    }

    /// The number of blocks of a wide batch.
    var wideBlockCount: Int {
        self == .portable ? WideBatch<Plane>.blockCount : WideBatch<WidePlane>.blockCount
    }
}

/// A batch of blocks, its keys, and the operation on it.
struct BatchTask {
    /// The blocks, aligned by ``BitslicedCipher``.
    var blocks: UnsafeMutableRawPointer
    /// The round keys as planes of a wide or a narrow batch.
    var keys: UnsafePointer<Plane>
    var roundCount: Int
    var isWide: Bool
    var direction: CipherDirection

    func run(_ level: VectorLevel) {
        withUnsafePointer(to: self) { task in
            // These calls must be in one file with the function that they call, to be compiled together with it.
            switch level {
            case .portable: run(wide: WideBatch<Plane>.self)
            case .avx2: chunkwise_process_batch_avx2(task)
            case .avx512: chunkwise_process_batch_avx512(task)
            }
        }
    }

    @inline(__always)
    fileprivate func run<Vector>(wide: WideBatch<Vector>.Type) {
        if isWide { run(batch: wide) } else { run(batch: NarrowBatch.self) }
    }

    @inline(__always)
    private func run<Batch: BitslicedBatch>(batch: Batch.Type) {
        let blocks = blocks.assumingMemoryBound(to: Batch.Vector.self)
        switch direction {
        case .encrypt: Batch.encrypt(blocks, keys: keys, roundCount: roundCount)
        case .decrypt: Batch.decrypt(blocks, keys: keys, roundCount: roundCount)
        }
    }
}

/// Runs a batch for the levels that `vector_levels.h` compiles.
@_cdecl("chunkwise_process_batch")
@inline(__always)
func processBatch(_ task: UnsafeRawPointer) {
    task.assumingMemoryBound(to: BatchTask.self).pointee.run(wide: WideBatch<WidePlane>.self)
}
