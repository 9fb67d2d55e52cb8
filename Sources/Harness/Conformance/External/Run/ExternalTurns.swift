internal import Vectors

/// Reads of several open objects in turn: the first read of each, the second of each, and so on.
struct ExternalTurns {
    /// An object and its reads.
    struct Member {
        let run: ExternalGroupRun
        let reads: [(number: Int, read: RangeRead)]
    }

    let members: [Member]

    /// Opens all, reads in turn, and closes all.
    func run(into tally: inout ExternalTally) {
        var open: [(member: Member, opened: ExternalGroupRun.Opened)] = []
        for member in members {
            if let opened = member.run.open(member.reads, into: &tally) { open.append((member, opened)) }
        }
        for turn in 0..<(open.map(\.member.reads.count).max() ?? 0) {
            for (member, opened) in open where turn < member.reads.count {
                let (number, read) = member.reads[turn]
                member.run.run(read, number: number, of: opened, into: &tally)
            }
        }
        for (member, opened) in open { member.run.close(opened, into: &tally) }
    }
}

extension Sequence<RangeRead> {
    /// The reads with their places.
    var numbered: some Sequence<(number: Int, read: RangeRead)> {
        lazy.enumerated().map { (number: $0.offset, read: $0.element) }
    }
}
