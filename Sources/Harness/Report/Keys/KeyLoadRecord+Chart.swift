import Results

extension KeyLoadRecord {
    /// Simulated requests over time, or `nil` if there are none.
    var chart: TimeChart? {
        chart(
            name: "key-load", title: "Requests a second, \(KeyText.clients(clientCount))",
            description:
                "Requests in each second from a key's announcement on, simulated. Peaks in the table are of any second, "
                + "wherever it begins.", cells: cells
        ) { ($0.simulated, nil) }
    }

    /// Requests over time as they were run, with the simulated ones, or `nil` if nothing was run.
    var loopbackChart: TimeChart? {
        chart(
            name: "key-load-loopback",
            title: "Requests a second on loopback, \(KeyText.clients(clientCount))",
            description: "Requests in each second of the plan from a key's announcement on: a line for what was run, "
                + "dashes for its simulation.", cells: cells.filter { $0.run != nil }
        ) { ($0.run ?? $0.simulated, $0.simulated) }
    }

    private func chart(
        name: String, title: String, description: String, cells: [Cell], figures: (Cell) -> (Figures, Figures?)
    ) -> TimeChart? {
        guard !cells.isEmpty else { return nil }
        let ways = Way.allCases.compactMap { way in cells.first { $0.way == way } }
        let lines = ways.map { cell in
            let (shown, beside) = figures(cell)
            let peak = SignificantDigits.grouped(shown.requestsPerSecond.max() ?? 0)
            return TimeChart.Line(
                name: KeyText.name(cell.way), style: KeyText.style(cell.way), steps: Self.steps(shown),
                beside: beside.map(Self.steps), label: "\(peak)/s",
                words: "\(KeyText.name(cell.way)): up to \(peak) requests in a second")
        }
        var chart = TimeChart(
            name: name, title: title, description: description, lines: lines, besideName: "simulated",
            moment: (Double(announcedSeconds), "the key appears"),
            horizontalLabel: "time since the key was announced")
        // A level far above the lines would press them flat.
        let greatest = chart.greatest
        let level = Double(capacityPerSecond)
        if level <= 1.5 * greatest {
            chart.levels = [("what the server can answer", level)]
        } else {
            chart.description +=
                " The server can answer \(SignificantDigits.grouped(capacityPerSecond)) a second, "
                + "far more than what is drawn."
        }
        if lines.contains(where: { $0.steps.seconds > 1 }) {
            chart.description += " A step is several seconds long and as high as the busiest of them."
        }
        return chart
    }

    private static func steps(_ figures: Figures) -> TimeChart.Steps {
        TimeChart.Steps(seconds: Double(figures.secondsPerPoint), values: figures.requestsPerSecond.map { Double($0) })
    }
}
