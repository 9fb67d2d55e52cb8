import Foundation
import Results
import Statistics

extension KeyWaitMeasurement.Cell {
    /// The cell beside the local one of the same rounds.
    func record(local cells: [KeyWaitMeasurement.Cell]) -> KeyWaitsRecord.Cell {
        let local = cells.first { $0.way == .local }?.nanoseconds ?? []
        // Ratios of a round are symmetric on the scale of their logarithms.
        let logarithms = zip(nanoseconds, local).map { log(Double($0)) - log(Double($1)) }
        let interval = SignedRankInterval(logarithms, alpha: 0.025)
        return KeyWaitsRecord.Cell(
            way: way, delayMilliseconds: UInt64(delayMilliseconds), requestCount: UInt64(requestCount),
            samplesNanoseconds: nanoseconds, medianNanoseconds: median(of: nanoseconds) ?? 0,
            ratioToLocal: KeyWaitsRecord.Ratio(
                low: exp(interval?.low ?? 0), estimate: exp(interval?.estimate ?? 0), high: exp(interval?.high ?? 0)))
    }
}
