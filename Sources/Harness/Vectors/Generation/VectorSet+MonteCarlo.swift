internal import ByteSources
internal import RandomAccess

extension VectorSet {
    /// The steps of the published decryption runs of the Monte Carlo test, each an object of a thousand blocks.
    package static func monteCarlo() -> [VectorGroup] {
        MonteCarloSeed.published.filter { $0.direction == .decrypt }.flatMap { seed -> [VectorGroup] in
            do {
                var run = try seed.start()
                var groups: [VectorGroup] = []
                for index in 0..<MonteCarlo.stepCount {
                    let step = try run.step()
                    let firstBlock = try Block(Array(step.inputs.prefix(16)))
                    groups.append(group(step, firstBlock: firstBlock, name: seed.name, count: index))
                }
                return groups
            } catch {
                preconditionFailure("\(seed.name): \(error)")
            }
        }
    }

    private static func group(_ step: MonteCarlo.Step, firstBlock: Block, name: String, count: Int) -> VectorGroup {
        let last = UInt64(step.outputs.count) - 16
        let middle = UInt64(count) * 150 + 3
        return VectorGroup(
            id: "monte-carlo/\(name)/\(count)", source: "NIST CAVP, \(name).rsp, [DECRYPT], COUNT = \(count)",
            flags: [.monteCarlo], strategy: .cbcContinuous(iv: step.iv, padding: .none), key: step.key,
            ciphertext: MemorySource(step.inputs), plaintext: GroupPlaintext(step.outputs),
            rule: .monteCarlo(firstBlock: firstBlock),
            patterns: [
                .single(RangeRead(offset: last, count: 16, of: last + 16, flags: [.monteCarlo, .knownAnswer])),
                .product(
                    offsets: [0...0, middle...middle, last - 1...last + 1], counts: [1, 33], flags: [.monteCarlo]),
                .product(offsets: [0...0], toEnd: [0], flags: [.monteCarlo]),
            ])
    }
}
