import Glibc
import Synchronization

/// The children of this process that have not been waited for.
///
/// Known to nobody else, since each child leads a group of its own: a signal that ends this process at once would leave
/// them behind.
package enum LiveProcesses {
    private static let state = Mutex((numbers: Set<pid_t>(), isEnding: false))

    /// To be called before a process is started, and held until it is in the list.
    static func start(_ spawn: () -> pid_t?) {
        let isEnding = state.withLock { state in
            if !state.isEnding, let number = spawn() { state.numbers.insert(number) }
            return state.isEnding
        }
        if isEnding { waitForEnd() }
    }

    /// To be called when the process has been waited for: its number may soon be another one's.
    static func remove(_ processID: pid_t) {
        let isEnding = state.withLock { state in
            state.numbers.remove(processID)
            return state.isEnding
        }
        if isEnding { waitForEnd() }
    }

    /// Kills them all, with what they started; whoever would start another one, or draw conclusions from their end, waits
    /// for this process's own. The corresponding C function is `kill`.
    package static func killAll() {
        state.withLock { state in
            state.isEnding = true
            for number in state.numbers { _ = kill(-number, SIGKILL) }
        }
    }

    private static func waitForEnd() {
        while true { sleep(1) }
    }
}
