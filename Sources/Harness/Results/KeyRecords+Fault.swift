extension KeyWaitsRecord: KeyRecord {
    /// What cannot be in such a file, or `nil`.
    package var fault: String? {
        guard cells.count <= 1000 else { return "\(cells.count) cells" }
        for (index, cell) in cells.enumerated() {
            let ratio = cell.ratioToLocal
            if cell.samplesNanoseconds.isEmpty { return ".cells[\(index)] has no samples" }
            if !(0..<1e18).contains(cell.medianNanoseconds) { return ".cells[\(index)].medianNanoseconds" }
            if !(0 <= ratio.low && ratio.low <= ratio.estimate && ratio.estimate <= ratio.high && ratio.high < 1e18) {
                return ".cells[\(index)].ratioToLocal is no interval"
            }
        }
        return nil
    }
}

extension KeyLoadRecord: KeyRecord {
    /// What cannot be in such a file, or `nil`.
    package var fault: String? {
        guard cells.count <= 100 else { return "\(cells.count) cells" }
        for (index, cell) in cells.enumerated() {
            for figures in [cell.simulated, cell.run].compactMap({ $0 }) {
                if figures.requestsPerSecond.count > Figures.maxPoints {
                    return ".cells[\(index)] has \(figures.requestsPerSecond.count) points"
                }
                if !(1...86_400).contains(figures.secondsPerPoint) { return ".cells[\(index)].secondsPerPoint" }
            }
            if (cell.run == nil) != (cell.agrees == nil) { return ".cells[\(index)] has half a run" }
        }
        return nil
    }
}
