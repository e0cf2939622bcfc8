import Foundation
import Synchronization

/// Two devices that are used, synchronize and are killed at any moment, a server that is killed or stands still, and
/// connections that are cut, with a ledger.
///
/// ```
/// ChoreTrial FOLDER MINUTES
/// ```
///
/// In the end, both devices and the server must have what the ledger says: each acknowledged change, unless it was
/// overruled by a later one, and nothing that nobody has done. Changes without an answer may have been saved.
@main
struct ChoreTrial {
  static func main() async throws {
    guard CommandLine.arguments.count == 3, let minutes = Double(CommandLine.arguments[2]) else {
      print("usage: ChoreTrial FOLDER MINUTES")
      exit(64)
    }
    // Whoever writes to a killed device gets an error.
    signal(SIGPIPE, SIG_IGN)
    let folder = URL(fileURLWithPath: CommandLine.arguments[1], isDirectory: true)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let trial = try await ChoreTrial(folder)
    let relaying = Task { try await trial.proxy.run() }
    let end = ContinuousClock.now + .seconds(minutes * 60)
    await withTaskGroup(of: Void.self) { group in
      for name in Self.devices { group.addTask { await onThread { trial.use(name, until: end) } } }
      group.addTask { await onThread { trial.serve(until: end) } }
      group.addTask { await trial.report(until: end) }
    }
    trial.proxy.becomeReliable()
    let complaints = await onThread { trial.finish() }
    relaying.cancel()
    for complaint in complaints.prefix(20) { say(complaint) }
    say(trial.summary)
    guard complaints.isEmpty else {
      say("Failed: \(complaints.count) contradictions. See \(folder.path).")
      exit(1)
    }
    say("Both devices and the server have what the ledger says: 0 changes are lost.")
  }

  private static let devices = ["one", "two"]
  private let folder: URL
  private let log: FileHandle
  private let serverPort = Int.random(in: 20_000..<30_000)
  private let proxy: CuttingProxy
  private let ledger = Ledger()
  private let counts = Counts()

  private final class Counts: Sendable {
    let deviceKills = Atomic(0)
    let serverKills = Atomic(0)
    let pauses = Atomic(0)
    let failures = Mutex<[String]>([])
  }

  private init(_ folder: URL) async throws {
    self.folder = folder
    let file = folder.appendingPathComponent("log")
    try Data().write(to: file)
    log = try FileHandle(forWritingTo: file)
    try log.seekToEnd()
    proxy = try await CuttingProxy(serverPort: serverPort)
  }

  private func store(_ name: String) -> URL { folder.appendingPathComponent("\(name).sqlite") }

  private var summary: String {
    "\(ledger.acknowledged) changes acknowledged, \(ledger.unanswered) without an answer; "
      + "\(counts.deviceKills.load(ordering: .relaxed)) devices killed, "
      + "\(counts.serverKills.load(ordering: .relaxed)) servers killed, "
      + "\(counts.pauses.load(ordering: .relaxed)) stopped for a while, \(proxy.cuts) connections cut"
  }

  private func report(until end: ContinuousClock.Instant) async {
    while .now < end {
      try? await Task.sleep(for: min(.seconds(10), end - .now))
      say("\(max(0, Int((end - .now) / .seconds(1)))) s left: \(summary)")
    }
  }

  // MARK: Devices

  private func device(_ name: String, _ command: String) throws -> Child {
    try Child(
      "ChoreDevice", [store(name).path, command],
      ["CHORES_MEMBER": "bob", "CHORES_URL": "http://127.0.0.1:\(proxy.port)/sync"], log: log)
  }

  /// Starts a device, uses it and kills it, again and again.
  private func use(_ name: String, until end: ContinuousClock.Instant) {
    while .now < end {
      do {
        let device = try device(name, "live")
        device.end(after: .milliseconds(Int.random(in: 50..<4000)))
        while change(device) { Thread.sleep(forTimeInterval: .random(in: 0..<0.08)) }
        let status = device.wait()
        if status != SIGKILL {
          counts.failures.withLock { $0.append("Device \(name) ended with status \(status) by itself: see the log.") }
        }
        counts.deviceKills.add(1, ordering: .relaxed)
      } catch {
        counts.failures.withLock { $0.append("Device \(name) didn't start: \(error)") }
      }
    }
  }

