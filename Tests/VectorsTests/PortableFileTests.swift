import Foundation
import RandomAccess
import Testing

@testable import Vectors

/// The repository's folder.
private let repository = URL(filePath: #filePath).appending(path: "../../..").standardized

private func read(_ name: String) throws -> VectorFile {
    try VectorFile(path: repository.appending(path: "data/vectors/\(name).json").path(percentEncoded: false))
}

@Suite("portable vector files")
struct PortableFileTests {
    /// Classes that a debug build writes and reads in seconds; CI compares all of them with a release build.
    static let smallClasses = VectorSet.files.filter {
        [
            "residues", "counter-carries", "sequence-carries", "paddings", "large-offsets", "playlists", "films",
        ].contains($0.name)
    }

    @Test("a class's file holds what the generator writes", arguments: smallClasses.map(\.name))
    func reproducible(name: String) throws {
        let vectors = try #require(VectorSet.files.first { $0.name == name })
        let url = repository.appending(path: "data/vectors/\(name).json")
        let found = try String(contentsOf: url, encoding: .utf8)
        let difference = FirstDifference(found: found, expected: try VectorWriter.text(of: vectors))
        #expect(difference == nil, "\(difference?.description ?? "")")
    }

    @Test("what is read back is what was written", arguments: smallClasses.map(\.name))
    func roundTrip(name: String) throws {
        let vectors = try #require(VectorSet.files.first { $0.name == name })
        let (file, groups) = (try read(name), vectors.groups())
        #expect(file.groups.map(\.id) == groups.map(\.id))
        for (found, expected) in zip(file.groups, groups) {
            #expect(found.list == expected.list, "\(expected.id)")
            #expect(found.strategy == expected.strategy && found.opening == expected.opening, "\(expected.id)")
            #expect(found.windowByteCounts == expected.windowByteCounts, "\(expected.id)")
            #expect(found.flags == expected.flags && found.readCount == expected.readCount, "\(expected.id)")
            #expect(Array(found.reads) == Array(expected.reads), "\(expected.id)")
        }
    }

    @Test("groups that are open together, or read by threads, stay so")
    func together() throws {
        let groups = try read("orders").groups
        let sets = Dictionary(grouping: groups.filter { $0.interleaving != nil }, by: \.interleaving)
        #expect(sets.values.map(\.count).sorted() == [3, 3, 5, 7])
        #expect(sets["interleaved/keys"].map { Set($0.map(\.key.byteCount)) } == [16, 24, 32])
        #expect(groups.count { $0.threadCount == 4 } == 7)
    }

    @Test(
        "a Python program that shares nothing with this one agrees with every file",
        .enabled(if: PythonCommand.hasCryptography, "python3 with its package cryptography is not installed"))
    func python() throws {
        let script = repository.appending(path: "Tests/VectorsTests/Portable/check_vectors.py")
        let folder = repository.appending(path: "data/vectors")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "json" }
        let result = try PythonCommand.run(([script] + files).map { $0.path(percentEncoded: false) })
        #expect(result.status == 0, "\(result.output)")
        #expect(result.output.split(separator: "\n").count == files.count)
        #expect(files.count == VectorSet.files.count + 4)
    }

    @Test(
        "that program takes the descriptions of each file for that file alone",
        .enabled(if: PythonCommand.hasCryptography, "python3 with its package cryptography is not installed"))
    func ownDescriptions() throws {
        let script = repository.appending(path: "Tests/VectorsTests/Portable/check_vectors.py")
        let messages = repository.appending(path: "data/vectors/messages.json")
        let text = try String(contentsOf: messages, encoding: .utf8)
        let other = FileManager.default.temporaryDirectory.appending(path: "messages-\(UUID().uuidString).json")
        try Data(text.replacing("{tag: 16}", with: "{tag: 12}").utf8).write(to: other)
        defer { try? FileManager.default.removeItem(at: other) }
        let result = try PythonCommand.run([script, messages, other].map { $0.path(percentEncoded: false) })
        #expect(result.status == 1 && result.output.contains(other.lastPathComponent), "\(result.output)")
    }

    @Test("the first difference is a line, and what stands there")
    func difference() {
        #expect(FirstDifference(found: "a\nb\n", expected: "a\nb\n") == nil)
        let other = FirstDifference(found: "a\nbx\n", expected: "a\nby\n")
        #expect(other?.description == "line 2: found \"bx\", expected \"by\"")
        #expect(FirstDifference(found: "a", expected: "a\nb")?.description == "line 2: found the end, expected \"b\"")
    }

    @Test("lengths, residues and padding bytes are complete")
    func coverage() {
        let lengths = VectorSet.continuousLengths().map(\.plaintext.byteCount)
        #expect(lengths == (0...513).map { UInt64($0) })
        for group in VectorSet.residues() {
            let pairs = Set(group.reads.map { [Int($0.offset % 16), $0.count % 16] })
            #expect(pairs.count == 256, "\(group.id)")
            for blocks in [8, 16, 32, 64, 128] {
                for count in 16 * (blocks - 1)...16 * (blocks + 1) {
                    let starts = Set(group.reads.lazy.filter { $0.count == count }.map { $0.offset % 16 })
                    #expect(starts.count == 16, "\(group.id), \(count) bytes")
                }
            }
        }
        let ends = VectorSet.paddingBytes()
        #expect(ends.count { $0.opening == .fails(.invalidPadding) } == 240 * 2 + 120 * 2 + 14 * 2)
        #expect(ends.count { $0.opening != .fails(.invalidPadding) } == 16 * 2)
        #expect(Set(VectorSet.iv(0).bytes).count == 16 && Set(VectorSet.iv(16).bytes).count == 16)
    }
}

/// The `python3` command.
enum PythonCommand {
    static var hasCryptography: Bool {
        (try? run(["-c", "import cryptography.hazmat.primitives.ciphers"]))?.status == 0
    }

    static func run(_ arguments: [String]) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3"] + arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }
}
