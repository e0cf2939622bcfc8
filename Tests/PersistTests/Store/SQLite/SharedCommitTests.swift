import Foundation
import LinkedSQLite
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Saves that share a commit", .aboutFiles("SQLite's transactions"), .timeLimit(.minutes(5)))
struct SharedCommitTests {
  /// Counts a file's commits, and lets some fail.
  ///
  /// `@unchecked Sendable`: a store's writer calls back on the thread with the turn only.
  private final class Commits: @unchecked Sendable {
    var count = 0
    /// The number of next commits that fail.
    var failing = 0

    /// Counts the commits of a store's writer, and lets the next ones fail.
    func observe(_ store: SQLiteStore) throws {
      try store.pool.withWriter { connection in
        sqlite3_commit_hook(
          connection.handle,
          { context in
            guard let context else { return 0 }
            let commits = Unmanaged<Commits>.fromOpaque(context).takeUnretainedValue()
            commits.count += 1
            guard commits.failing > 0 else { return 0 }
            commits.failing -= 1
            return 1
          }, Unmanaged.passUnretained(self).toOpaque())
      }
    }
  }

  /// Starts pieces of work, each waiting for the writer before the next one starts, and then lets them go on.
  ///
  /// - Returns: The outcomes in the same order: an error's code, or "saved".
  private func meeting(in store: SQLiteStore, _ work: [@Sendable () throws -> Void]) throws -> [String] {
    let outcomes = LockProtected([String](repeating: "", count: work.count))
    let group = DispatchGroup()
    #expect(store.pool.turn.tryBegin())
    for (number, body) in work.enumerated() {
      group.enter()
      Thread.detachNewThread {
        let outcome: String
        do {
          try body()
          outcome = "saved"
        } catch is RowConflicts {
          outcome = "conflict"
        } catch {
          outcome = (error as? PersistenceError)?.code.name ?? "\(error)"
        }
        outcomes.withLock { $0[number] = outcome }
        group.leave()
      }
      while store.pool.turn.waitingCount <= number { Thread.sleep(forTimeInterval: 0.001) }
    }
    store.pool.turn.end()
    group.wait()
    return outcomes.withLock { $0 }
  }

  private func labels(_ store: SQLiteStore) throws -> [String] {
    try store.pool.read { try $0.all("SELECT ZLABEL FROM ZTAG ORDER BY Z_PK") { $0.text(0) } }
  }

  /// A store with a tag "first", of version 1 and key 1.
  private func withTags(_ body: (StoreFixture, SQLiteStore, Commits) throws -> Void) throws {
    let fixture = try StoreFixture()
    try fixture.withFile { store in
      _ = try store.commit(RowWrites(inserts: [try fixture.insert("Tag", ["label": .string("first")])]))
      let commits = Commits()
      try commits.observe(store)
      try withExtendedLifetime(commits) { try body(fixture, store, commits) }
    }
  }

  private func save(_ label: String, _ fixture: StoreFixture, _ store: SQLiteStore) -> @Sendable () throws -> Void {
    { _ = try store.commit(RowWrites(inserts: [try fixture.insert("Tag", ["label": .string(label)])])) }
  }

  @Test("Saves that wait for the writer together are committed together, in their order")
  func together() throws {
    try withTags { fixture, store, commits in
      let names = (0..<20).map { "\($0)" }
      let outcomes = try meeting(in: store, names.map { save($0, fixture, store) })
      #expect(outcomes.allSatisfy { $0 == "saved" })
      #expect(commits.count == 1)
      #expect(try labels(store) == ["first"] + names)
      try save("alone", fixture, store)()
      #expect(commits.count == 2)
    }
  }

