import Foundation
import Persist
import PersistOnlineMigrations
import PersistPostgreSQL
import PersistTestSupport
import PersistTools
import Testing

/// One rollout: a server with a standby, a process for each version, and the one that migrates.
final class Rollout {
  private enum Step: String { case expand, backfill, contract, abort }

  private let pair: ServerPair
  private let folder: URL
  private let seed: UInt64
  /// Whether steps are killed at every flight.
  private let isThorough: Bool
  private var numbers: SeededRandom
  private var programs: [RolloutShop.Version: Process] = [:]
  private let sql: RolloutSQL?
  private let watch: RolloutWatch
  private let migration: OnlineMigration
  private var phases: [(name: String, begun: Date)] = []
  private var pauses = 0
  private var kills = 0
  /// The number of the step during which the server fails over.
  private let failoverStep: Int
  private var steps = 0

  /// - Parameter failoverStep: The number of the step during which the server fails over; nil for any.
  init(seed: UInt64, isThorough: Bool, failoverStep: Int? = nil) throws {
    (self.seed, self.isThorough) = (seed, isThorough)
    numbers = SeededRandom(seed: seed)
    let anyStep = Int.random(in: 1...9, using: &numbers)
    self.failoverStep = failoverStep ?? anyStep
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("rollout-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    pair = try ServerPair()
    migration = OnlineMigration(storeAt: pair.url, options: RolloutShop.options)
    sql = RolloutSQL(at: pair, folder: folder, seed: seed)
    watch = RolloutWatch(of: pair)
  }

  func end() {
    for process in programs.values where process.isRunning { kill(process.processIdentifier, SIGKILL) }
    sql?.end()
    watch.end()
    pair.stop()
    try? FileManager.default.removeItem(at: folder)
  }

  // MARK: The course

  func run() throws {
    begin("before")
    try createStore()
    for version in RolloutShop.Version.allCases { try start(version) }
    sql?.start()
    try work(.first)
    try perform(.expand, to: .second)
    try perform(.backfill, to: .second)
    try work(.first, .second)
    try compare(.first, .second)
    try perform(.abort, to: .second)
    try work(.first)
    try compare(.first)
    try replace(.first, by: .second)
    try replace(.second, by: .third)
    try stop()
    var problems: [StoreProblem] = []
    try StoreLocation.postgreSQL(pair.text).check { problems.append($0) }
    #expect(problems.isEmpty, "seed \(seed): \(problems)")
    #expect(steps == 9, "seed \(seed)")
  }

  /// Takes the store from one version to the next.
  private func replace(_ old: RolloutShop.Version, by new: RolloutShop.Version) throws {
    try perform(.expand, to: new)
    if let third = new.next {
      let error = #expect(throws: PersistenceError.self) { try migration.expand(to: RolloutShop.model(third)) }
      #expect(error?.code == .migrationFailed, "\(error as Any)")
    }
    try perform(.backfill, to: new)
    try work(old, new)
    try compare(old, new)
    let error = #expect(throws: PersistenceError.self) { try migration.contract() }
    #expect(error?.code == .storeBusy, "\(error as Any)")
    try stop(old)
    try perform(.contract, to: new)
    // It is refused from now on.
    try start(old)
    try work(new)
    try compare(new)
  }

  private func begin(_ phase: String) { phases.append((phase, Date())) }

  private func createStore() throws {
    let coordinator = try RolloutShop.open(pair.url, .first)
    let context = ManagedObjectContext(coordinator)
    for label in RolloutShop.categories { ManagedObject(entity: "Category", context: context)["label"] = label }
    for label in RolloutShop.tags { ManagedObject(entity: "Tag", context: context)["label"] = label }
    for label in RolloutShop.counters { ManagedObject(entity: "Counter", context: context)["label"] = label }
    try context.save()
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  // MARK: Programs

  private func file(_ name: String) -> URL { folder.appendingPathComponent(name) }
  private func name(_ version: RolloutShop.Version) -> String { "\(version)" }
  /// The address with which the server shows a program's sessions under its name.
  private func address(_ program: String) -> String { "\(pair.text)&application_name=\(program)" }

  private func start(_ version: RolloutShop.Version) throws {
    try? FileManager.default.removeItem(at: file("stop \(name(version))"))
    let process = TestRun.newProcess()
    process.executableURL = try BuiltProgram.url("OnlineRunner")
    process.arguments = [
      address(name(version)), "write", "\(version.rawValue)", name(version), "\(numbers.next())", folder.path,
    ]
    try process.run()
    programs[version] = process
  }

  private func stop(_ version: RolloutShop.Version) throws {
    guard let process = programs[version] else { return }
    try Data().write(to: file("stop \(name(version))"))
    try process.waitUntilExit(within: .seconds(300))
    #expect(process.terminationStatus == 0, "seed \(seed): program \(version)")
    programs[version] = nil
  }

  private func stop() throws {
    sql?.end()
    for version in RolloutShop.Version.allCases { try stop(version) }
  }

  private func killOne() throws {
    guard let version = programs.keys.sorted(by: { $0.rawValue < $1.rawValue }).randomElement(using: &numbers),
      let process = programs[version]
    else { return }
    // One that has ended has failed: only this test kills.
    try #require(process.isRunning, "seed \(seed): program \(version) ended with \(process.terminationStatus).")
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    kills += 1
    try start(version)
  }

  private func saves(_ version: RolloutShop.Version) throws -> Int {
    var record = RolloutRecord()
    try add(version, to: &record)
    return record.saves
  }

  /// Adds a program's journal, which it begins when it has opened the store: if it isn't killed before.
  private func add(_ version: RolloutShop.Version, to record: inout RolloutRecord) throws {
    let journal = file(name(version))
    if FileManager.default.fileExists(atPath: journal.path) { try record.add(journal) }
  }

  /// Lets programs save, kills them in between, and waits until each of those that are served has saved again.
  private func work(_ served: RolloutShop.Version...) throws {
    begin("serving \(served.map { "\($0)" }.joined(separator: " and "))")
    for _ in 0..<(isThorough ? 8 : 1) {
      Thread.sleep(forTimeInterval: .random(in: 0.1...0.3, using: &numbers))
      try killOne()
    }
    for version in served {
      let former = try saves(version)
      let deadline = ContinuousClock.now + .seconds(300)
      while try saves(version) < former + (isThorough ? 30 : 8) {
        try #require(programs[version]?.isRunning == true, "seed \(seed): program \(version)")
        try #require(ContinuousClock.now < deadline, "seed \(seed): program \(version) saves nothing.")
        Thread.sleep(forTimeInterval: 0.02)
      }
    }
  }

  // MARK: Migrating

  /// Performs a step with processes that are killed at one flight after the other, until one reaches the end.
  private func perform(_ step: Step, to version: RolloutShop.Version) throws {
    steps += 1
    begin("\(step.rawValue) to \(version)")
    let isFailing = steps == failoverStep
    let failover = isFailing ? DispatchGroup() : nil
    if let failover {
      let (pair, pause) = (pair, Double.random(in: 0.05...0.5, using: &numbers))
      Thread.detachNewThread(entering: failover) {
        Thread.sleep(forTimeInterval: pause)
        do { try pair.failOver() } catch { Issue.record(error) }
      }
    }
    defer { failover?.wait() }
    let (few, more) = (Int.random(in: 0..<12, using: &numbers), Int.random(in: 12..<50, using: &numbers))
    for flight in isThorough ? Array(0..<400) : [few, more] {
      if try isDone(step, isFailing) { return }
      if try run(step, version, killedAt: flight, isFailing) == .killed { kills += 1 }
    }
    while try !isDone(step, isFailing) { _ = try run(step, version, killedAt: nil, isFailing) }
  }

  private func isDone(_ step: Step, _ mayFail: Bool) throws -> Bool {
    var found: OnlineMigration.State?
    while found == nil {
      do { found = try migration.status().state } catch let error as PersistenceError {
        try #require(mayFail, "seed \(seed): \(step): \(error)")
      }
    }
    let state = found ?? .none
    return switch step {
    case .expand: state != .none
    case .backfill: state == .serving
    case .contract, .abort: state == .none
    }
  }

  private enum Ending { case done, killed, failed }

  private func run(
    _ step: Step, _ version: RolloutShop.Version, killedAt flight: Int?, _ mayFail: Bool
  ) throws -> Ending {
    let process = TestRun.newProcess()
    process.executableURL = try BuiltProgram.url("OnlineRunner")
    process.arguments = [
      address(step.rawValue), step.rawValue, "\(version.rawValue)", "\(flight ?? Int.max)",
      Bool.random(using: &numbers) ? "after" : "before",
    ]
    let errors = Pipe()
    process.standardError = errors
    try process.run()
    let message = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    if process.terminationReason == .uncaughtSignal { return .killed }
    if process.terminationStatus == 0 { return .done }
    // The server has gone; whether the step was made is asked next.
    try #require(mayFail, "seed \(seed): \(step) to \(version): \(message)")
    return .failed
  }

  // MARK: Comparing

  /// Pauses all programs, and compares what versions see with each other and with the journals.
  private func compare(_ served: RolloutShop.Version...) throws {
    begin("comparing")
    pauses += 1
    try Data("\(pauses)".utf8).write(to: file("pause"), options: .atomic)
    sql?.pause()
    defer {
      try? FileManager.default.removeItem(at: file("pause"))
      sql?.resume()
    }
    for (version, process) in programs {
      let deadline = ContinuousClock.now + .seconds(300)
      while (try? String(contentsOf: file("paused \(name(version))"), encoding: .utf8)) != "\(pauses)" {
        try #require(process.isRunning, "seed \(seed): program \(version) ended with \(process.terminationStatus).")
        try #require(ContinuousClock.now < deadline, "seed \(seed): program \(version) doesn't pause.")
        Thread.sleep(forTimeInterval: 0.01)
      }
    }
    let record = try record()
    var dumps: [[String: [String]]] = []
    for version in served {
      let coordinator = try RolloutShop.open(pair.url, version)
      defer { for store in coordinator.persistentStores { try? coordinator.remove(store) } }
      let context = ManagedObjectContext(coordinator)
      var found: [String: [String]] = [:]
      for entry in try context.fetch(FetchRequest("Entry")) {
        found[entry["code"] as? String ?? "nil", default: []].append(RolloutShop.text(of: entry, version))
      }
      var sums: [String: Int] = [:]
      for counter in try context.fetch(FetchRequest("Counter")) {
        let sum = counter[RolloutShop.name(.total, in: version)] as? Int
        sums[counter["label"] as? String ?? "nil", default: 0] += sum ?? 0
      }
      let problems = record.problems(found, sums)
      #expect(problems.isEmpty, "seed \(seed), \(phases.count) phases, version \(version): \(problems.prefix(8))")
      dumps.append(found)
    }
    for dump in dumps.dropFirst() { #expect(dump == dumps[0], "seed \(seed), \(phases.count) phases") }
  }

  private func record() throws -> RolloutRecord {
    var record = RolloutRecord()
    for version in RolloutShop.Version.allCases { try add(version, to: &record) }
    if let sql { try record.add(sql.journal) }
    return record
  }

  /// The longest waits of the programs in each phase.
  func waits() throws -> RolloutWaits {
    var waits = RolloutWaits()
    var record = try record()
    let writes = record.writes
    for version in RolloutShop.Version.allCases {
      let reads = file("\(name(version)), reads")
      if FileManager.default.fileExists(atPath: reads.path) { try record.add(reads) }
    }
    (waits.saves, waits.kills, waits.rounds) = (record.saves, kills, 1)
    let starts = phases.map { ($0.name, $0.begun.timeIntervalSince1970) }
    for (index, phase) in phases.dropLast().enumerated() {
      waits.addDuration(phase.name, phases[index + 1].begun.timeIntervalSince(phase.begun))
    }
    let stalls = watch.stalls
    waits.stall = stalls.longest
    func add(_ operations: [(begun: Double, length: Double)], _ isWrite: Bool) {
      for operation in operations {
        let end = operation.begun + operation.length / 1000
        let length = operation.length - 1000 * stalls.seconds(from: operation.begun, to: end)
        let phase = starts.last { $0.1 <= operation.begun }?.0 ?? "before"
        // A failover interrupts everything.
        let index = starts.indices.last { starts[$0].1 <= end } ?? 0
        let isFailing = [starts.lastIndex { $0.1 <= operation.begun } ?? 0, index].contains(phaseOfFailover ?? -1)
        waits.add(isFailing ? "\(phase), with the failover" : phase, length, isWrite)
        if length >= 2000 {
          waits.explanations.append(
            "seed \(seed), \(phase)\(isFailing ? ", with the failover" : ""), a \(isWrite ? "write" : "read") of "
              + "\(Int(length)) ms, since \(Date(timeIntervalSince1970: operation.begun)):\n    "
              + watch.observations(from: operation.begun, to: end).joined(separator: "\n    "))
        }
      }
    }
    add(writes, true)
    add(record.reads, false)
    return waits
  }

  /// The place of the step's phase during which the server fails over.
  private var phaseOfFailover: Int? {
    let steps = phases.indices.filter { index in
      ["expand", "backfill", "contract", "abort"].contains { phases[index].name.hasPrefix($0) }
    }
    return failoverStep <= steps.count ? steps[failoverStep - 1] : nil
  }
}

extension Thread {
  /// Runs `body` on a thread of its own, which the group waits for.
  static func detachNewThread(entering group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
    group.enter()
    detachNewThread {
      body()
      group.leave()
    }
  }
}
