import LinkedSQLite
import Foundation
import PersistTestSupport
import Synchronization
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Migration with failing files")
struct FailingFileTests {
  @Test(
    "Killed or without power before any write, sync, truncation or deletion: old or new, complete, and usable",
    arguments: MigrationScenario.Way.allCases)
  func crashes(way: MigrationScenario.Way) throws {
    try withTemporaryFolder { folder in
      let law = try DisturbedMigration(way, in: folder)
      let work = try makeFolder(folder, "work")
      let store = try copyStore(law.seed, to: work)
      let recorder = CrashRecorder(work)
      try WatchedFiles.watching(work, { recorder.record($0) }) { try law.scenario.migrate(store) }
      recorder.recordEnd()
      let images = recorder.images
      #expect(images.count > 10)
      print("\(way): \(images.count) pictures")
      // The exchange writes every page of the store: of many similar states, some are enough.
      let step = TestLength.isLong ? 1 : max(1, images.count / 24)
      let chosen = images.enumerated().filter { $0.offset % step == 0 || $0.offset > images.count - 20 }
      try LongLoop.forEach(chosen, "Killed before any write, \(way)") { number, image in
        let place = try makeFolder(folder, "image")
        defer { try? FileManager.default.removeItem(at: place) }
        try image.write(to: place)
        try law.expectWhole(place.appendingPathComponent("Store.sqlite"), "\(number), \(image.moment)")
      }
    }
  }

  /// The kinds of file failures.
  enum Failure: String, CaseIterable {
    case fullDisk, fullDiskOnce, halfWritten, syncFails, readFails, shortRead, noPermission, staysAfterDeletion

    var kinds: Set<FileOperation.Kind> {
      switch self {
      case .fullDisk, .fullDiskOnce, .halfWritten: [.write, .truncate]
      case .syncFails: [.sync]
      case .readFails, .shortRead: [.read]
      case .noPermission: [.open]
      case .staysAfterDeletion: [.delete]
      }
    }

    var verdict: FileVerdict {
      switch self {
      case .fullDisk, .fullDiskOnce: .fail(SQLITE_FULL)
      case .halfWritten: .failHalfway(SQLITE_IOERR | (3 << 8))
      case .syncFails: .fail(SQLITE_IOERR | (4 << 8))
      case .readFails: .fail(SQLITE_IOERR | (1 << 8))
      case .shortRead: .failHalfway(SQLITE_IOERR | (1 << 8))
      case .noPermission: .fail(SQLITE_CANTOPEN)
      case .staysAfterDeletion: .fail(SQLITE_IOERR | (10 << 8))
      }
    }

    var lasts: Bool { self == .fullDisk || self == .noPermission }
  }

  @Test(
    "Whatever fails at the n-th operation, for every n: old or new, complete, and the next attempt works",
    arguments: MigrationScenario.Way.allCases)
  func failures(way: MigrationScenario.Way) throws {
    try withTemporaryFolder { folder in
      // The stores before and after are the same for every kind of failure.
      let law = try DisturbedMigration(way, in: folder)
      let counts = try operations(law, in: folder)
      for failure in Failure.allCases { try failures(failure, counts[failure] ?? 0, law, in: folder) }
    }
  }

  private func failures(_ failure: Failure, _ count: Int, _ law: DisturbedMigration, in folder: URL) throws {
    let way = law.scenario.way
    try LongLoop.forEach(moments(count, way, failure), "\(failure) at any operation, \(way)") { n in
      let work = try makeFolder(folder, "work")
      defer { try? FileManager.default.removeItem(at: work) }
      let store = try copyStore(law.seed, to: work)
      let done = Atomic<Int>(0)
      let kinds = failure.kinds
      do {
        try WatchedFiles.watching(
          work,
          { operation in
            guard kinds.contains(operation.kind) else { return .proceed }
            let number = done.wrappingAdd(1, ordering: .relaxed).newValue
            return number == n || number > n && failure.lasts ? failure.verdict : .proceed
          }
        ) { try law.scenario.migrate(store) }
      } catch is PersistenceError {
        // Its message is the subject of other tests; here it is the state it leaves.
      }
      try law.expectWhole(store, "\(failure) at \(n) of \(count)")
    }
  }

  /// The operations that fail: every one in a long run; otherwise the last ones, where the files are exchanged, and
  /// some of the others, always the same ones.
  private func moments(_ count: Int, _ way: MigrationScenario.Way, _ failure: Failure) -> [Int] {
    let limit = switch (way, failure) {
    // Failed reads by getters must not count as empty values, because many states are read by getters.
    case (.copiedByObject, .readFails): 16
    case (_, .fullDisk): 8
    default: 4
    }
    guard !TestLength.isLong, count > limit else { return Array(1...max(count, 1)) }
    var random = SeededRandom(seed: UInt64(count))
    let sample = (1...count - limit / 2).shuffled(using: &random).prefix(limit / 2)
    return sample.sorted() + Array(count - limit / 2 + 1...count)
  }

  /// The number of operations of an undisturbed migration that each failure may hit.
  private func operations(_ law: DisturbedMigration, in folder: URL) throws -> [Failure: Int] {
    let store = try copyStore(law.seed, to: makeFolder(folder, "count"))
    let done = LockProtected<[FileOperation.Kind: Int]>([:])
    try WatchedFiles.watching(
      store.deletingLastPathComponent(),
      { operation in
        done.withLock { $0[operation.kind, default: 0] += 1 }
        return .proceed
      }
    ) { try law.scenario.migrate(store) }
    let counts = done.withLock { $0 }
    return Dictionary(uniqueKeysWithValues: Failure.allCases.map { failure in
      (failure, failure.kinds.reduce(0) { $0 + counts[$1, default: 0] })
    })
  }

  private func makeFolder(_ folder: URL, _ name: String) throws -> URL {
    let made = folder.appendingPathComponent(name)
    try FileManager.default.createDirectory(at: made, withIntermediateDirectories: true)
    return made
  }
}
