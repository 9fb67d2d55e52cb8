#if Network
import NIOCore

/// How long a read may take, from its start on, whatever is asked for on its behalf.
struct Deadlines: Sendable {
    /// How long nothing may come.
    let idleTimeout: TimeAmount
    /// How long everything may take.
    let deadline: TimeAmount
    /// When that is over.
    let until: NIODeadline

    /// Starts now.
    init(_ options: HTTPSource.Options) {
        idleTimeout = TimeAmount(options.idleTimeout)
        deadline = TimeAmount(options.deadline)
        until = .now() + deadline
    }

    /// Whether the time is over.
    var isOver: Bool { NIODeadline.now() >= until }

    /// That the time was over first, before all of an answer or before any of it.
    func failure(hasAnswer: Bool) -> HTTPFailure {
        let milliseconds = deadline.nanoseconds / 1_000_000
        return hasAnswer ? .late(milliseconds: milliseconds) : .noAnswer(milliseconds: milliseconds)
    }
}
#endif
