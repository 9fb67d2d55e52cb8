/// Bytes that tests start from.
package enum Samples {
    /// Bytes that do not repeat in any period that a chunk or window has.
    package static func bytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        var state = seed
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
    }

    /// The first place where two byte strings differ, for a message; `nil` if they are the same.
    package static func difference(_ actual: [UInt8], _ expected: [UInt8]) -> String? {
        if actual == expected { return nil }
        if let index = zip(actual, expected).enumerated().first(where: { $1.0 != $1.1 })?.offset {
            return "byte \(index) is \(actual[index]): expected \(expected[index])"
        }
        return actual.count == expected.count ? nil : "\(actual.count) bytes: expected \(expected.count)"
    }
}
