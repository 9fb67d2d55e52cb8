// swift-raae, the implementation of SEAL in Swift, as a subject: its reader, segment by segment.
//
//     mkdir raae && cd raae && swift package init --type executable --name real_raae
//     swift package add-dependency https://github.com/germ-network/swift-raae --from 0.2.0
//     swift package add-target-dependency SEAL real_raae --package swift-raae
//     swift package add-target-dependency RAAE real_raae --package swift-raae
//     rm Sources/real_raae/*.swift && cp ../Examples/subjects/real_raae.swift Sources/real_raae/main.swift
//     swift build -c release && cd ..
//     chunkwise verify --strategy seal-simple --subject raae/.build/release/real_raae
//
// The package has the layout of SEAL-simple alone; the others are the adapter's. It opens the last segment when it opens
// an object, and reads whole segments.

import Foundation
import RAAE
import SEAL

struct Failure: Error { let name: String }

typealias Message = [String: Any]

let strategies = ["seal-simple", "seal-editable", "seal-memory", "seal-disk", "seal-compact"]

func send(_ message: Message, _ payload: Data = Data()) throws {
    FileHandle.standardOutput.write(try JSONSerialization.data(withJSONObject: message) + [10] + payload)
}

enum Input {
    nonisolated(unsafe) private static let file = fdopen(0, "r")

    /// Returns the next message, or `nil` at the end.
    static func message() throws -> Message? {
        var (line, capacity): (UnsafeMutablePointer<CChar>?, Int) = (nil, 0)
        defer { free(line) }
        let count = getline(&line, &capacity, file)
        guard count > 0, let line else { return nil }
        guard let message = try? JSONSerialization.jsonObject(with: Data(bytes: line, count: count)) as? Message else {
            throw Failure(name: "invalidRequest")
        }
        return message
    }

    /// Returns the bytes behind a message.
    static func payload(_ byteCount: Int) -> Data {
        var bytes = Data(repeating: 0, count: byteCount)
        let count = bytes.withUnsafeMutableBytes { fread($0.baseAddress, 1, $0.count, file) }
        return bytes.prefix(count)
    }
}

extension Message {
    func integer(_ name: String) throws -> Int {
        guard let value = self[name] as? Int, value >= 0 else { throw Failure(name: "invalidRequest") }
        return value
    }

    func bytes(_ name: String) throws -> [UInt8] {
        guard let text = self[name] as? String, text.count % 2 == 0 else { throw Failure(name: "invalidRequest") }
        let digits = Array(text.utf8)
        return try stride(from: 0, to: digits.count, by: 2).map { place in
            guard let byte = UInt8(String(decoding: digits[place..<place + 2], as: UTF8.self), radix: 16) else {
                throw Failure(name: "invalidRequest")
            }
            return byte
        }
    }
}

/// The places of segments in an object: in a row, or in a row behind a table of nonces and tags.
struct Layout {
    let isLinear: Bool
    /// The place of the first segment, or of the table.
    let start: Int
    let nonceByteCount: Int
    let segmentByteCount: Int
    private(set) var dataStart = 0
    private(set) var segmentCount = 0
    private(set) var byteCount = 0

    private var entryByteCount: Int { nonceByteCount + 16 }

    init(_ request: Message, stored: Int, headerByteCount: Int, nonceByteCount: Int) throws {
        let commitmentByteCount = headerByteCount - 32
        let snapshotByteCount = try request.integer("snapshotID") * 2 * commitmentByteCount
        let layout = request["layout"] as? String
        (isLinear, self.nonceByteCount) = (layout == "linear", nonceByteCount)
        segmentByteCount = try request.integer("segmentByteCount")
        start = headerByteCount + (layout == "split" ? 0 : snapshotByteCount)
        let rest = stored - start
        let stride = segmentByteCount + entryByteCount
        if isLinear {
            segmentCount = (max(0, rest) + stride - 1) / stride
            byteCount = rest - segmentCount * entryByteCount
            guard byteCount >= (segmentCount - 1) * segmentByteCount else { throw Failure(name: "truncatedCiphertext") }
        }
        for count in max(1, rest / stride - 1)...max(1, rest / stride + 1) where !isLinear {
            var dataStart = start + count * entryByteCount + (layout == "split" ? snapshotByteCount : 0)
            if layout == "aligned" {
                dataStart = (dataStart + segmentByteCount - 1) / segmentByteCount * segmentByteCount
            }
            let byteCount = stored - dataStart
            if byteCount >= 0, max(1, (byteCount + segmentByteCount - 1) / segmentByteCount) == count {
                (self.dataStart, self.byteCount, segmentCount) = (dataStart, byteCount, count)
            }
        }
        guard segmentCount > 0 else { throw Failure(name: "truncatedCiphertext") }
    }

    /// Returns the ranges of a segment's nonce, ciphertext and tag, in the order of the file.
    func ranges(of index: Int) -> [Range<Int>] {
        let count = min(segmentByteCount, byteCount - index * segmentByteCount)
        guard isLinear else {
            let (entry, data) = (start + index * entryByteCount, dataStart + index * segmentByteCount)
            return [entry..<entry + entryByteCount, data..<data + count]
        }
        let place = start + index * (entryByteCount + segmentByteCount)
        return [place..<place + entryByteCount + count]
    }
}

/// An object whose ciphertext is in a file or comes from the harness.
struct Object {
    private let file: FileHandle?
    private let stored: Int
    private let reader: SEALReader
    private let layout: Layout
    var byteCount: Int { layout.byteCount }

