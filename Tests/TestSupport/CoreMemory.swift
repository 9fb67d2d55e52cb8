import Foundation
import Glibc

/// The memory of a process that runs, and the part of it that a core would have.
///
/// Which part that is, is asked of the process itself; what limits a core's length is not, since a program that is told of
/// crashes gets one of any length.
/// - Source: core(5), "Controlling which mappings are written to the core dump"; proc_pid_smaps(5), `VmFlags`.
package struct CoreMemory {
    private struct Mapping {
        var range: Range<UInt64>
        var isShared: Bool
        var hasFile: Bool
        /// The bytes of it that are the process's own.
        var anonymousByteCount = 0
        var flags: Set<Substring> = []
    }

    /// The bits of `coredump_filter`.
    package let filter: UInt32
    /// The longest core that the process may leave, as the system writes it.
    package let limit: String

    private let process: Int32
    private let mappings: [Mapping]

    /// Looks at a process, which must not go on meanwhile: it waits for something.
    ///
    /// - Returns: `nil` if its memory is not to be looked at.
    package init?(of process: Int32) {
        guard
            let filter = Self.text(process, "coredump_filter").flatMap({ UInt32($0.prefix { $0 != "\n" }, radix: 16) }),
            let limits = Self.text(process, "limits"), let map = Self.text(process, "smaps")
        else { return nil }
        self.process = process
        self.filter = filter
        let line = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") } ?? ""
        limit = line.dropFirst(18).split(separator: " ").first.map(String.init) ?? ""
        mappings = Self.mappings(map)
    }

    private static func text(_ process: Int32, _ name: String) -> String? {
        // These files come in pieces, of which others take the first short one for the last.
        let descriptor = open("/proc/\(process)/\(name)", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        while true {
            let piece = [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
                count = max(0, read(descriptor, buffer.baseAddress, buffer.count))
            }
            guard !piece.isEmpty else { return String(decoding: bytes, as: UTF8.self) }
            bytes += piece
        }
    }

    private static func mappings(_ text: String) -> [Mapping] {
        var mappings: [Mapping] = []
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard let first = words.first else { continue }
            if !first.hasSuffix(":") {
                let ends = first.split(separator: "-").compactMap { UInt64($0, radix: 16) }
                guard ends.count == 2, words.count >= 5 else { continue }
                mappings.append(
                    Mapping(
                        range: ends[0]..<ends[1], isShared: words[1].hasSuffix("s"),
                        hasFile: words[4] != "0"))
            } else if let last = mappings.indices.last {
                if first == "Anonymous:" { mappings[last].anonymousByteCount = (Int(words[1]) ?? 0) << 10 }
                if first == "VmFlags:" { mappings[last].flags = Set(words.dropFirst()) }
            }
        }
        return mappings
    }

    /// Finds those of some byte strings that are anywhere in the memory.
    package func found(_ needles: [String: [UInt8]]) -> Set<String> { found(needles, in: mappings) }

    /// Finds those of some byte strings that would be in a core.
    package func foundInCore(_ needles: [String: [UInt8]]) -> Set<String> {
        found(needles, in: mappings.filter(isInCore))
    }

    private func isInCore(_ mapping: Mapping) -> Bool {
        func isSet(_ bit: UInt32) -> Bool { filter & 1 << bit != 0 }
        // What is advised not to be, and what is a device's.
        guard mapping.flags.isDisjoint(with: ["dd", "io"]) else { return false }
        if mapping.flags.contains("ht") { return isSet(mapping.isShared ? 6 : 5) }
        // Of shared memory without a name it cannot be told apart from a file that was removed: either counts.
        if mapping.isShared { return isSet(1) || isSet(3) }
        if mapping.anonymousByteCount > 0, isSet(0) { return true }
        return mapping.hasFile && (isSet(2) || isSet(4))
    }

    private func found(_ needles: [String: [UInt8]], in mappings: [Mapping]) -> Set<String> {
        let descriptor = open("/proc/\(process)/mem", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var found: Set<String> = []
        let pieceByteCount: UInt64 = 4 << 20
        for mapping in mappings where mapping.flags.contains("rd") && !mapping.flags.contains("io") {
            var start = mapping.range.lowerBound
            while start < mapping.range.upperBound {
                // A piece more than the others begin in: what lies across two is in one.
                let end = min(start + pieceByteCount + 4096, mapping.range.upperBound)
                let bytes = [UInt8](unsafeUninitializedCapacity: Int(end - start)) { buffer, count in
                    count = max(0, pread(descriptor, buffer.baseAddress, buffer.count, Int(start)))
                }
                found.formUnion(Self.found(needles, in: bytes))
                start += pieceByteCount
            }
        }
        return found
    }

    /// Finds those of some byte strings that are in other bytes.
    package static func found(_ needles: [String: [UInt8]], in bytes: [UInt8]) -> Set<String> {
        bytes.withUnsafeBytes { bytes in Set(needles.filter { isFound($0.value, in: bytes) }.keys) }
    }

    /// The corresponding C functions are `memchr` and `memcmp`.
    private static func isFound(_ needle: [UInt8], in bytes: UnsafeRawBufferPointer) -> Bool {
        guard let first = needle.first, var place = bytes.baseAddress else { return false }
        let end = place + bytes.count
        while end - place >= needle.count {
            let rest = end - place - needle.count + 1
            guard let next = memchr(place, Int32(first), rest) else { return false }
            if memcmp(next, needle, needle.count) == 0 { return true }
            place = UnsafeRawPointer(next) + 1
        }
        return false
    }

    /// A key and a plaintext as somebody would look for them: the key's bytes, its digits, its base64.
    package static func needles(key: [UInt8], plaintext: [UInt8]) -> [String: [UInt8]] {
        let digits = key.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return [
            "key": key, "digits": Array(digits.utf8), "capital digits": Array(digits.uppercased().utf8),
            "base64": Array(Data(key).base64EncodedString().utf8.prefix(20)), "plaintext": plaintext,
        ]
    }

    /// True if a process without a limit leaves a core where it runs, so that there must be one.
    package static var isFileWhereItRuns: Bool {
        let pattern = FileManager.default.contents(atPath: "/proc/sys/kernel/core_pattern") ?? Data()
        guard let first = pattern.first else { return false }
        return first != UInt8(ascii: "|") && !pattern.contains(UInt8(ascii: "/")) && first != UInt8(ascii: "\n")
    }
}
