import Foundation
import PersistTestSupport
import Synchronization
import Testing

/// Plain `psql` that writes entries of its own while a store is migrated, with the column names of any version that the
/// table has at the time.
final class RolloutSQL: Sendable {
  private struct State {
    var isEnded = false
    var isPaused = false
    var isIdle = false
  }

  let journal: URL
  private let program: String
  private let address: String
  private let seed: UInt64
  private let state = Mutex(State())
  private let group = DispatchGroup()

  /// - Returns: Nil if there is no `psql`.
  init?(at pair: ServerPair, folder: URL, seed: UInt64) {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    let places = folders.map { $0 + "/psql" }
    guard let program = places.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
      print("There is no psql here.")
      return nil
    }
    self.program = program
    journal = folder.appendingPathComponent("psql")
    address = pair.text + "&target_session_attrs=read-write&connect_timeout=5"
    self.seed = seed
  }

  func start() {
    Thread.detachNewThread(entering: group) { [self] in
      do { try run() } catch { Issue.record(error) }
      state.withLock { $0.isEnded = true }
    }
  }

  func end() {
    state.withLock { $0.isEnded = true }
    group.wait()
  }

  /// Returns when nothing is being written.
  func pause() {
    state.withLock { $0.isPaused = true }
    while state.withLock({ !$0.isIdle && !$0.isEnded }) { Thread.sleep(forTimeInterval: 0.005) }
  }

  func resume() { state.withLock { ($0.isPaused, $0.isIdle) = (false, false) } }

  private func run() throws {
    let journal = try RolloutJournal(journal)
    var numbers = SeededRandom(seed: seed)
    var column = "name"
    var codes: [String] = []
    var last = 0
    while true {
      let (isEnded, isPaused) = state.withLock { state in
        state.isIdle = state.isPaused
        return (state.isEnded, state.isPaused)
      }
      if isEnded { return }
      Thread.sleep(forTimeInterval: 0.01)
      if isPaused { continue }
      let known = Int.random(in: 0..<3, using: &numbers) > 0 ? codes.randomElement(using: &numbers) : nil
      let code = known ?? "psql/\(last + 1)"
      if known == nil { last += 1 }
      let isDeleting = known != nil && codes.count > 20
      let name = "psql \(Int.random(in: 1...999, using: &numbers))"
      let statement = isDeleting
        ? "DELETE FROM entry WHERE code = '\(code)'"
        : known == nil
          ? "INSERT INTO entry (code, \(column)) VALUES ('\(code)', '\(name)')"
          : "UPDATE entry SET \(column) = '\(name)' WHERE code = '\(code)'"
      try journal.begin(code, isDeleting ? nil : RolloutEntry(name: name, count: "0").text)
      let begun = RolloutJournal.Moment()
      let (outcome, message) = try execute(statement)
      try journal.end(outcome, begun: begun)
      switch outcome {
      case .saved: codes = codes.filter { $0 != code } + (isDeleting ? [] : [code])
      case .unknown: codes.removeAll { $0 == code }
      case .failed: break
      }
      // Either name is there while two versions are served.
      if outcome == .failed, message.contains("does not exist") || Bool.random(using: &numbers) {
        column = ["name": "title", "title": "heading", "heading": "name"][column] ?? "name"
      }
    }
  }

  private func execute(_ statement: String) throws -> (RolloutJournal.Outcome, String) {
    let process = TestRun.newProcess()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-c", statement, address]
    process.standardOutput = FileHandle.nullDevice
    let errors = Pipe()
    process.standardError = errors
    try process.run()
    let message = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    if process.terminationStatus == 0 { return (.saved, "") }
    // The server refused the statement, or wasn't there; otherwise the connection was lost meanwhile.
    let isCertain = message.contains("ERROR:") || message.contains("connection to server at")
    return (isCertain ? .failed : .unknown, message)
  }
}
