#if Network
import Dispatch

/// Where certificates are checked: on a thread that nobody blocks.
///
/// A source is read by blocking, possibly on all threads that Swift has for tasks; a check that waited for one of those
/// would wait for the very reads that wait for it.
final class VerificationExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "certificates")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
#endif
