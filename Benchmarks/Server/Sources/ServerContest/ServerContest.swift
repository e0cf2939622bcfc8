import ArgumentParser
import Foundation

/// Compares the answers of a server over Persist and of the same over GRDB, and then their speed.
@main
struct ServerContest: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measures a server over Persist beside the same server over GRDB, by wrk.")

  @Option(help: "How often each load is measured.")
  var rounds = 3

  @Option(help: "How long each measurement takes.")
  var seconds = 5

  @Option(help: "SQLite's pragma synchronous.")
  var synchronous = "NORMAL"

  @Option(parsing: .upToNextOption, help: "The loads to measure, of list, item and mix; all without it.")
  var only: [String] = []

  @Option(help: "The script for wrk.", transform: { URL(fileURLWithPath: $0) })
  var script = URL(fileURLWithPath: "load.lua")

  @Option(help: "Where to write the results as a page to read.")
  var page: String?

  @Option(help: "What the page is to say of versions and circumstances; may be given several times.")
  var remark: [String] = []

  func run() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("server-contest-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let template = folder.appendingPathComponent("Template.sqlite")
    try ServerProcess.fill(template)

    let compared = try await withServers(template, "compared") { servers in try await AnswerCheck.run(on: servers) }
    print("\(compared) requests have the same answers.")
    var results: [Load: [Contestant: [Load.Result]]] = [:]
    for round in 0..<rounds {
      try await withServers(template, "\(round)") { servers in
        for load in Load.all where only.isEmpty || only.contains(load.kind.rawValue) {
          for server in round.isMultiple(of: 2) ? servers : servers.reversed() {
            // Before the first measurement, connections are opened and statements prepared.
            _ = try load.run(on: server, seconds: 1, script: script, seed: 1)
            let result = try load.run(on: server, seconds: seconds, script: script, seed: round + 2)
            results[load, default: [:]][server.contestant, default: []].append(result)
            print(
              "\(round) \(load.kind.rawValue) \(load.connections) \(server.contestant.name): "
                + "\(Int(result.requestsPerSecond))/s, median \(result.median) ms, 99 % \(result.percentile99) ms")
          }
        }
      }
    }
    let text = Page(
      results: results, seconds: seconds, rounds: rounds, synchronous: synchronous, comparedAnswers: compared,
      remarks: remark
    ).text
    print(text)
    if let page { try Data(text.utf8).write(to: URL(fileURLWithPath: page)) }
  }

  /// Runs a closure with a server for each contestant, each on a copy of a file.
  private func withServers<Result>(
    _ template: URL, _ name: String, _ body: ([ServerProcess]) async throws -> Result
  ) async throws -> Result {
    var servers: [ServerProcess] = []
    defer { for server in servers { server.stop() } }
    for contestant in Contestant.allCases {
      let file = template.deletingLastPathComponent().appendingPathComponent("\(contestant.rawValue)-\(name).sqlite")
      try FileManager.default.copyItem(at: template, to: file)
      servers.append(try await ServerProcess(contestant, on: file, synchronous: synchronous))
    }
    return try await body(servers)
  }
}
