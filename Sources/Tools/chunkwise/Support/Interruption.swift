import Dispatch
import Glibc
import Measurement
import SubjectProtocol
import Synchronization

/// Handling of Ctrl-C, `kill` and a closed terminal. The first signal asks the process to stop with complete results.
/// The second one ends it at once. Neither leaves children or temporary files.
enum Interruption {
    private static let signals = Atomic<Int>(0)
    private static let minForEnd = Atomic<Int>(2)
    /// The pipe that the handler writes to, to wake the thread that ends the process.
    private static let wakingEnd = Atomic<Int32>(-1)

    /// True if the user asked to stop.
    static var wasRequested: Bool { signals.load(ordering: .relaxed) > 0 }

    /// Installs handlers for SIGINT, SIGTERM and SIGHUP. Also ignores SIGPIPE, because a dead subject is a result.
    ///
    /// - Parameter endsAtOnce: True if the first signal ends the process, for commands without results to keep.
    static func install(endsAtOnce: Bool = false) {
        minForEnd.store(endsAtOnce ? 1 : 2, ordering: .relaxed)
        ignoreBrokenPipes()
        guard wakingEnd.load(ordering: .relaxed) < 0, startEndingThread() else { return }
        for number in [SIGINT, SIGTERM, SIGHUP] where number != SIGHUP || !isIgnored(number) {
            signal(number) { number in
                let count = Interruption.signals.add(1, ordering: .relaxed).newValue
                guard count >= Interruption.minForEnd.load(ordering: .relaxed) else { return }
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(Interruption.wakingEnd.load(ordering: .relaxed), &byte, 1)
            }
        }
    }

    /// Makes writing to a pipe without a reader an error instead of a signal that ends the process.
    static func ignoreBrokenPipes() {
        signal(SIGPIPE, SIG_IGN)
    }

    /// Starts a thread that sleeps until the process has to end. Ending takes locks and removes files, which a signal
    /// handler may not do.
    private static func startEndingThread() -> Bool {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return false }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        wakingEnd.store(ends[1], ordering: .relaxed)
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { argument in
                Interruption.endWhenWoken(Int32(Int(bitPattern: argument)))
                return nil
            }, UnsafeMutableRawPointer(bitPattern: Int(ends[0])))
        return code == 0
    }

    private static func endWhenWoken(_ descriptor: Int32) {
        var number: UInt8 = 0
        while read(descriptor, &number, 1) < 0, errno == EINTR {}
        // Further signals do not stop this; only the alarm does.
        for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, SIG_IGN) }
        alarm(3)
        LiveProcesses.killAll()
        RunFolder.removeAllTemporary()
        Terminal.clearProgress()
        signal(Int32(number), SIG_DFL)
        kill(getpid(), Int32(number))
    }

    /// Returns whether a signal is ignored, as under `nohup`. The corresponding C function is `sigaction`.
    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        let handler = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
        return handler == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}

/// Waiting for asynchronous work on the main thread, which has nothing else to do.
enum Waiting {
    /// The result that another thread leaves.
    private final class Box<Value: Sendable>: Sendable {
        let result = Mutex<Result<Value, any Error>?>(nil)
    }

    /// Waits for the end of a task.
    ///
    /// - Returns: The task's result.
    /// - Throws: The task's error.
    static func wait<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
        let box = Box<Value>()
        let semaphore = DispatchSemaphore(value: 0)
        Task {
            do {
                let value = try await body()
                box.result.withLock { $0 = .success(value) }
            } catch {
                box.result.withLock { $0 = .failure(error) }
            }
            semaphore.signal()
        }
        semaphore.wait()
        let result = try require(box.result.withLock({ $0 }), .io, "the task did not end: expected a result")
        return try result.get()
    }
}
