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

    private func decrypt(_ options: String...) -> [String] {
        [chunkwise, "decrypt", "--key-file", keyFile, "--iv", ivHex] + options + [path, "/dev/null"]
    }

    /// Times them, for each library.
    func run() throws {
        let openssl = [
            "openssl", "enc", "-d", "-aes-128-cbc", "-K", keyHex, "-iv", ivHex, "-in", path, "-out", "/dev/null",
        ]
        for library in ["openssl", "libgcrypt"] {
            let commands: [(String, [String])] = [
                ("C: pread, in place", [loop, library, keyHex, ivHex, path, "/dev/null"]),
                ("openssl enc -d", openssl),
                ("chunkwise decrypt", decrypt("--backend", library)),
                ("chunkwise decrypt --source pread", decrypt("--backend", library, "--source", "pread")),
                ("chunkwise decrypt --threads 2", decrypt("--backend", library, "--threads", "2")),
            ]
            let race = try Race(
                commands.map { name, command in (name, { try timed { _ = try Self.peakKiB(command) } }) },
                roundCount: roundCount)
            race.show("\(library): whole programs")
            for index in 2..<commands.count {
                print("  \(commands[index].0): \(decimals(race.speed(index, over: 1))) x openssl enc")
            }
        }
        print("peak memory (ru_maxrss of a fresh process, whose parent is smaller)")
        let idle = try Self.peakKiB([chunkwise, "backends"])
        print("  chunkwise backends: \(idle) KiB")
        for threads in ["1", "2"] {
            let peak = try Self.peakKiB(decrypt("--threads", threads))
            print("  chunkwise decrypt --threads \(threads): \(peak) KiB, \(peak - idle) more")
        }
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
