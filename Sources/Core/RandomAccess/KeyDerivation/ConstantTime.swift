/// Whether two stretches of equal length hold the same bytes, in a time that does not depend on what they hold: for tags
/// and commitments.
///
/// - Precondition: The lengths are equal.
public func isEqualInConstantTime(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    precondition(left.count == right.count, "\(left.count) and \(right.count) bytes")
    var difference: UInt8 = 0
    for index in 0..<left.count { difference |= left[index] ^ right[index] }
    return difference == 0
}
