/// Decryption that a reader does beside what it was asked for: a slowdown of known cause, to measure the gate by.
///
/// It is a share of the bytes delivered. As each read's part rarely is a number of whole blocks, what is left over is
/// kept for the next read, so that small reads add the same share as large ones.
package struct ExtraWork: Hashable, Sendable, CustomStringConvertible {
    /// The most that can be asked for: ten times the work.
    package static let largestShare = 10.0

    /// The share in millionths.
    package let millionths: UInt64

    /// Creates extra work, or returns `nil` unless the share is 0 to 10.
    ///
    /// - Parameter share: Further bytes decrypted per byte delivered, such as 0.05; kept to a millionth.
    package init?(share: Double) {
        guard share >= 0, share <= Self.largestShare else { return nil }
        self.millionths = UInt64((share * 1e6).rounded())
    }

    /// Further bytes decrypted per byte delivered.
    package var share: Double { Double(millionths) / 1e6 }

    /// The share as a number.
    package var description: String { "\(share)" }

    /// What is owed after some reads, in millionths of a byte.
    struct Debt {
        private var owed: UInt64 = 0

        /// Adds what a read owes.
        ///
        /// - Parameters:
        ///   - byteCount: The bytes that it delivered, below 2⁴⁰.
        ///   - work: The share.
        /// - Returns: The whole blocks' bytes that are due now; what is left is kept.
        mutating func add(_ byteCount: Int, _ work: ExtraWork) -> Int {
            owed += UInt64(byteCount) * work.millionths
            let blocks = owed / Self.block
            owed %= Self.block
            return Int(blocks) * 16
        }

        private static let block: UInt64 = 16 * 1_000_000
    }
}
