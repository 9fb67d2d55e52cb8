import Results

extension RunRecommendation {
    /// What the choice would be where something that costs other things than the budgets' is not wanted: threads, a mapped
    /// file, another format.
    func choiceAlternatives(_ choice: Candidate) -> [String] {
        guard let cell = cell(choice)?.cell else { return [] }
        var sentences: [String?] = []
        if cell.threads > 1 {
            sentences.append(alternative("With one thread (--threads 1)") { $0.threads == 1 })
        }
        if cell.source == "mmap" {
            sentences.append(alternative("Without mapping the file (--source file)") { $0.source == "file" })
        }
        var strategies: [String] = []
        for other in pool.cells.map(\.cell.strategy) where other != cell.strategy && !strategies.contains(other) {
            strategies.append(other)
        }
        sentences += strategies.map { name in
            alternative("With the format \(name) (--strategy \(name))") { $0.strategy == name }
        }
        return sentences.compactMap { $0 }
    }

    private func alternative(_ condition: String, _ admits: (Cell) -> Bool) -> String? {
        let fitting = advice.fitting.filter { candidate in cell(candidate).map { admits($0.cell) } ?? false }
        return Candidate.choice(of: fitting).map {
            "\(condition) the choice would be \(label($0)), \(ByteCountText.rate($0.bytesPerSecond))."
        }
    }
}
