import Glibc

/// A command that is run to its end, and what it printed.
package struct CapturedCommand: Sendable {
    /// What it wrote to its standard output.
    package let output: [UInt8]
    /// The end of what it wrote to its standard error.
    package let log: String
    /// What `waitpid` reported.
    package let status: Int32

    /// Runs a command with more in its environment. The corresponding C functions are `posix_spawnp` and `waitpid`.
    ///
    /// - Parameters:
    ///   - command: The program, found on the path if it has no slash, and its arguments.
    ///   - environment: What is set beside what this process has.
    /// - Throws: `SubjectError.notStarted`.
    package init(_ command: [String], environment: [String: String] = [:]) throws(SubjectError) {
        let settings = environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let spawned = try SpawnedProcess(command: settings.isEmpty ? command : ["/usr/bin/env"] + settings + command)
        close(spawned.input)
        var output: [UInt8] = []
        var log: [UInt8] = []
        var descriptors = [spawned.output, spawned.errors].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        // A descriptor below 0 is one that has ended.
        while descriptors.contains(where: { $0.fd >= 0 }) {
            if poll(&descriptors, 2, -1) < 0, errno != EINTR { break }
            for place in 0..<2 where descriptors[place].fd >= 0 && descriptors[place].revents != 0 {
                var room = [UInt8](repeating: 0, count: 1 << 16)
                let count = read(descriptors[place].fd, &room, room.count)
                if count > 0, place == 0 { output += room[..<count] }
                if count > 0, place == 1 { log = (log + room[..<count]).suffix(400) }
                if count == 0 { descriptors[place].fd = -1 }
            }
        }
        close(spawned.output)
        close(spawned.errors)
        var status: Int32 = 0
        while waitpid(spawned.processID, &status, 0) < 0, errno == EINTR {}
        LiveProcesses.remove(spawned.processID)
        self.output = output
        self.log = String(decoding: log, as: UTF8.self)
        self.status = status
    }
}
