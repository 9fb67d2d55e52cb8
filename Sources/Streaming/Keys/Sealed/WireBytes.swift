#if Network
/// Why bytes are no message of the protocol.
package struct WireFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was found, and what was expected; no part of a key or an identifier.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Reads a message from its start on; numbers are big-endian.
struct WireReader {
    private let bytes: [UInt8]
    private(set) var place = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The next bytes.
    ///
    /// - Throws: ``WireFault`` if the message ends before.
    mutating func take(_ count: Int, _ name: String) throws(WireFault) -> ArraySlice<UInt8> {
        guard bytes.count - place >= count else {
            throw WireFault("the message ends after \(bytes.count) bytes: expected \(name) up to \(place + count)")
        }
        defer { place += count }
        return bytes[place..<place + count]
    }

    /// The next number.
    mutating func number<Number: FixedWidthInteger & UnsignedInteger>(
        _ name: String, as _: Number.Type
    ) throws(WireFault) -> Number {
        try take(Number.bitWidth / 8, name).reduce(0) { $0 << 8 | Number($1) }
    }

    /// The next text.
    mutating func text(_ count: Int, _ name: String) throws(WireFault) -> String {
        guard let text = String(validating: try take(count, name), as: UTF8.self) else {
            throw WireFault("\(name) is not UTF-8: expected text")
        }
        return text
    }

    /// What starts every message.
    mutating func start(_ mark: String, version: UInt8) throws(WireFault) {
        guard try take(4, "the mark").elementsEqual(mark.utf8) else {
            throw WireFault("the message has another mark: expected \(mark)")
        }
        let found = try number("the version", as: UInt8.self)
        guard found == version else { throw WireFault("the version is \(found): expected \(version)") }
    }

    /// Makes sure that nothing follows.
    func end() throws(WireFault) {
        guard place == bytes.count else {
            throw WireFault("\(bytes.count - place) bytes follow the message: expected none")
        }
    }
}

extension [UInt8] {
    /// Adds a number, big-endian.
    mutating func append<Number: FixedWidthInteger & UnsignedInteger>(number: Number) {
        for shift in stride(from: Number.bitWidth - 8, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: number >> Number(shift)))
        }
    }
}
#endif
