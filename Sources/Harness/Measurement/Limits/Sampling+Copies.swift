import Results

extension Sampling {
    /// Copies within the cache of each thread's CPU. The corresponding C function is `memmove`.
    func cacheCopy(byteCount: Int) -> BufferRate {
        let sources = (0..<team.threadCount).map { _ in Buffer(byteCount: byteCount) }
        let targets = (0..<team.threadCount).map { _ in Buffer(byteCount: byteCount) }
        let rate = rate(byteCount: byteCount * team.threadCount) { index in
            targets[index].bytes.copyMemory(from: UnsafeRawBufferPointer(sources[index].bytes))
        }
        return BufferRate(bufferByteCount: UInt64(byteCount), rate: rate)
    }

    /// Copies from memory to memory, each thread its share. The corresponding C function is `memmove`.
    func memoryCopy(from source: Buffer, to target: Buffer) -> BufferRate {
        let count = team.threadCount
        let copied = share(of: source.bytes.count, 0, count).count * count
        let rate = rate(byteCount: copied) { index in
            target.slice(index, of: count).copyMemory(from: UnsafeRawBufferPointer(source.slice(index, of: count)))
        }
        return BufferRate(bufferByteCount: UInt64(source.bytes.count), rate: rate)
    }

    /// Copies from memory into a window of each thread, window after window.
    func memoryRead(from source: Buffer, windowByteCount: Int) -> BufferRate {
        let count = team.threadCount
        let windows = (0..<count).map { _ in Buffer(byteCount: windowByteCount) }
        let steps = share(of: source.bytes.count, 0, count).count / windowByteCount
        let rate = rate(byteCount: steps * windowByteCount * count) { index in
            let slice = source.slice(index, of: count)
            let window = windows[index].bytes
            for step in 0..<steps {
                let start = step * windowByteCount
                window.copyMemory(from: UnsafeRawBufferPointer(rebasing: slice[start..<start + windowByteCount]))
            }
        }
        return BufferRate(bufferByteCount: UInt64(windowByteCount), rate: rate)
    }
}
