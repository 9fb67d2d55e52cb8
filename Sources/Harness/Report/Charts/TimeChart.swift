/// A chart of the frequency of events over time, on linear axes that begin at 0, with one line per series.
struct TimeChart: Picture {
    var name: String
    var title: String
    var description: String
    var lines: [Line]
    /// The meaning of the dashed lines beside others.
    var besideName = ""
    /// Levels that were not measured, such as the capacity of a server.
    var levels: [(name: String, value: Double)] = []
    /// A moment marked by a line.
    var moment: (seconds: Double, name: String)?
    var horizontalLabel: String

    struct Line: Sendable {
        var name: String
        /// Its colour, dashes and shape.
        var style: SeriesStyle
        var steps: Steps
        /// The steps drawn beside it, dashed.
        var beside: Steps?
        /// The peak, printed beside the line.
        var label: String
        /// The peak in words, shown on hover.
        var words: String
    }

    /// Values that each hold for the same duration.
    struct Steps: Sendable {
        var seconds: Double
        var values: [Double]

        /// The range of values from the first to the last that is not 0; `nil` if all are 0.
        var range: Range<Int>? {
            guard let first = values.firstIndex(where: { $0 > 0 }), let last = values.lastIndex(where: { $0 > 0 })
            else { return nil }
            return first..<last + 1
        }

        var end: Double { Double(range?.upperBound ?? 0) * seconds }
    }

    var greatest: Double {
        (lines.flatMap { $0.steps.values + ($0.beside?.values ?? []) } + levels.map(\.value)).max() ?? 0
    }

    private struct Frame {
        let width: Double
        let left: Double
        let right: Double
        let top: Double
        let bottom: Double
        let x: LinearScale
        let y: LinearScale
        let legend: ChartLegend
    }

    func draw(width: Double, to svg: inout SVGWriter) -> Double {
        let frame = frame(width: width)
        frame.legend.draw(to: &svg)
        drawGrid(in: frame, to: &svg)
        for line in lines { drawArea(line, in: frame, to: &svg) }
        for (number, level) in levels.enumerated() {
            let y = frame.y(level.value)
            svg.line(from: (frame.left, y), to: (frame.right, y), class: "reference r\(number)")
        }
        for line in lines {
            svg.path(points(line.steps, in: frame), class: "line thin \(line.style.lineClass)")
            if let beside = line.beside { svg.path(points(beside, in: frame), class: "reference r1") }
        }
        drawPeaks(in: frame, to: &svg)
        return frame.bottom + 58
    }

    private func frame(width: Double) -> Frame {
        var entries = lines.map { ChartLegend.Entry(text: $0.name, sample: .line($0.style)) }
        if lines.contains(where: { $0.beside != nil }) {
            entries.append(.init(text: besideName, sample: .reference(1)))
        }
        entries += levels.enumerated().map { .init(text: $0.element.name, sample: .reference($0.offset)) }
        let legend = ChartLegend(entries, width: width)
        let top = 92 + Double(legend.rowCount - 1) * ChartLegend.rowHeight
        let bottom = top + (Self.isWide(width) ? 320 : 240)
        let y = LinearScale(greatest: greatest, spacing: 44, from: bottom, to: top, isRound: true)
        let widest = y.lines.map { TextWidth.estimate(Self.text($0)) }.max() ?? 0
        let (left, right) = (widest + 26, width - (Self.isWide(width) ? 34 : 22))
        let last = max(lines.flatMap { [$0.steps.end, $0.beside?.end ?? 0] }.max() ?? 0, moment?.seconds ?? 0)
        let x = LinearScale(greatest: last, spacing: 62, from: left, to: right, isRound: false)
        return Frame(width: width, left: left, right: right, top: top, bottom: bottom, x: x, y: y, legend: legend)
    }

    private static func text(_ value: Double) -> String { SignificantDigits.grouped(UInt64(min(value, 1e18))) }

    private func drawGrid(in frame: Frame, to svg: inout SVGWriter) {
        for value in frame.y.lines {
            let y = frame.y(value)
            svg.line(from: (frame.left, y), to: (frame.right, y), class: "grid")
            svg.label(Self.text(value), x: frame.left - 10, y: y + 4, anchor: "end", class: "tick")
        }
        for value in frame.x.lines {
            let x = frame.x(value)
            svg.line(from: (x, frame.top), to: (x, frame.bottom), class: "faint")
            svg.label("\(Self.text(value)) s", x: x, y: frame.bottom + 20, anchor: "middle", class: "tick")
        }
        let middle = (frame.left + frame.right) / 2
        svg.label(horizontalLabel, x: middle, y: frame.bottom + 42, anchor: "middle", class: "tick")
        guard let moment else { return }
        let x = frame.x(moment.seconds)
        svg.line(from: (x, frame.top - 6), to: (x, frame.bottom), class: "mark")
        let isRight = x > (frame.left + frame.right) / 2
        svg.label(
            moment.name, x: x + (isRight ? 4 : -4), y: frame.top - 12, anchor: isRight ? "end" : "start",
            class: "small")
    }

    private func drawArea(_ line: Line, in frame: Frame, to svg: inout SVGWriter) {
        svg.path(points(line.steps, in: frame), closed: true, class: "band \(line.style.colourClass)")
    }

    /// Draws the shape of each series at its peak, with the peak beside it.
    private func drawPeaks(in frame: Frame, to svg: inout SVGWriter) {
        typealias Peak = (line: Line, x: Double, y: Double)
        let peaks = lines.compactMap { line -> Peak? in
            guard let maximum = line.steps.values.max(), maximum > 0,
                let index = line.steps.values.firstIndex(of: maximum)
            else { return nil }
            return (line, frame.x((Double(index) + 0.5) * line.steps.seconds), frame.y(maximum))
        }
        let middle = (frame.left + frame.right) / 2
        for isRight in [false, true] {
            let half = peaks.filter { ($0.x > middle) == isRight }
            let wanted = half.map { $0.y - 10 }
            for (peak, y) in zip(half, LabelStack.spread(wanted, distance: 17, within: frame.top + 12...frame.bottom)) {
                svg.value(peak.line.words) { $0.mark(peak.line.style, x: peak.x, y: peak.y) }
                svg.label(
                    peak.line.label, x: peak.x + (isRight ? -9 : 9), y: y, anchor: isRight ? "end" : "start",
                    class: "end \(peak.line.style.colourClass)")
            }
        }
    }

    /// Returns the corners of steps, from 0 up to the first and from the last down to 0.
    private func points(_ steps: Steps, in frame: Frame) -> [(x: Double, y: Double)] {
        guard let range = steps.range else { return [] }
        var points = [(x: frame.x(Double(range.lowerBound) * steps.seconds), y: frame.bottom)]
        for index in range {
            let y = frame.y(steps.values[index])
            points.append((frame.x(Double(index) * steps.seconds), y))
            points.append((frame.x(Double(index + 1) * steps.seconds), y))
        }
        return points + [(frame.x(Double(range.upperBound) * steps.seconds), frame.bottom)]
    }
}