  @Test("A save that fails doesn't fail others, and sees what they have written")
  func failures() throws {
    try withTags { fixture, store, commits in
      let outcomes = try meeting(
        in: store,
        [save("a", fixture, store), save("first", fixture, store), save("b", fixture, store), save("a", fixture, store)])
      #expect(outcomes == ["saved", "constraintConflict", "saved", "constraintConflict"])
      #expect(commits.count == 1)
      #expect(try labels(store) == ["first", "a", "b"])
      let leading = try meeting(in: store, [save("first", fixture, store), save("c", fixture, store)])
      #expect(leading == ["constraintConflict", "saved"])
      #expect(try labels(store) == ["first", "a", "b", "c"])
    }
  }

  @Test("Each save is tried alone if the common commit fails")
  func failedCommit() throws {
    try withTags { fixture, store, commits in
      commits.failing = 1
      let names = (0..<5).map { "\($0)" }
      let outcomes = try meeting(in: store, names.map { save($0, fixture, store) })
      #expect(outcomes.allSatisfy { $0 == "saved" })
      #expect(commits.count == 6)
      #expect(try labels(store).sorted() == names + ["first"])
    }
  }

  @Test("A save whose own rows can't be committed fails alone")
  func deferredConstraint() throws {
    try withTags { fixture, store, commits in
      try store.pool.withWriter { connection in
        try connection.execute("PRAGMA foreign_keys = ON")
        try connection.execute("CREATE TABLE NOTE (TAG REFERENCES ZTAG (Z_PK) DEFERRABLE INITIALLY DEFERRED)")
        try connection.execute(
          """
          CREATE TRIGGER REFUSAL AFTER INSERT ON ZTAG WHEN NEW.ZLABEL = 'refused'
          BEGIN INSERT INTO NOTE VALUES (-1); END
          """)
      }
      let outcomes = try meeting(in: store, ["a", "refused", "b"].map { save($0, fixture, store) })
      #expect(outcomes[0] == "saved" && outcomes[1] != "saved" && outcomes[2] == "saved", "\(outcomes)")
      #expect(try labels(store).sorted() == ["a", "b", "first"])
    }
  }

  @Test("The thread that writes runs the saves of those that wait, and commits once for all")
  func oneThread() throws {
    try withTags { _, store, commits in
      let threads = LockProtected<[ObjectIdentifier]>([])
      let recording: @Sendable () throws -> Void = {
        try store.pool.writeSharing { connection in
          threads.withLock { $0.append(ObjectIdentifier(Thread.current)) }
          try connection.execute("UPDATE ZTAG SET ZLABEL = ZLABEL")
        }
      }
      let outcomes = try meeting(in: store, Array(repeating: recording, count: 8))
      #expect(outcomes.allSatisfy { $0 == "saved" })
      #expect(threads.withLock { Set($0).count } == 1)
      #expect(threads.withLock(\.count) == 8)
      #expect(commits.count == 1)
    }
  }

  @Test("A save whose wait is over while another thread runs it has that one's outcome")
  func lateSave() throws {
    let fixture = try StoreFixture()
    try withTemporaryFile { url in
      let store = try SQLiteStore.create(
        url, model: fixture.model, options: StoreOptions(busyTimeout: .milliseconds(400)))
      let slow: @Sendable () throws -> Void = {
        try store.pool.writeSharing { connection in
          try connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX")
          Thread.sleep(forTimeInterval: 0.6)
        }
      }
      let outcomes = try meeting(in: store, [save("a", fixture, store), slow, save("b", fixture, store)])
      // The last one waited for too long before its own save began.
      #expect(outcomes == ["saved", "saved", "storeBusy"])
      #expect(try labels(store) == ["a"])
      try store.close()
    }
  }

  @Test("Other work for the writer keeps its place among saves")
  func otherWork() throws {
    try withTags { fixture, store, commits in
      let seen = LockProtected<[String]>([])
      let other: @Sendable () throws -> Void = {
        try store.pool.write { connection in
          let labels = try connection.all("SELECT ZLABEL FROM ZTAG ORDER BY Z_PK") { $0.text(0) }
          seen.withLock { $0 = labels }
        }
      }
      let outcomes = try meeting(
        in: store, [save("a", fixture, store), save("b", fixture, store), other, save("c", fixture, store)])
      #expect(outcomes == ["saved", "saved", "saved", "saved"])
      #expect(seen.withLock { $0 } == ["first", "a", "b"])
      #expect(commits.count >= 2)
      #expect(try labels(store) == ["first", "a", "b", "c"])
    }
  }

