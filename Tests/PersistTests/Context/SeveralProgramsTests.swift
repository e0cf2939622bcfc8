import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Several processes change one graph of objects, and others read it. `PERSIST_LONG_TESTS` makes it 200 kills.
@Suite("Several programs over one store", .serialized, .onOwnThread)
struct SeveralProgramsTests {
  @Test(
    "Five writers and two readers that are killed and started again lose no save, and no reader sees half of one",
    .law("graph-processes", short: 1, long: 1))
  func killed() {
    forEachSeed { seed in try withTemporaryFolder { folder in try KilledPrograms(seed, in: folder).run() } }
  }
}

/// The processes that share a ledger in one folder.
private final class KilledPrograms {
  private static let writers = 5
  private static let readers = 2

  private let store: URL
  private let stop: URL
  private let journals: [URL]
  private var random: SeededRandom
  private var processes: [Process] = []

  init(_ seed: UInt64, in folder: URL) {
    random = SeededRandom(seed: seed)
    store = folder.appendingPathComponent("store.sqlite")
    stop = folder.appendingPathComponent("stop")
    journals = (0..<Self.writers).map { folder.appendingPathComponent("journal \($0)") }
  }

  func run() throws {
    try createStore()
    defer { for process in processes where process.isRunning { kill(process.processIdentifier, SIGKILL) } }
    for index in 0..<Self.writers + Self.readers { processes.append(try start(index)) }
    let kills = TestLength.isLong ? 200 : 8
    let progress = LongLoop("graph-processes", of: kills)
    for _ in 0..<kills {
      Thread.sleep(forTimeInterval: .random(in: 0.05..<0.5, using: &random))
      let index = Int.random(in: 0..<processes.count, using: &random)
      // One that has ended has failed: only this test kills.
      try #require(processes[index].isRunning, "Program \(index) ended with \(processes[index].terminationStatus).")
      kill(processes[index].processIdentifier, SIGKILL)
      processes[index].waitUntilExit()
      processes[index] = try start(index)
      progress.advance()
    }
    try Data().write(to: stop)
    for (index, process) in processes.enumerated() {
      try process.waitUntilExit(within: .seconds(300))
      #expect(process.terminationStatus == 0, "Program \(index)")
    }
    try expectWhole(kills)
  }

  /// Created here: a program that is killed while it creates a store leaves none.
  private func createStore() throws {
    let coordinator = try SharedLedger.open(store)
    let context = ManagedObjectContext(coordinator)
    for index in 0..<Self.writers {
      ManagedObject(entity: "Writer", context: context)["name"] = "writer \(index)"
      try Data().write(to: journals[index])
    }
    for _ in 0..<4 { _ = ManagedObject(entity: "Owner", context: context) }
    try context.save()
    for open in coordinator.persistentStores { try coordinator.remove(open) }
  }

  private func start(_ index: Int) throws -> Process {
    let process = TestRun.newProcess()
    process.executableURL = try BuiltProgram.url("LedgerRunner")
    let seed = "\(UInt64.random(in: 0...UInt64.max, using: &random))"
    process.arguments = index < Self.writers
      ? [store.path, "write", "writer \(index)", seed, journals[index].path, stop.path]
      : [store.path, "read", stop.path]
    try process.run()
    return process
  }

  private func expectWhole(_ kills: Int) throws {
    let coordinator = try SharedLedger.open(store)
    let context = ManagedObjectContext(coordinator)
    #expect(try SharedLedger.problems(in: context) == [])
    #expect(try SharedLedger.receiptProblems(in: context) == [])
    #expect(try SharedLedger.photoProblems(in: context) == [])
    var saves = 0
    for (index, journal) in journals.enumerated() {
      let found = try context.fetch(FetchRequest("Writer", where: "name == %@", "writer \(index)"))
      let stored = try #require(found.first?["serial"] as? Int)
      // A writer that wasn't killed has noted its last save.
      #expect(try LedgerWriter.noted(in: journal) == stored)
      saves += stored
    }
    let accounts = try context.count(for: FetchRequest("Account"))
    for open in coordinator.persistentStores { try coordinator.remove(open) }
    var problems: [String] = []
    try checkStore(at: store) { problem in
      // A program that is killed between writing a large value and its row leaves the value's file.
      if problem.kind != .orphanFile { problems.append("\(problem)") }
    }
    #expect(problems == [])
    print("\(saves) saves, \(accounts) accounts, \(kills) kills")
  }
}