  /// Lets a device make one change of a chore, whoever has added it.
  ///
  /// - Returns: False if the device has ended.
  private func change(_ device: Child) -> Bool {
    guard let shown = device.ask("list") else { return false }
    let titles = shown.compactMap { $0.split(separator: " ").dropFirst($0.hasPrefix("[ ]") ? 2 : 1).first }
    guard let title = titles.randomElement().map(String.init), let chore = Int(title.prefix { $0 != "." }),
      ledger.contains(chore), Int.random(in: 0..<100) >= (titles.count < 100 ? 40 : 10)
    else {
      let chore = ledger.newChore()
      let first = ledger.newTitle(of: chore)
      return record(.title(first), of: chore, device) { $0.ask("add", "\(chore).\(first)") }
    }
    switch Int.random(in: 0..<5) {
    case 0: return record(.done, of: chore, device) { $0.ask("done", title) }
    case 1: return record(.deletion, of: chore, device) { $0.ask("delete", title) }
    default:
      let next = ledger.newTitle(of: chore)
      return record(.title(next), of: chore, device) { $0.ask("rename", title, "\(chore).\(next)") }
    }
  }

  private func record(
    _ change: Ledger.Change, of chore: Int, _ device: Child, _ perform: (Child) -> [String]?
  ) -> Bool {
    let begin = ContinuousClock.now
    let answer = perform(device)
    // Another device's change may have arrived since the list was read.
    if let last = answer?.last, last.hasPrefix("failed: ") {
      if !last.contains("No chore has the title") { counts.failures.withLock { $0.append("A change \(last)") } }
      return true
    }
    if answer == nil { device.wait() }
    ledger.add(
      Ledger.Entry(change: change, begin: begin, end: .now, isAcknowledged: answer != nil), to: chore)
    return answer != nil
  }

  // MARK: The server

  private func server() throws -> Child {
    try Child(
      "ChoreServer", [],
      ["CHORES_FOLDER": folder.appendingPathComponent("server").path, "CHORES_PORT": "\(serverPort)",
        "LOG_LEVEL": "warning"], log: log)
  }

  /// Starts the server, stops and kills it, again and again.
  private func serve(until end: ContinuousClock.Instant) {
    while .now < end {
      do {
        let server = try server()
        let life = ContinuousClock.now + .milliseconds(Int.random(in: 200..<8000))
        while .now < min(life, end) {
          Thread.sleep(forTimeInterval: .random(in: 0..<0.5))
          guard Int.random(in: 0..<8) == 0 else { continue }
          server.send(SIGSTOP)
          Thread.sleep(forTimeInterval: .random(in: 0..<1.5))
          server.send(SIGCONT)
          counts.pauses.add(1, ordering: .relaxed)
        }
        if !server.isRunning {
          counts.failures.withLock { $0.append("The server ended with status \(server.wait()) by itself.") }
        }
        server.send(SIGKILL)
        server.wait()
        counts.serverKills.add(1, ordering: .relaxed)
        // At times, there is none.
        if Bool.random() { Thread.sleep(forTimeInterval: .random(in: 0..<1)) }
      } catch {
        counts.failures.withLock { $0.append("The server didn't start: \(error)") }
      }
    }
  }

  // MARK: The end

  /// Lets everything arrive, and compares the three stores with the ledger.
  private func finish() -> [String] {
    var complaints = counts.failures.withLock { $0 }
    do {
      let server = try server()
      defer {
        server.send(SIGKILL)
        server.wait()
      }
      var quiet = 0
      for _ in 0..<40 where quiet < 2 {
        let results = try Self.devices.map { name in
          let device = try device(name, "sync")
          let lines = device.rest()
          return device.wait() == 0 ? lines : []
        }
        quiet = results.allSatisfy { $0 == ["sent 0, received 0"] } ? quiet + 1 : 0
      }
      if quiet < 2 { complaints.append("The devices still have something to send or to get: see the log.") }
    } catch {
      complaints.append("\(error)")
    }
    for name in Self.devices + ["server/Chores"] {
      do {
        let device = try device(name, "list")
        let lines = device.rest()
        guard device.wait() == 0 else {
          complaints.append("The store \(name) can't be read: see the log.")
          continue
        }
        complaints += contradictions(lines).map { "\(name): \($0)" }
      } catch {
        complaints.append("\(error)")
      }
    }
    return complaints
  }

  private func contradictions(_ lines: [String]) -> [String] {
    var (shown, complaints): ([Int: Ledger.Shown], [String]) = ([:], [])
    for line in lines {
      guard let match = line.wholeMatch(of: /\[([ x])\] (\d+)\.(\d+) \(bob\)/), let chore = Int(match.2),
        let title = Int(match.3), shown[chore] == nil
      else {
        complaints.append("It has '\(line)', which nobody has added, or twice.")
        continue
      }
      shown[chore] = Ledger.Shown(title: title, isDone: match.1 == "x")
    }
    return complaints + ledger.contradictions(shown)
  }
}

/// Prints a line at once, also into a file.
private func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

/// Runs code that blocks in a thread of its own.
private func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
  await withCheckedContinuation { continuation in
    Thread.detachNewThread { continuation.resume(returning: body()) }
  }
}