  @Test("A store that is closed meanwhile keeps what was saved, and refuses the rest")
  func closing() throws {
    let fixture = try StoreFixture()
    try withTemporaryFile { url in
      let store = try SQLiteStore.create(url, model: fixture.model)
      let closing: @Sendable () throws -> Void = { store.pool.refuseUse() }
      let refusing: @Sendable () throws -> Void = {
        try store.pool.writeSharing { _ in try closing() }
      }
      let outcomes = try meeting(
        in: store, [save("a", fixture, store), refusing, save("b", fixture, store)])
      #expect(outcomes[0] == "saved" && outcomes[2] == "storeOpenFailed", "\(outcomes)")
      store.pool.close()
      let reopened = try SQLiteStore.open(url, model: fixture.model)
      #expect(try labels(reopened) == ["a"])
      try reopened.close()
    }
  }

  @Test("Each save that shares a commit is a transaction of its own in the history")
  func history() throws {
    try withTemporaryFile { url in
      let fixture = try StoreFixture()
      let coordinator = PersistentStoreCoordinator(model: fixture.model)
      try coordinator.addStore(at: url, options: StoreOptions(tracksHistory: true))
      let store = try #require(coordinator.openStores.first as? SQLiteStore)
      let work = (0..<6).map { number in
        { @Sendable in
          let context = ManagedObjectContext(coordinator)
          try context.create("Tag")["label"] = "\(number)"
          try context.save()
        }
      }
      let outcomes = try meeting(in: store, work)
      #expect(outcomes.allSatisfy { $0 == "saved" })
      let transactions = try coordinator.execute(.fetchHistory(after: nil)).transactions
      #expect(transactions.map { $0.changes?.count } == Array(repeating: 1, count: 6))
    }
  }

  @Test("Increments of many threads are all counted, with fewer commits than saves")
  func increments() throws {
    try withTemporaryFile { url in
      let model = try ManagedObjectModel(
        ModelDescription(entities: [EntityDescription("Counter", attributes: [AttributeDescription("value", .int64)])]))
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.addStore(at: url, options: StoreOptions(busyTimeout: .seconds(60)))
      let store = try #require(coordinator.openStores.first as? SQLiteStore)
      let setUp = ManagedObjectContext(coordinator)
      for _ in 0..<3 { try setUp.create("Counter")["value"] = 0 }
      try setUp.save()
      let commits = Commits()
      try commits.observe(store)
      let (saves, failures) = (LockProtected(0), LockProtected<[String]>([]))
      let group = DispatchGroup()
      for number in 0..<12 {
        group.enter()
        Thread.detachNewThread {
          defer { group.leave() }
          do {
            for round in 0..<25 {
              var isSaved = false
              while !isSaved {
                let context = ManagedObjectContext(coordinator)
                let counters = try context.fetch(FetchRequest<ManagedObject>("Counter"))
                let counter = counters[(number + round) % 3]
                counter["value"] = (counter["value"] as? Int ?? 0) + 1
                do {
                  try context.save()
                  isSaved = true
                } catch let error as PersistenceError where error.code == .mergeConflict {}
              }
              saves.withLock { $0 += 1 }
            }
          } catch { failures.withLock { $0.append("\(error)") } }
        }
      }
      group.wait()
      #expect(failures.withLock { $0 } == [])
      let counters = try ManagedObjectContext(coordinator).fetch(FetchRequest<ManagedObject>("Counter"))
      #expect(counters.reduce(0) { $0 + ($1["value"] as? Int ?? 0) } == 300)
      #expect(saves.withLock { $0 } == 300)
      print("300 saves of 12 threads in \(commits.count) commits")
    }
  }
}
