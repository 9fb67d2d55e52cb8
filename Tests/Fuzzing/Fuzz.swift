import Glibc

/// A parser that is given whatever libFuzzer thinks of.
struct FuzzTarget: Sendable {
    /// The name that `CHUNKWISE_FUZZ` has for it.
    let name: String
    /// The folder or file of this project that the parser stands in.
    let source: String
    /// Files of this project that are good examples, as patterns for `sh` below the project's folder.
    let seeds: [String]
    /// Parses bytes, and expects what must hold of what was found; a trap is a finding, an error is not.
    let parse: @Sendable (_ bytes: [UInt8]) -> Void

    init(
        _ name: String, _ source: String, seeds: [String] = [], parse: @escaping @Sendable (_ bytes: [UInt8]) -> Void
    ) {
        (self.name, self.source, self.seeds, self.parse) = (name, source, seeds, parse)
    }
}

/// Traps at a false condition, which libFuzzer reports with its input.
func expect(_ condition: Bool, _ what: @autoclosure () -> String) {
    guard !condition else { return }
    fatalError(what())
}

/// The arguments of C's `main`.
public typealias FuzzArguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

/// libFuzzer's loop. The corresponding C function is `LLVMFuzzerRunDriver`.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutablePointer<FuzzArguments>,
    _ callback: @convention(c) (UnsafePointer<UInt8>, Int) -> CInt
) -> CInt

/// The target of this process.
nonisolated(unsafe) private var target = FuzzTarget("none", "none") { _ in }

/// The build calls the entry point of an executable so; libFuzzer's archive has one of its own, which is not taken.
@_cdecl("fuzz_main")
public func main(_ count: CInt, _ arguments: FuzzArguments) -> CInt {
    let name = getenv("CHUNKWISE_FUZZ").map { String(cString: $0) } ?? ""
    guard let found = FuzzTarget.all.first(where: { $0.name == name }) else {
        for target in FuzzTarget.all { print(([target.name, target.source] + target.seeds).joined(separator: " ")) }
        return name.isEmpty ? 0 : 64
    }
    target = found
    var (count, arguments) = (count, arguments)
    return runDriver(&count, &arguments) { start, count in
        target.parse(Array(UnsafeBufferPointer(start: start, count: count)))
        return 0
    }
}
