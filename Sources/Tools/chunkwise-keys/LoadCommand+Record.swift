import KeyTesting
import Results

extension KeyLoadRecord.Figures {
    /// The figures that are kept of a result.
    init(_ result: KeyLoadResult) {
        self.init(
            peakPerSecond: UInt64(clamping: result.peakPerSecond), requestCount: UInt64(clamping: result.requestCount),
            retryCount: UInt64(clamping: result.retryCount), answeredCount: UInt64(clamping: result.answeredCount),
            lateCount: UInt64(clamping: result.lateCount), gaveUpCount: UInt64(clamping: result.gaveUpCount),
            p50Nanoseconds: result.lateness(tenthsOfPercent: 500),
            p99Nanoseconds: result.lateness(tenthsOfPercent: 990),
            p999Nanoseconds: result.lateness(tenthsOfPercent: 999),
            perSecond: result.requestsPerSecond.map { UInt64($0) })
    }
}

extension KeyLoadRecord.Way {
    /// The way of a plan.
    init(_ way: KeyLoadPlan.Way) {
        self =
            switch way {
            case .onDemand: .onDemand
            case .preloaded: .preloaded
            case .dispersed: .dispersed
            }
    }
}
