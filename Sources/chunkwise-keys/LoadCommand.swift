import ArgumentParser
import JSON
import KeyLoad
import Keys

/// Simulates the clients of a live stream when its key changes.
struct LoadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "load", abstract: "Simulate what a live stream's clients ask of its key server.")

    @Option(help: "How many clients there are.")
    var clients = 1_000_000

    @Option(help: "When they ask: onDemand, preloaded or dispersed; all three, unless one is named.")
    var way: KeyLoadPlan.Way?

    @Option(help: "Over how many seconds dispersed requests are spread.")
    var window = 60

    @Option(help: "How many seconds before the key appears it is announced.")
    var announced = 90

    @Option(help: "Over how many seconds the refreshes of the clients' playlists are spread.")
    var refresh = 6

    @Option(help: "How many requests the server answers in a second.")
    var capacity = 200_000

    @Option(help: "How many milliseconds an answer takes if nobody else asks.")
    var roundTrip = 50

    @Option(help: "What all chance follows from.")
    var seed: UInt64 = 1

    @Option(help: "How the result is printed: text or json.")
    var format = OutputFormat.text

    func run() throws {
        let ways = way.map { [$0] } ?? KeyLoadPlan.Way.allCases
        var cells: [JSONValue] = []
        for way in ways {
            let result = KeyLoadSimulation.run(try plan(way))
            let late = result.lateness(tenthsOfPercent: 999)
            switch format {
            case .text:
                print(
                    "\(way.rawValue): peak \(result.peakPerSecond) requests/s, \(result.requestCount) requests, "
                        + "\(result.lateCount) clients late, \(result.gaveUpCount) gave up, 99.9th percentile "
                        + (late.map { "\($0 / 1_000_000) ms late" } ?? "without a key"))
            case .json:
                cells.append([
                    "way": .string(way.rawValue), "peakPerSecond": JSONValue(count: result.peakPerSecond),
                    "requests": JSONValue(count: result.requestCount), "retries": JSONValue(count: result.retryCount),
                    "late": JSONValue(count: result.lateCount), "gaveUp": JSONValue(count: result.gaveUpCount),
                    "p999Nanoseconds": JSONValue(late),
                ])
            }
        }
        guard format == .json else { return }
        let result: JSONValue = [
            "clients": JSONValue(count: clients), "windowSeconds": JSONValue(count: window), "seed": .integer(seed),
            "cells": .array(cells),
        ]
        print(result.text)
    }

    private func plan(_ way: KeyLoadPlan.Way) throws -> KeyLoadPlan {
        do {
            return try KeyLoadPlan(
                clientCount: clients, way: way, policy: KeyPolicy(dispersalWindow: .seconds(window)),
                announcedBefore: .seconds(announced), refreshInterval: .seconds(refresh),
                capacityPerSecond: capacity, roundTrip: .milliseconds(roundTrip), seed: seed)
        } catch {
            throw KeysFailure(.usage, "\(error)")
        }
    }
}

extension KeyLoadPlan.Way: ExpressibleByArgument {}
