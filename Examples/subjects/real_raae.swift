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
// The package has the layout of SEAL-simple alone; the adapter has the one of SEAL-editable, where a nonce stands before
// each segment. It opens the last segment when it opens an object, and reads whole segments.

import Foundation
import RAAE
import SEAL

struct Failure: Error { let name: String }

typealias Message = [String: Any]

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

/// An object whose ciphertext is in a file or comes from the harness.
struct Object {
    private let file: FileHandle?
    private let stored: Int
    private let reader: SEALReader
    private let segmentByteCount: Int
    private let (start, nonceByteCount): (Int, Int)
    private let segmentCount: Int
    let byteCount: Int

    init(_ request: Message) throws {
        let isSimple = request["strategy"] as? String == "seal-simple"
        guard isSimple || request["strategy"] as? String == "seal-editable",
            request["layout"] as? String == "linear"
        else { throw Failure(name: "unsupported") }
        let key = try request.bytes("key")
        guard key.count == 32 else { throw Failure(name: "invalidKey") }
        segmentByteCount = try request.integer("segmentByteCount")
        let configuration = try SEALConfiguration(
            profile: isSimple ? .readOnly : .readWrite, aeadID: UInt16(request.integer("aeadID")),
            kdfID: UInt16(request.integer("kdfID")), segmentMax: UInt32(segmentByteCount),
            epochLength: UInt8(request.integer("epochLength")))
        // The package chooses derived nonces for AES-GCM-SIV.
        nonceByteCount = isSimple ? 0 : 12
        guard configuration.nonceMode == (isSimple ? .derived : .random) else { throw Failure(name: "unsupported") }
        let source = request["source"] as? Message ?? [:]
        if let path = source["path"] as? String {
            guard let file = FileHandle(forReadingAtPath: path) else { throw Failure(name: "io") }
            self.file = file
            stored = Int(try file.seekToEnd())
        } else {
            file = nil
            stored = try source.integer("byteCount")
        }
        let headerByteCount = configuration.headerByteCount
        let commitmentByteCount = headerByteCount - 32
        start = headerByteCount + (isSimple ? 0 : 2 * commitmentByteCount)
        let stride = nonceByteCount + segmentByteCount + 16
        let rest = stored - start
        segmentCount = (max(0, rest) + stride - 1) / stride
        byteCount = rest - segmentCount * (nonceByteCount + 16)
        if isSimple {
            let geometry = try configuration.linearGeometry(objectByteCount: stored)
            guard geometry.plaintextByteCount == byteCount else { throw Failure(name: "internal") }
        }
        guard segmentCount > 0, rest - (segmentCount - 1) * stride >= nonceByteCount + 16 else {
            throw Failure(name: "truncatedCiphertext")
        }
        let header = try configuration.parseHeader(Data(Self.fetch(file, stored, 0..<headerByteCount)))
        reader = try configuration.startDecryption(
            cek: key, header: header, globalAssociatedData: request.bytes("globalAssociatedData"))
        _ = try segment(segmentCount - 1)
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
        let stride = nonceByteCount + segmentByteCount + 16
        let place = start + index * stride
        let bytes = try Self.fetch(file, stored, place..<min(place + stride, stored))
        return try reader.decrypt(
            SealedSegment(
                position: SegmentPosition(index: UInt64(index), isFinal: index == segmentCount - 1),
                nonce: nonceByteCount == 0 ? nil : Array(bytes.prefix(nonceByteCount)),
                ciphertext: Array(bytes.dropFirst(nonceByteCount))))
    }

    func read(_ offset: Int, _ count: Int) throws -> Data {
        guard offset <= byteCount else { throw Failure(name: "rangeOutOfBounds") }
        let end = offset + min(count, byteCount - offset)
        var plaintext = Data()
        var position = offset
        while position < end {
            let (index, first) = position.quotientAndRemainder(dividingBy: segmentByteCount)
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
            answer.merge([
                "protocol": 1, "name": "swift-raae", "version": "0.2.0",
                "strategies": ["seal-simple", "seal-editable"],
                "keyByteCounts": [32], "sources": ["path", "served"], "granularity": "chunk", "measures": false,
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
