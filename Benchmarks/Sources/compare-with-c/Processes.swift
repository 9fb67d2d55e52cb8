import Glibc

/// Whole programs against each other: start, open, decrypt, end.
struct Processes {
    let chunkwise: String
    let loop: String
    let path: String
    let keyFile: String
    let keyHex: String
    let ivHex: String
    let roundCount: Int

    /// Where plaintext goes.
    private enum Output: String, CaseIterable {
        case null = "to /dev/null"
        case pipe = "into a pipe"
        case file = "to a file, on the disk at the end"
    }

    private func decrypt(_ output: Output, _ options: String...) -> [String] {
        let name = output == .file ? written : output == .pipe ? "-" : "/dev/null"
        return ended([chunkwise, "decrypt", "--key-file", keyFile, "--iv", ivHex] + options + [path, name], output)
    }

    private var written: String { path + ".out" }

    /// A command that writes to standard output, or to the file, with what follows it.
    private func ended(_ command: [String], _ output: Output, isSynced: Bool = true) -> [String] {
        let line = command.joined(separator: " ")
        return switch output {
        case .null: command
        case .pipe: ["bash", "-c", "set -o pipefail; \(line) | cat >/dev/null"]
        // What has its own way to the disk says so.
        case .file: isSynced ? command : ["sh", "-c", "\(line) && sync \(written)"]
        }
    }

    private func openssl(_ output: Output) -> [String] {
        let name = output == .file ? ["-out", written] : output == .null ? ["-out", "/dev/null"] : []
        let command = ["openssl", "enc", "-d", "-aes-128-cbc", "-K", keyHex, "-iv", ivHex, "-in", path] + name
        return ended(command, output, isSynced: false)
    }

    private func loop(_ library: String, _ output: Output) -> [String] {
        let name = output == .file ? written : output == .pipe ? "/dev/stdout" : "/dev/null"
        return ended([loop, "cbc", library, keyHex, ivHex, path, name, "1"], output, isSynced: false)
    }

    /// Times them, for each library and each kind of output.
    func run() throws {
        for output in Output.allCases {
            for library in ["openssl", "libgcrypt"] {
                var commands: [(String, [String])] = [
                    ("C: pread, in place", loop(library, output)),
                    ("openssl enc -d", openssl(output)),
                    ("chunkwise decrypt", decrypt(output, "--backend", library)),
                    ("chunkwise decrypt --source mmap", decrypt(output, "--backend", library, "--source", "mmap")),
                    ("chunkwise decrypt --threads 2", decrypt(output, "--backend", library, "--threads", "2")),
                ]
                if output == .file { commands.append(("cp", ended(["cp", path, written], .file, isSynced: false))) }
                let race = try Race(
                    commands.map { name, command in
                        (
                            name,
                            {
                                unlink(written)
                                return try timed { _ = try Self.peakKiB(command) }
                            }
                        )
                    }, roundCount: roundCount)
                race.show("\(library), \(output.rawValue): whole programs")
                for index in 2..<5 {
                    let of = output == .file ? ", \(race.ratio(index, over: 5)) x cp" : ""
                    print("  \(commands[index].0): \(race.ratio(index, over: 1)) x openssl enc\(of)")
                }
            }
        }
        unlink(written)
        print("peak memory (ru_maxrss of a fresh process, whose parent is smaller)")
        let idle = try Self.peakKiB([chunkwise, "backends"])
        print("  chunkwise backends: \(idle) KiB")
        for threads in ["1", "2"] {
            let peak = try Self.peakKiB(decrypt(.null, "--threads", threads))
            print("  chunkwise decrypt --threads \(threads): \(peak) KiB, \(peak - idle) more")
        }
    }

    /// Times two command lines in turns, and prints a line for the table of Benchmarks/all.
    static func race(_ what: String, atLeast least: Double, base: String, other: String, roundCount: Int) throws {
        let race = try Race(
            [base, other].map { line in (line, { try timed { _ = try peakKiB(["sh", "-c", "exec \(line)"]) } }) },
            roundCount: roundCount)
        race.show(what)
        race.goal(what, 1, over: 0, atLeast: least)
    }

    /// Runs a program to its end, its output thrown away.
    ///
    /// - Returns: The max memory that it had resident, in KiB. The corresponding C functions are `posix_spawnp` and
    ///   `wait4`.
    private static func peakKiB(_ command: [String]) throws -> Int {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process = pid_t()
        let code = posix_spawnp(&process, command[0], &actions, nil, &arguments, environ)
        guard code == 0 else { throw Failure("cannot run \(command[0]): \(String(cString: strerror(code)))") }
        var status: Int32 = 0
        var usage = rusage()
        while wait4(process, &status, 0, &usage) < 0 && errno == EINTR {}
        guard status == 0 else { throw Failure("\(command.joined(separator: " ")): status \(status)") }
        return usage.ru_maxrss
    }
}
