import Foundation
import PersistTestSupport
import Synchronization
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel
@testable import PersistTools

@Suite("Unfinished copies")
struct UnfinishedCopyTests {
  /// A store with large values, and an empty folder for its copies beside it.
  private func withStore(_ body: (URL, UnfinishedFiles) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let store = folder.appendingPathComponent("Store.sqlite")
      try MigrationScenario(.inPlace).makeStore(at: store, marks: 20)
      try body(store, UnfinishedFiles(store: store))
    }
  }

  private func dump(_ url: URL) throws -> StoreDump {
    try StoreDump(of: MigrationScenario(.inPlace).versions[0].model, at: url)
  }

  @Test("A copy in progress isn't deleted, whenever the cleanup runs")
  func everyMoment() throws {
    try withStore { store, files in
      let before = try dump(store)
      let copy = store.deletingLastPathComponent().appendingPathComponent("Copy.sqlite")
      let looks = LockProtected((count: 0, taken: 0, isLooking: false))
      let judge: WatchedFiles.Judge = { operation in
        guard operation.file.path.contains(UnfinishedCopy.suffix) else { return .proceed }
        // Looking may read files too.
        let isFirst = looks.withLock { state in
          defer { state.isLooking = true }
          return !state.isLooking
        }
        guard isFirst else { return .proceed }
        let taken = files.removeCopies()
        looks.withLock { $0 = ($0.count + 1, $0.taken + taken, false) }
        return .proceed
      }
      try WatchedFiles.watching(store.deletingLastPathComponent(), judge) {
        try StoreBackup.copy(storeAt: store, to: copy)
      }
      let (count, taken, _) = looks.withLock { $0 }
      #expect(count > 3)
      #expect(taken == 0)
      try #expect(dump(copy) == before)
      #expect(files.copies == [])
    }
  }

  @Test("Copies succeed while another process cleans up continuously")
  func besideCleaner() throws {
    try withStore { store, files in
      let before = try dump(store)
      let isDone = Atomic(false)
      let rounds = Atomic(0)
      let ended = DispatchSemaphore(value: 0)
      let cleaner = Thread {
        while !isDone.load(ordering: .relaxed) {
          files.removeCopies()
          rounds.add(1, ordering: .relaxed)
        }
        ended.signal()
      }
      cleaner.start()
      defer {
        isDone.store(true, ordering: .relaxed)
        ended.wait()
      }
      for number in 0..<60 {
        let copy = store.deletingLastPathComponent().appendingPathComponent("Copy \(number).sqlite")
        try StoreBackup.copy(storeAt: store, to: copy)
        try #expect(dump(copy) == before)
        try StoreFiles(storeAt: copy).delete()
      }
      #expect(rounds.load(ordering: .relaxed) > 60)
      #expect(files.copies == [])
    }
  }

  @Test("The remains of a killed process's copy are found, and deleted by a repair", arguments: [true, false])
  func killed(hasContent: Bool) throws {
    try withStore { store, files in
      let copy = store.deletingLastPathComponent().appendingPathComponent("Copy.sqlite")
      func begin() throws -> UnfinishedCopy {
        let unfinished = try UnfinishedCopy(of: copy, like: nil)
        if hasContent { try SQLiteConnection.reading(store) { try $0.copyDatabase(to: unfinished.file) } }
        return unfinished
      }
      try withExtendedLifetime(begin()) {
        try #expect(StoreRepair.repair(storeAt: store) == [])
        #expect(files.copies.count == 1)
      }
      // Now the lock is released as by a killed process, and the folder remains.
      var problems: [StoreProblem.Kind] = []
      try StoreCheck.check(storeAt: store) { problems.append($0.kind) }
      #expect(problems == [.unfinishedWork])
      try #expect(StoreRepair.repair(storeAt: store).map(\.kind) == [.unfinishedWork])
      #expect(files.copies == [])
    }
  }

  @Test("A copy that is compared before it gets its name is beside its place, and deletes one of a killed process")
  func beside() throws {
    try withStore { store, files in
      let place = store.deletingLastPathComponent().appendingPathComponent("Copy.sqlite")
      // The lock is released as by a killed process, and the folder remains.
      _ = try UnfinishedCopy(of: place, like: nil)
      let killed = try #require(files.copies.first)
      try StoreCopies.withCopy(of: StoreLocation(store), beside: StoreLocation(place)) { copy, _ in
        let folder = try #require(copy.url).deletingLastPathComponent().lastPathComponent
        #expect(files.copies.map(\.lastPathComponent) == [folder])
        #expect(folder != killed.lastPathComponent)
      }
      #expect(files.copies == [])
    }
  }

  @Test("A failed copy leaves nothing behind")
  func failed() throws {
    try withStore { store, _ in
      let copy = store.deletingLastPathComponent().appendingPathComponent("Copy.sqlite")
      let names = try FileManager.default.contentsOfDirectory(atPath: store.deletingLastPathComponent().path)
      let judge: WatchedFiles.Judge = { operation in
        operation.kind == .write && operation.file.path.contains(UnfinishedCopy.suffix) ? .fail(13) : .proceed
      }
      WatchedFiles.watching(store.deletingLastPathComponent(), judge) {
        _ = #expect(throws: PersistenceError.self) { try StoreBackup.copy(storeAt: store, to: copy) }
      }
      try #expect(
        Set(FileManager.default.contentsOfDirectory(atPath: store.deletingLastPathComponent().path)) == Set(names))
    }
  }
}
