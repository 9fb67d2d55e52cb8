/// The protection of samples.
extension FilmReader {
    /// The protection of a fragment's samples, one after the other: by their groups, or else the usual one.
    ///
    /// - Source: ISO/IEC 14496-12:2022, section 8.9.2.
    struct SampleGroups {
        private let usual: Protection?
        private let ofTrack: [Protection?]
        private let ofFragment: [Protection?]
        private var box: FilmBox?
        private var leftRunCount: UInt32 = 0
        /// The number of samples left in the current run, and their protection.
        private var run: (count: UInt32, protection: Protection?) = (0, nil)

        init(
            _ found: (box: FilmBox, version: UInt8)?, usual: Protection?, ofTrack: [Protection?],
            ofFragment: [Protection?]
        ) throws(DecryptionError) {
            (self.usual, self.ofTrack, self.ofFragment) = (usual, ofTrack, ofFragment)
            guard case (var box, let version)? = found else { return }
            if version == 1 { try box.skip(4) }
            leftRunCount = try box.number()
            self.box = box
        }

        /// Moves on to the next sample.
        ///
        /// - Returns: Its protection; `nil` for a clear sample.
        mutating func next() throws(DecryptionError) -> Protection? {
            guard var box else { return usual }
            while run.count == 0 {
                // Samples behind the last run have no group.
                guard leftRunCount > 0 else { return usual }
                leftRunCount -= 1
                let (count, group) = (try box.number(UInt32.self), Int(try box.number(UInt32.self)))
                // Groups of the fragment itself are numbered from 65,537 on.
                let (groups, index) = group > 0x10000 ? (ofFragment, group - 0x10001) : (ofTrack, group - 1)
                guard index < groups.count else { throw box.mismatch("one of \(groups.count) groups, not \(group)") }
                run = (count, group == 0 ? usual : groups[index])
            }
            self.box = box
            run.count -= 1
            return run.protection
        }

        func finish() throws(DecryptionError) {
            guard let box, run.count > 0 || leftRunCount > 0 else { return }
            throw box.mismatch("at most as many samples as the boxes trun beside it")
        }
    }

    /// The IVs and subsamples of a fragment, from `senc`. Source: ISO/IEC 23001-7:2016, section 7.2.
    struct SampleProtection {
        private let fragment: FilmBox
        private let hasOtherPlace: Bool
        private var groups: SampleGroups
        private var box: FilmBox?
        private var leftCount = 0
        private var hasSubsamples = false

        init(_ fragment: FilmBox, _ groups: SampleGroups) throws(DecryptionError) {
            (self.fragment, self.groups) = (fragment, groups)
            hasOtherPlace = try fragment.box("saiz") != nil
            guard var box = try fragment.box("senc") else { return }
            let (version, flags) = try box.versionAndFlags()
            guard version == 0, flags & ~0x2 == 0 else {
                throw box.unsupported("version \(version) with flags \(flags)")
            }
            hasSubsamples = flags & 0x2 != 0
            leftCount = Int(try box.number(UInt32.self))
            self.box = box
        }

        /// Moves on to the next sample.
        ///
        /// - Returns: Its protection and its IV; `nil` for a clear sample.
        mutating func next() throws(DecryptionError) -> (Protection, Block)? {
            let protection = try groups.next()
            guard var box else {
                guard let protection else { return nil }
                // If samples are protected as a whole with one IV, no box is needed.
                guard let iv = protection.iv, !protection.scheme.hasPattern, !hasOtherPlace else {
                    throw fragment.unsupported("protected samples without a box senc")
                }
                return (protection, iv)
            }
            guard leftCount > 0 else { throw box.mismatch("as many samples as the boxes trun beside it") }
            leftCount -= 1
            defer { self.box = box }
            guard let protection else {
                guard hasSubsamples else { return nil }
                for _ in 0..<(try box.number(UInt16.self)) {
                    try box.skip(2)
                    guard try box.number(UInt32.self) == 0 else {
                        throw box.mismatch("no protected bytes of a clear sample")
                    }
                }
                return nil
            }
            if let iv = protection.iv { return (protection, iv) }
            let bytes = try box.array(protection.ivByteCount)
            return (protection, try Block(bytes + [UInt8](repeating: 0, count: Block.byteCount - bytes.count)))
        }

        /// Adds the subsamples of the current sample, and ends it.
        mutating func finishSample(of builder: inout ProtectedExtents.Builder) throws(DecryptionError) {
            guard hasSubsamples, var box else { return try builder.finishSample() }
            let count = try box.number(UInt16.self)
            guard count > 0 else { throw box.unsupported("a sample of no subsamples") }
            for _ in 0..<count {
                let (clear, protected) = (try box.number(UInt16.self), try box.number(UInt32.self))
                do throws(DecryptionError) {
                    try builder.add(clearByteCount: UInt64(clear), protectedByteCount: UInt64(protected))
                } catch .invalidHeader(let expected) {
                    throw box.mismatch(expected)
                }
            }
            self.box = box
            do throws(DecryptionError) {
                try builder.finishSample()
            } catch .invalidHeader(let expected) {
                throw box.mismatch(expected)
            }
        }

        func finish() throws(DecryptionError) {
            try groups.finish()
            guard let box else { return }
            guard leftCount == 0, box.leftByteCount == 0 else {
                throw box.mismatch("as many samples as the boxes trun beside it, and nothing behind them")
            }
        }
    }
}
