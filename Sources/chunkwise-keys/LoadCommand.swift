import ArgumentParser
import JSON
import KeyLoad
import Keys

/// Simulates the clients of a live stream when its key changes.
struct LoadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "load", abstract: "Simulate what a live stream's clients ask of its key server.")

    @Option(help: "How many clients there are. (default: 1000000; 2000 with --loopback)")
    var clients: Int?

    @Option(help: "When they ask: onDemand, preloaded or dispersed; all three, unless one is named.")
    var way: KeyLoadPlan.Way?

    @Option(help: "Over how many seconds dispersed requests are spread.")
    var window = 60

    @Option(help: "How many seconds before the key appears it is announced.")
    var announced = 90

    @Option(help: "Over how many seconds the refreshes of the clients' playlists are spread.")
    var refresh = 6

    @Option(help: "How many requests the server answers in a second. (default: 200000; 200 with --loopback)")
    var capacity: Int?

    @Option(help: "How many milliseconds an answer takes if nobody else asks.")
    var roundTrip = 50

    @Option(help: "What all chance follows from.")
    var seed: UInt64 = 1

    @Flag(help: "Run it as well, over connections on loopback, and compare.")
    var loopback = false

    @Option(help: "How many seconds of the plan pass in one of the run's.")
    var speed = 4

    @Option(help: "How the result is printed: text or json.")
    var format = OutputFormat.text

    func run() throws {
        let ways = way.map { [$0] } ?? KeyLoadPlan.Way.allCases
        guard !loopback else { return try compare(ways.map(plan)) }
        var cells: [JSONValue] = []
        for way in ways {
            let result = KeyLoadSimulation.run(try plan(way))
            switch format {
            case .text: print("\(way.rawValue): \(result.summary)")
            case .json:
                guard case .object(var members) = result.json else { continue }
                members["way"] = .string(way.rawValue)
                cells.append(.object(members))
            }
        }
        guard format == .json else { return }
        let result: JSONValue = [
            "clients": JSONValue(count: clientCount), "windowSeconds": JSONValue(count: window), "seed": .integer(seed),
            "cells": .array(cells),
        ]
        print(result.text)
    }

    /// How many clients there are.
    var clientCount: Int { clients ?? (loopback ? 2000 : 1_000_000) }

    private func plan(_ way: KeyLoadPlan.Way) throws -> KeyLoadPlan {
        do {
            return try KeyLoadPlan(
                clientCount: clientCount, way: way, policy: KeyPolicy(dispersalWindow: .seconds(window)),
                announcedBefore: .seconds(announced), refreshInterval: .seconds(refresh),
                capacityPerSecond: capacity ?? (loopback ? 200 : 200_000), roundTrip: .milliseconds(roundTrip),
                seed: seed)
        } catch {
            throw KeysFailure(.usage, "\(error)")
        }
    }
}

extension KeyLoadPlan.Way: ExpressibleByArgument {}
