import Foundation
import Notes
import Persist

/// Tries the server as processes do: load, graceful and hard stops, a slow writer beside it, a backup under load, metrics.
///
/// Ends with status 1 where an acknowledged note is missing, or a route that needs no store waits for one.
@main
struct Trial {
  static func main() async throws {
    let arguments = CommandLine.arguments
    if arguments.count == 4, arguments[1] == "--hold", let seconds = Double(arguments[3]) {
      return try SlowWriter.hold(URL(fileURLWithPath: arguments[2]), for: .seconds(seconds))
    }
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("notes-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    do {
      let trial = Trial(folder: folder)
      try await trial.stops()
      if ProcessInfo.processInfo.environment["NOTES_DATABASE"] == nil {
        try await trial.slowWriter()
      } else {
        print("No slow writer: on a server, only writers of the same notes wait for each other")
      }
      try await trial.backup()
      try await trial.metrics()
      print("Passed: \(await trial.ledger.count) acknowledged notes were there after every stop.")
    } catch {
      print("Failed: \(error)")
      exit(1)
    }
  }

  let folder: URL
  let ledger = Ledger()

  private var store: URL { folder.appendingPathComponent("Notes.sqlite") }

  /// Stops under load, in turns by SIGTERM and SIGKILL.
  private func stops() async throws {
    for signal in [SIGTERM, SIGKILL, SIGTERM, SIGKILL] {
      let server = try await ServerProcess(in: folder)
      let load = startLoad(on: server, writers: 16)
      try await Task.sleep(for: .seconds(2))
      let status = try server.stop(by: signal)
      load.cancel()
      _ = await load.value
      let name = signal == SIGTERM ? "SIGTERM" : "SIGKILL"
      try require(signal == SIGKILL || status == 0, "The server ended with status \(status) after SIGTERM.")
      let again = try await ServerProcess(in: folder)
      let missing = try await ledger.missing(from: again.client)
      try require(missing.isEmpty, "\(missing.count) notes are missing or older after \(name): \(missing.prefix(3))")
      try require(try again.stop(by: SIGTERM) == 0, "The server didn't stop.")
      print("\(name) under load: \(await ledger.count) notes acknowledged so far, all there")
    }
  }

  /// Another process holds the write lock for some seconds, and 64 clients want to write.
  private func slowWriter() async throws {
    let server = try await ServerProcess(in: folder)
    let alone = try await Latencies(of: "health", from: server.client, for: .seconds(2))
    let writer = try SlowWriter.start(at: store, for: .seconds(6))
    let load = startLoad(on: server, writers: 64)
    let beside = try await Latencies(of: "health", from: server.client, for: .seconds(3))
    let reading = try await Latencies(of: "notes?limit=20", from: server.client, for: .seconds(1))
    load.cancel()
    let outcomes = await load.value
    writer.waitUntilExit()
    print("An unrelated route, without a load: \(alone)")
    print("An unrelated route, 64 clients waiting for another process's lock: \(beside)")
    print("A list of notes meanwhile: \(reading)")
    print("Answers to writers after at most \(outcomes.longest): \(outcomes.counts)")
    try require(outcomes.counts[503, default: 0] > 0, "The lock was to outlast the deadline of requests.")
    try require(beside.median < max(.milliseconds(20), alone.median * 5), "The unrelated route waits for the store.")
    try require(outcomes.longest < .seconds(10), "A request took longer than its deadline.")
    try require(try server.stop(by: SIGTERM) == 0, "The server didn't stop.")
  }

  private func backup() async throws {
    let server = try await ServerProcess(in: folder)
    let load = startLoad(on: server, writers: 8)
    try await Task.sleep(for: .milliseconds(500))
    let before = await ledger.acknowledged
    let answer = try await server.client.send("POST", "backups")
    try require(answer.status == 201, "There is no backup: \(answer.status)")
    load.cancel()
    _ = await load.value
    try require(try server.stop(by: SIGTERM) == 0, "The server didn't stop.")
    let name = String(decoding: answer.body, as: UTF8.self)
    let copy = folder.appendingPathComponent("Backups/\(name)")
    let notes = try NoteStore(at: .file(copy))
    for id in before { _ = try await notes.note(id) }
    try notes.close()
    print("A backup under load: it has all \(before.count) notes that were acknowledged before")
  }

  /// Compares the metrics with what was acknowledged, and asks for all that the article's dashboard shows.
  private func metrics() async throws {
    let server = try await ServerProcess(in: folder)
    let before = await ledger.count
    let load = startLoad(on: server, writers: 16)
    try await Task.sleep(for: .seconds(1))
    let isReady = try await server.client.send("GET", "ready").status == 200
    _ = try await server.client.send("GET", "notes?limit=20")
    load.cancel()
    _ = await load.value
    let page = try await MetricsPage(from: server.client)
    let acknowledged = await ledger.count - before
    let saves = page.sum("db_client_operation_duration_seconds_count", ["db_operation_name": "save"])
    let created = page.sum("hb_requests_total", ["http_response_status_code": "201"])
    try require(isReady, "The server isn't ready.")
    try require(acknowledged > 0 && saves >= Double(acknowledged), "\(saves) saves of \(acknowledged) notes.")
    try require(created >= Double(acknowledged), "\(created) answers for \(acknowledged) notes.")
    if let name = page.invalidHistogram() { throw Complaint(text: "The histogram \(name) is invalid.") }
    for name in Self.dashboard where !page.samples.contains(where: { $0.name == name }) {
      throw Complaint(text: "There is no metric \(name).")
    }
    try require(try server.stop(by: SIGTERM) == 0, "The server didn't stop.")
    print("Metrics: \(page.samples.count) samples, \(Int(saves)) saves for \(acknowledged) new notes")
  }

  /// Those that every store has: others need waits, errors, a file or a history.
  private static let dashboard = [
    "hb_requests_total", "http_server_request_duration_seconds_bucket", "http_server_active_requests",
    "db_client_operation_duration_seconds_bucket", "db_client_response_returned_rows_count", "persist_statements_total",
    "db_client_connection_count", "db_client_connection_max", "persist_writers_waiting",
  ]

  private func startLoad(on server: ServerProcess, writers: Int) -> Task<Load.Outcomes, Never> {
    let load = Load(client: server.client, ledger: ledger)
    return Task { await load.run(writers: writers) }
  }

  private func require(_ condition: @autoclosure () throws -> Bool, _ complaint: @autoclosure () -> String) throws {
    if try !condition() { throw Complaint(text: complaint()) }
  }
}

struct Complaint: Error, CustomStringConvertible {
  let text: String
  var description: String { text }
}
