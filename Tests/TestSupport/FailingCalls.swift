import Foundation
import Glibc

/// Makes calls of a program to the system fail, by the library of `Tests/Faults/failing-calls.c`.
package final class FailingCalls {
    /// The way a call fails. A full disk stays full; `short` does half of the work; `kill` ends the process; `clock`
    /// fails nothing and sets the clock on the wall back.
    package enum Failure: String, CaseIterable, Sendable {
        case inputOutput = "EIO"
        case noSpace = "ENOSPC"
        case quota = "EDQUOT"
        case interrupted = "EINTR"
        case again = "EAGAIN"
        case short
        case kill
        case clock
    }

    /// The calls of a program.
    package struct Count {
        /// The number of calls, with those of the processes that it started.
        package let calls: Int
        /// The name of the call that failed, or `nil` if none did.
        package let failed: String?
    }

    private let folder: TemporaryFolder
    private let library: String

    /// Compiles the library, once for each object of this kind.
    ///
    /// - Throws: What Foundation throws; ``CannotCompile`` if the C compiler fails.
    package init() throws {
        folder = try TemporaryFolder()
        library = try Self.compile("failing-calls", in: folder)
    }

    /// Compiles a library of `Tests/Faults` that programs are started with.
    ///
    /// - Returns: The path of the library.
    /// - Throws: What Foundation throws; ``CannotCompile`` if the C compiler fails.
    package static func compile(_ name: String, in folder: TemporaryFolder) throws -> String {
        let library = folder.path(name + ".so")
        let source = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Faults/\(name).c")
        guard let compiler else { throw CannotCompile(errors: ["no cc, gcc or clang here"]) }
        let run = try CommandRun.run(
            compiler, ["-O1", "-shared", "-fPIC", "-o", library, source.path(percentEncoded: false), "-ldl"])
        guard run.status == 0 else { throw CannotCompile(errors: run.errorLines) }
        return library
    }

    /// The path of a C compiler; Swift comes with one.
    package static var compiler: String? {
        ["cc", "gcc", "clang"].lazy.compactMap(Programs.installed).first
    }

    /// The environment in which the call of a number fails; none if the number is 0.
    ///
    /// - Parameters:
    ///   - failure: How it fails.
    ///   - number: Which call it is, from 1 on.
    ///   - onFiles: Whether only calls on files and folders count, and none on sockets and pipes.
    /// - Returns: Variables for the program.
    /// - Throws: What Foundation throws.
    package func environment(
        _ failure: Failure, at number: Int, onFiles: Bool = false
    ) throws -> [String: String] {
        try folder.file("calls", [UInt8](repeating: 0, count: 64))
        return [
            "LD_PRELOAD": library, "CHUNKWISE_CALLS": folder.path("calls"),
            "CHUNKWISE_FAILING_CALL": String(number), "CHUNKWISE_FAILURE": failure.rawValue,
            "CHUNKWISE_CALLS_ON": onFiles ? "files" : "all",
        ]
    }

    /// The calls so far of the program that was given the last environment.
    package var count: Count {
        let bytes = folder.bytes("calls") ?? []
        func number(_ offset: Int) -> Int {
            bytes.dropFirst(offset).prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        let name = String(decoding: bytes.dropFirst(16).prefix { $0 != 0 }, as: UTF8.self)
        return Count(calls: number(0), failed: number(8) == 0 ? nil : name)
    }
}

/// The reason why there is no library that makes calls fail.
package struct CannotCompile: Error {
    /// The compiler's messages.
    package let errors: [String]
}
