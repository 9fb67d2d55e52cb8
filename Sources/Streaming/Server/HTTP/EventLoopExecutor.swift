#if Network
import NIOCore

/// Runs the tasks of a connection on the event loop of its channel.
///
/// On other threads a task may hand on window after window before the loop has looked at the first one and found that the
/// client takes no more: with 100 clients on two busy cores these were hundreds of MiB. On the loop, a window that was
/// handed on is written before the next line runs, so that the writer waits when it should; and no window costs two
/// changes of threads.
final class EventLoopExecutor: TaskExecutor {
    private let eventLoop: any EventLoop

    init(eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
#endif
