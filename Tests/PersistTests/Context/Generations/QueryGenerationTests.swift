import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Query generations")
struct QueryGenerationTests {
  func open(
    _ url: URL, journal: String? = nil, lifetime: Duration = .seconds(600)
  ) throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(model: try HistoryModel.make())
    var options = StoreOptions()
    options.queryGenerationLifetime = lifetime
    if let journal { options.pragmas["journal_mode"] = journal }
    try coordinator.addStore(at: url, options: options)
    return coordinator
  }

  /// Runs `body` with two coordinators of a store that has three tags.
  func withTwo(
    journal: String? = nil, lifetime: Duration = .seconds(600),
    _ body: (_ reader: PersistentStoreCoordinator, _ writer: PersistentStoreCoordinator) throws -> Void
  ) throws {
    try withTemporaryStore { url in
      let reader = try open(url, journal: journal, lifetime: lifetime)
      let writer = try open(url, journal: journal)
      try write(writer, ["a", "b", "c"])
      try body(reader, writer)
      for coordinator in [reader, writer] {
        for store in coordinator.persistentStores { try coordinator.remove(store) }
      }
    }
  }

  func write(_ coordinator: PersistentStoreCoordinator, _ labels: [String]) throws {
    let context = ManagedObjectContext(coordinator)
    for label in labels { try context.make("Tag", ["label": label]) }
    try context.save()
  }

  func pinned(_ coordinator: PersistentStoreCoordinator) throws -> ManagedObjectContext {
    let context = ManagedObjectContext(coordinator)
    try context.setQueryGeneration(from: .current)
    return context
  }

  func count(_ context: ManagedObjectContext) throws -> Int { try context.count(for: FetchRequest("Tag")) }

  @Test("A context is pinned to the state of its first read, until it is unpinned")
  func firstRead() throws {
    try withTwo { reader, writer in
      let context = try pinned(reader)
      #expect(context.queryGenerationToken == .current)
      try write(writer, ["d"])
      try #expect(count(context) == 4)
      #expect(context.queryGenerationToken != .current && context.queryGenerationToken != nil)
      try write(writer, ["e"])
      try #expect(count(context) == 4)
      try context.setQueryGeneration(from: nil)
      try #expect(count(context) == 5)
      #expect(context.queryGenerationToken == nil)
    }
  }

  @Test("A pinned context advances when it saves, merges, is reset, refreshes everything, or is pinned again")
  func movingOn() throws {
    try withTwo { reader, writer in
      let context = try pinned(reader)
      var expected = 3
      func step(_ name: String, adding: Int = 0, _ body: () throws -> Void) throws {
        try #expect(count(context) == expected)
        try write(writer, [name])
        try #expect(count(context) == expected, "before \(name)")
        expected += 1 + adding
        try body()
        try #expect(count(context) == expected, "after \(name)")
      }
      try step("reset") { context.reset() }
      try step("refresh") { context.refreshAllObjects() }
      try step("pin") { try context.setQueryGeneration(from: .current) }
      try step("merge") {
        let id = try context.anyTag()
        context.mergeChanges(from: SavedChanges(updated: [id]))
      }
      try step("save", adding: 1) {
        try context.make("Tag", ["label": "own"])
        try context.save()
      }
    }
  }

  @Test("A did-save notification contains the token of the state after it; for a store without generations, none")
  func didSave() throws {
    try withTwo { reader, writer in
      let context = try pinned(reader)
      let seen = LockProtected<[QueryGenerationToken?]>([])
      let observer = NotificationCenter.default.addObserver(
        forName: ManagedObjectContext.didSaveObjectsNotification, object: context, queue: nil
      ) { note in
        let key = ManagedObjectContext.NotificationKey.queryGeneration.rawValue
        let token = note.userInfo?[key] as? QueryGenerationToken
        seen.withLock { $0.append(token) }
      }
      defer { NotificationCenter.default.removeObserver(observer) }
      try context.make("Tag", ["label": "own"])
      try context.save()
      let token = try #require(seen.withLock { $0.first } ?? nil)
      #expect(token != .current && token == context.queryGenerationToken)
      try write(writer, ["later"])
      let other = ManagedObjectContext(reader)
      try other.setQueryGeneration(from: token)
      try #expect(count(other) == 4)
    }
    let memory = PersistentStoreCoordinator(model: try HistoryModel.make())
    try memory.addInMemoryStore()
    let context = try pinned(memory)
    try #expect(count(context) == 0)
    try write(memory, ["a"])
    try #expect(count(context) == 1)
    #expect(context.queryGenerationToken == nil)
  }

  @Test("Contexts of a coordinator share a state by its token; children and other coordinators can't")
  func sharing() throws {
    try withTwo { reader, writer in
      let first = try pinned(reader)
      try #expect(count(first) == 3)
      try write(writer, ["d"])
      let second = ManagedObjectContext(reader)
      try second.setQueryGeneration(from: first.queryGenerationToken)
      try #expect(count(second) == 3)
      let child = ManagedObjectContext(parent: first)
      try #expect(count(child) == 3)
      #expect(child.queryGenerationToken == nil)
      #expect(persistError { try child.setQueryGeneration(from: .current) }?.code == .invalidRequest)
      let stranger = ManagedObjectContext(writer)
      #expect(
        persistError { try stranger.setQueryGeneration(from: first.queryGenerationToken) }?.code == .invalidRequest)
    }
  }

  @Test("A fault of a pinned context costs one statement and no transaction", .aboutFiles("SQLite's transactions"))
  func cost() throws {
    try withTwo { reader, _ in
      let ids = try ManagedObjectContext(reader).fetch(FetchRequest("Tag")).map(\.objectID)
      let context = try pinned(reader)
      _ = try count(context)
      let store = reader.openStores[0]
      let held = try #require(try context.queryGenerationToken?.generation?.rows(of: store) as? SQLiteStore)
      let before = held.statementCount
      for id in ids { _ = context.object(with: id)["label"] }
      #expect(held.statementCount - before == ids.count)
      try held.pool.readOnce { connection in #expect(connection.isInTransaction) }
    }
  }

  @Test(
    "While one thread reads a held state, others wait for its connection instead of reading a newer state",
    .aboutFiles("SQLite's connections"))
  func oneConnection() throws {
    try withTwo { reader, writer in
      let context = try pinned(reader)
      try #expect(count(context) == 3)
      let store = reader.openStores[0]
      let held = try #require(try context.queryGenerationToken?.generation?.rows(of: store) as? SQLiteStore)
      try write(writer, ["d"])
      let isReading = DispatchSemaphore(value: 0)
      let end = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        try? held.pool.readOnce { _ in
          isReading.signal()
          Thread.sleep(forTimeInterval: 0.1)
        }
        end.signal()
      }
      isReading.wait()
      try #expect(count(context) == 3)
      end.wait()
    }
  }

  @Test("A save of a pinned context conflicts with what others have saved since, and the policy resolves it")
  func conflict() throws {
    try withTwo { reader, writer in
      let context = try pinned(reader)
      let tag = try #require(try context.fetch(FetchRequest("Tag", where: "label == 'a'")).first)
      let other = ManagedObjectContext(writer)
      let same = try #require(try other.fetch(FetchRequest("Tag", where: "label == 'a'")).first)
      same["label"] = "theirs"
      try other.save()
      tag["label"] = "mine"
      #expect(persistError { try context.save() }?.code == .mergeConflict)
      try #expect(context.fetch(FetchRequest("Tag", where: "label == 'theirs'")).isEmpty, "It is still pinned.")
      context.mergePolicy = .mergeByPropertyObjectTrump
      try context.save()
      try #expect(ManagedObjectContext(writer).fetch(FetchRequest("Tag", where: "label == 'mine'")).count == 1)
    }
  }

  /// Reads other objects when it is validated.
  private final class CuriousTag: ManagedObject {
    override func validateForUpdate() throws {
      try super.validateForUpdate()
      guard let people = try? managedObjectContext?.fetch(FetchRequest("Person")) else { return }
      for person in people { for tag in try person.many("tags") { _ = tag["label"] } }
    }
  }

  @Test("After a save of a pinned context that failed, everything that it read shows the pinned state")
  func failedSave() throws {
    try withTwo { reader, writer in
      let own = ManagedObjectContext(reader)
      let tags = try ["a", "b", "c"].map { try own.named("Tag", $0, by: "label") }
      let person = try own.make("Person", ["name": "old"])
      let other = try own.make("Person", ["name": "other"])
      try person.many("tags").insert(tags[2])
      try own.save()
      let context = ManagedObjectContext(reader, classes: ["Tag": CuriousTag.self])
      try context.setQueryGeneration(from: .current)
      let mine = tags.map { context.object(with: $0.objectID) }
      mine[0]["label"] = "mine"
      try mine[1].many("people").insert(context.object(with: other.objectID))
      #expect(mine[1].isWithoutRow && mine[2].isWithoutRow)
      for (tag, label) in zip(tags, ["x", "y", "z"]) { tag["label"] = label }
      person["name"] = "new"
      try person.many("tags").insert(tags[0])
      try own.save()
      #expect(persistError { try context.save() }?.code == .mergeConflict)
      let same = context.object(with: person.objectID)
      #expect(same["name"] as? String == "old" && mine[2]["label"] as? String == "c")
      #expect(try same.names("tags", by: "label") == ["c"])
      context.rollback()
      #expect(mine.map { $0["label"] as? String } == ["a", "b", "c"])
    }
  }

  @Test("A state expires only when others have written; then the log can be reset, and the next read reports it")
  func expiry() throws {
    try withTwo(lifetime: .milliseconds(50)) { reader, writer in
      let context = try pinned(reader)
      try #expect(count(context) == 3)
      if TestEngine.current == .sqlite {
        // On a server, other tests write too.
        Thread.sleep(forTimeInterval: 0.2)
        try #expect(count(context) == 3, "Nobody has written.")
      }
      try write(writer, ["d"])
      let deadline = ContinuousClock.now + .seconds(120)
      var error: PersistenceError?
      while error == nil {
        try #require(ContinuousClock.now < deadline)
        error = persistError {
          let found = try count(context)
          #expect(found == 3)
        }
        Thread.sleep(forTimeInterval: 0.01)
      }
      #expect(error?.code == .queryGenerationExpired)
      if let store = writer.openStores[0] as? SQLiteStore {
        try store.pool.withWriter { try #expect($0.first(.emptyLog) { $0.integer(0) } == 0) }
      }
      context.refreshAllObjects()
      try #expect(count(context) == 4)
    }
  }

  @Test(
    "A store with a rollback journal shows its current state, and doesn't make writers wait",
    .aboutFiles("the journal"))
  func rollbackJournal() throws {
    try withTwo(journal: "DELETE") { reader, writer in
      let context = try pinned(reader)
      try #expect(count(context) == 3)
      try write(writer, ["d"])
      try #expect(count(context) == 4)
      #expect(context.queryGenerationToken == nil)
    }
  }

  @Test("Removing a store releases the states that contexts hold")
  func removal() throws {
    try withTemporaryFolder { folder in
      let coordinator = try open(folder.appendingPathComponent("store.sqlite"))
      let context = try pinned(coordinator)
      try #expect(count(context) == 0)
      for store in coordinator.persistentStores { try coordinator.remove(store) }
      try #expect(FileManager.default.contentsOfDirectory(atPath: folder.path) == ["store.sqlite"])
    }
  }

  @Test("A store that was removed and added again shows its current state in a context that was pinned before")
  func addedAgain() throws {
    try withTemporaryStore { url in
      let coordinator = try open(url)
      try write(coordinator, ["a"])
      let context = try pinned(coordinator)
      try #expect(count(context) == 1)
      for store in coordinator.persistentStores { try coordinator.remove(store) }
      try coordinator.addStore(at: url)
      try write(coordinator, ["b"])
      try #expect(count(context) == 2)
      for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
  }

  @Test("A background fetch and batched results read the pinned state")
  func waiting() async throws {
    try await withTemporaryFolder { folder in
      let coordinator = try open(folder.appendingPathComponent("store.sqlite"))
      try write(coordinator, (0..<40).map(String.init))
      let context = try pinned(coordinator)
      _ = try count(context)
      var request = FetchRequest("Tag", sortedBy: "label")
      request.fetchBatchSize = 10
      let batched = try context.fetch(request)
      try ManagedObjectContext(coordinator).execute(BatchDeleteRequest("Tag"))
      let fetched = try await context.fetch(FetchRequest("Tag"), progress: nil)
      #expect(fetched.count == 40)
      let rows = try await context.fetch(FetchRequest<FetchedRow>("Tag"), progress: nil)
      #expect(rows.count == 40)
      #expect(Set(batched.compactMap { $0["label"] as? String }).count == 40)
      for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
  }
}

extension ManagedObjectContext {
  fileprivate func anyTag() throws -> ManagedObjectID {
    try #require(try fetch(FetchRequest<ManagedObjectID>("Tag")).first)
  }
}

/// The law, over random writes of two coordinators: a pinned context shows exactly the state that it was pinned to.
