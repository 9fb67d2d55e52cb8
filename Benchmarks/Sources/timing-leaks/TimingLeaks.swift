import CCycleCount
import Glibc

/// `timing-leaks [MEASUREMENTS] [PART-OF-A-NAME]`: whether the time of an operation depends on its input.
///
/// Inputs are either one and the same, or random, in an order that is random as well; all of a batch are made before any of
/// them is timed. 10 million measurements of each operation by default. Ends with 1 if the time of an operation depends on
/// its input, and with 2 if that of a control was not found to.
@main
enum TimingLeaks {
    private static let batchCount = 20_000

    static func main() throws {
        let arguments = CommandLine.arguments
        guard let count = arguments.count > 1 ? Int(arguments[1]) : 10_000_000, count >= 10 * batchCount else {
            print("expected a number of measurements, at least \(10 * batchCount)")
            exit(64)
        }
        let operations = try Operation.all().filter { arguments.count < 3 || $0.name.contains(arguments[2]) }
        var status: Int32 = 0
        for operation in operations {
            let strongest = try measure(operation, count: count)
            let differs = strongest.t.magnitude >= LeakTest.threshold
            if operation.isControl, !differs { status = 2 }
            if !operation.isControl, differs, status == 0 { status = 1 }
            let t = (strongest.t.magnitude * 100).rounded() / 100
            print("\(operation.name): |t| \(t) (times: \(strongest.name)), \(differs ? "depends" : "no difference")")
            fflush(nil)
        }
        exit(status)
    }

    private static func measure(_ operation: Operation, count: Int) throws -> (t: Double, name: String) {
        let byteCount = operation.inputByteCount
        let inputs = UnsafeMutableRawBufferPointer.allocate(byteCount: batchCount * byteCount, alignment: 64)
        let random = UnsafeMutableRawBufferPointer.allocate(byteCount: batchCount * byteCount, alignment: 64)
        let fixed = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 64)
        defer { for buffer in [inputs, random, fixed] { buffer.deallocate() } }
        fixed.copyBytes(from: operation.fixedInput)
        func part(_ index: Int, of buffer: UnsafeMutableRawBufferPointer) -> UnsafeMutableRawBufferPointer {
            UnsafeMutableRawBufferPointer(rebasing: buffer[index * byteCount..<(index + 1) * byteCount])
        }
        var classes = [Int](repeating: 0, count: batchCount)
        var times = [UInt64](repeating: 0, count: batchCount)
        var generator = SplitMix()
        var test: LeakTest?
        var done = 0
        while done < count {
            var bits: UInt64 = 0
            for index in 0..<batchCount {
                if index & 63 == 0 { bits = generator.next() }
                classes[index] = Int(bits >> UInt64(index & 63) & 1)
            }
            generator.fill(random)
            // Each is written once, and looked at before it is timed, so that no class is nearer to the processor.
            for index in 0..<batchCount {
                let source = classes[index] == 0 ? fixed : part(index, of: random)
                part(index, of: inputs).copyMemory(from: UnsafeRawBufferPointer(source))
            }
            for index in 0..<batchCount {
                let input = UnsafeRawBufferPointer(part(index, of: inputs))
                Sink.keep(input.reduce(0, ^))
                try operation.prepare(input)
                let start = cycle_count()
                try operation.run(input)
                times[index] = cycle_count() &- start
            }
            if test == nil {
                test = LeakTest(calibratingOn: times)
                continue
            }
            for index in 0..<batchCount { test?.add(times[index], ofClass: classes[index]) }
            done += batchCount
        }
        return test?.strongest ?? (0, "none")
    }
}

/// Random numbers that are quickly made.
///
/// - Source: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators" (OOPSLA 2014), figure 17.
private struct SplitMix {
    private var state = UInt64.random(in: .min ... .max)

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }

    /// Fills memory, whose length is a multiple of eight.
    mutating func fill(_ bytes: UnsafeMutableRawBufferPointer) {
        for offset in stride(from: 0, to: bytes.count, by: 8) {
            bytes.storeBytes(of: next(), toByteOffset: offset, as: UInt64.self)
        }
    }
}
