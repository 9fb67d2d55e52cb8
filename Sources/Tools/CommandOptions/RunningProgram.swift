import Glibc
import SystemPackage

/// The program that runs, and those of other products, which lie beside it.
package enum RunningProgram {
    /// Its path.
    package static var path: String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0 else { return CommandLine.arguments.first ?? "chunkwise" }
        return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The path that a product of this name has.
    package static func sibling(_ name: String) -> String {
        FilePath(path).removingLastComponent().appending(name).string
    }

    /// That a product could not be started, by `errno`.
    package static func failure(toStart name: String) -> CommandFailure {
        let reason = String(cString: strerror(errno))
        return CommandFailure(
            .missingInput,
            "start \(sibling(name)): \(reason): expected it to be built, by swift build -c release --product \(name)")
    }
}
