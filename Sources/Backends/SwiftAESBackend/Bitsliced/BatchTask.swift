internal import CVectorLevels
import Glibc
import RandomAccess

/// The vectors that batches are processed on: a CPU's widest, chosen once.
enum VectorLevel: Int, CaseIterable {
    /// 128 bits, of which each CPU has vectors.
    case portable
    /// 256 bits.
    case avx2
    /// 256 bits, in more registers and with more kinds of gates.
    case avx512

    /// This CPU's level, less what the variable `CHUNKWISE_SWIFT_DISABLE_HWF` names, such as `avx512vl` or `avx2`.
    static let ofThisMachine = best(
        upTo: present, disabled: getenv("CHUNKWISE_SWIFT_DISABLE_HWF").map { String(cString: $0) } ?? "")

    /// The highest level that the CPU has.
    static var present: VectorLevel { VectorLevel(rawValue: Int(chunkwise_vectors_present().rawValue)) ?? .portable }

    /// The highest level that the CPU has and that needs none of `disabled`, names separated by commas.
    static func best(upTo present: VectorLevel, disabled: String) -> VectorLevel {
        let disabled = disabled.split(separator: ",")
        let allowed = allCases.prefix { level in
            level.rawValue <= present.rawValue && !disabled.contains { $0 == level.cpuFeature ?? "" }
        }
        return allowed.last ?? .portable
    }

    /// The CPU feature that the level needs beside those of the levels below it, as the kernel names it.
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

/// A batch's blocks, its keys, and what is done with them.
struct BatchTask {
    /// The blocks, as ``BitslicedCipher`` aligns them.
    var blocks: UnsafeMutableRawPointer
    /// The round keys in a wide or a narrow batch's planes.
    var keys: UnsafePointer<Plane>
    var roundCount: Int
    var isWide: Bool
    var direction: CipherDirection

    func run(_ level: VectorLevel) {
        withUnsafePointer(to: self) { task in
            // In one file with the function that they call, which they cannot be compiled with otherwise.
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

/// What `vector_levels.h` has compiled for its levels.
@_cdecl("chunkwise_process_batch")
@inline(__always)
func processBatch(_ task: UnsafeRawPointer) {
    task.assumingMemoryBound(to: BatchTask.self).pointee.run(wide: WideBatch<WidePlane>.self)
}
