/// What could not be done.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// `compare-with-c readers FILE KEY IV ROUNDS`, `random` with the same, `chunks FILE KEY CIPHER CHUNK ROUNDS`,
/// `commands ROUNDS WHAT LEAST BASE OTHER`, which are two command lines, or
/// `compare-with-c processes FILE KEY IV ROUNDS CHUNKWISE C-DECRYPT KEY-FILE`; see the script of the same name. And
/// `compare-with-c aes ROUNDS`; see `compare-ciphers`.
@main
enum CompareWithC {
    static func main() throws {
        let arguments = CommandLine.arguments
        if arguments.count == 3, arguments[1] == "aes", let roundCount = Int(arguments[2]), roundCount > 0 {
            return try Ciphers(roundCount: roundCount).run()
        }
        if arguments.count == 7, arguments[1] == "commands", let roundCount = Int(arguments[2]), roundCount > 0,
            let least = Double(arguments[4])
        {
            return try Processes.race(
                arguments[3], atLeast: least, base: arguments[5], other: arguments[6], roundCount: roundCount)
        }
        if arguments.count == 7, arguments[1] == "chunks", let key = bytes(arguments[3], byteCount: 32),
            let chunk = Int(arguments[5]), let roundCount = Int(arguments[6]), roundCount > 0
        {
            return try Chunks(
                path: arguments[2], key: key, cipher: arguments[4], chunkByteCount: chunk, roundCount: roundCount
            ).run()
        }
        guard arguments.count >= 6, let key = bytes(arguments[3]), let iv = bytes(arguments[4]),
            let roundCount = Int(arguments[5]), roundCount > 0
        else {
            throw Failure("expected readers, random, chunks or processes, a file, a key, an IV and a number of rounds")
        }
        switch (arguments[1], arguments.count) {
        case ("readers", 6):
            try Readers(path: arguments[2], key: key, iv: iv, roundCount: roundCount).run()
        case ("random", 6):
            try Readers(path: arguments[2], key: key, iv: iv, roundCount: roundCount).runRandom()
        case ("processes", 9):
            try Processes(
                chunkwise: arguments[6], loop: arguments[7], path: arguments[2], keyFile: arguments[8],
                keyHex: arguments[3], ivHex: arguments[4], roundCount: roundCount
            ).run()
        default:
            throw Failure("\(arguments[1]): expected readers, random, chunks, or processes with three paths more")
        }
    }

    /// Bytes from hexadecimal digits.
    private static func bytes(_ text: String, byteCount: Int = 16) -> [UInt8]? {
        let digits = Array(text)
        guard digits.count == 2 * byteCount else { return nil }
        let bytes = stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(digits[$0...($0 + 1)]), radix: 16)
        }
        return bytes.count == byteCount ? bytes : nil
    }
}