    init(_ request: Message) throws {
        guard strategies.contains(request["strategy"] as? String ?? "") else { throw Failure(name: "unsupported") }
        let key = try request.bytes("key")
        guard key.count == 32 else { throw Failure(name: "invalidKey") }
        let isDerived = request["nonceMode"] as? String == "derived"
        let configuration = try SEALConfiguration(
            profile: request["protocolID"] as? String == "SEAL-RO-v1" ? .readOnly : .readWrite,
            aeadID: UInt16(request.integer("aeadID")), kdfID: UInt16(request.integer("kdfID")),
            segmentMax: UInt32(request.integer("segmentByteCount")), epochLength: UInt8(request.integer("epochLength")))
        // The package takes derived nonces wherever they are allowed.
        guard configuration.nonceMode == (isDerived ? .derived : .random) else { throw Failure(name: "unsupported") }
        let source = request["source"] as? Message ?? [:]
        if let path = source["path"] as? String {
            guard let file = FileHandle(forReadingAtPath: path) else { throw Failure(name: "io") }
            self.file = file
            stored = Int(try file.seekToEnd())
        } else {
            file = nil
            stored = try source.integer("byteCount")
        }
        layout = try Layout(
            request, stored: stored, headerByteCount: configuration.headerByteCount, nonceByteCount: isDerived ? 0 : 12)
        if configuration.profile == .readOnly, layout.isLinear {
            let geometry = try configuration.linearGeometry(objectByteCount: stored)
            guard geometry.plaintextByteCount == layout.byteCount else { throw Failure(name: "internal") }
        }
        let header = try configuration.parseHeader(Data(Self.fetch(file, stored, 0..<configuration.headerByteCount)))
        reader = try configuration.startDecryption(
            cek: key, header: header, globalAssociatedData: request.bytes("globalAssociatedData"))
        _ = try segment(layout.segmentCount - 1)
    }

    private static func fetch(_ file: FileHandle?, _ stored: Int, _ range: Range<Int>) throws -> [UInt8] {
        guard range.upperBound <= stored else { throw Failure(name: "truncatedCiphertext") }
        var bytes: [UInt8] = []
        while bytes.count < range.count {
            let (offset, count) = (range.lowerBound + bytes.count, range.count - bytes.count)
            var part = Data()
            if let file {
                try file.seek(toOffset: UInt64(offset))
                part = try file.read(upToCount: count) ?? Data()
            } else {
                try send(["need": ["offset": offset, "count": count]])
                guard let answer = try Input.message(), answer["ok"] as? Bool == true else { throw Failure(name: "io") }
                part = Input.payload(answer["payload"] as? Int ?? 0)
            }
            guard !part.isEmpty else { throw Failure(name: "truncatedCiphertext") }
            bytes += part
        }
        return bytes
    }

    private func segment(_ index: Int) throws -> [UInt8] {
        let parts = try layout.ranges(of: index).map { try Self.fetch(file, stored, $0) }
        let nonce = parts[0].prefix(layout.nonceByteCount)
        // The table has the tag, which the package wants behind the ciphertext.
        let sealed = parts.dropFirst().joined() + parts[0].dropFirst(layout.nonceByteCount)
        return try reader.decrypt(
            SealedSegment(
                position: SegmentPosition(index: UInt64(index), isFinal: index == layout.segmentCount - 1),
                nonce: nonce.isEmpty ? nil : Array(nonce), ciphertext: Array(sealed)))
    }

    func read(_ offset: Int, _ count: Int) throws -> Data {
        guard offset <= byteCount else { throw Failure(name: "rangeOutOfBounds") }
        let end = offset + min(count, byteCount - offset)
        var plaintext = Data()
        var position = offset
        while position < end {
            let (index, first) = position.quotientAndRemainder(dividingBy: layout.segmentByteCount)
            let part = try segment(index).dropFirst(first).prefix(end - position)
            plaintext += part
            position += part.count
        }
        return plaintext
    }
}

/// Returns the name that the protocol has for an error of the package.
func name(_ error: any Error) -> String {
    switch error {
    case let failure as Failure: failure.name
    case SEALError.truncatedHeaderBlock, SEALError.malformedSegmentation, SEALError.emptyImmutableObject:
        "truncatedCiphertext"
    case AEADError.authenticationFailure, is PayloadSchedule.CommitmentError: "authenticationFailed"
    case is PayloadSchedule.ScheduleError, is PayloadInfo.ValidationError: "unsupported"
    default: "internal"
    }
}

var objects: [Int: Object] = [:]
while let request = try? Input.message() {
    var (answer, payload): (Message, Data) = (["ok": true], Data())
    do {
        switch request["op"] as? String {
        case "hello":
            // Vectors with AES-128 go to subjects that take keys of 16 bytes, though all keys of SEAL have 32.
            answer.merge([
                "protocol": 1, "name": "swift-raae", "version": "0.2.0", "strategies": strategies,
                "keyByteCounts": [16, 32], "sources": ["path", "served"], "granularity": "chunk", "measures": false,
            ]) { $1 }
        case "open":
            let object = try Object(request)
            objects[try request.integer("id")] = object
            answer["plaintextByteCount"] = object.byteCount
        case "read":
            guard let object = objects[try request.integer("id")] else { throw Failure(name: "invalidRequest") }
            payload = try object.read(request.integer("offset"), request.integer("count"))
            answer["payload"] = payload.count
        case "close": objects[try request.integer("id")] = nil
        case "bye": break
        default: throw Failure(name: "invalidRequest")
        }
    } catch {
        (answer, payload) = (["ok": false, "error": name(error), "message": "\(error)"], Data())
    }
    try send(answer, payload)
    if request["op"] as? String == "bye" { break }
}
