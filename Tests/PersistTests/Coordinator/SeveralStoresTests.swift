import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Several stores")
struct SeveralStoresTests {
  private let model: ManagedObjectModel

  init() throws {
    var description = ModelDescription(entities: [
      EntityDescription(
        "Book", attributes: [AttributeDescription("title", .string)],
        relationships: [RelationshipDescription("pages", toMany: "Page", inverse: "book", deleteRule: .cascade)]),
      EntityDescription(
        "Page", attributes: [AttributeDescription("number", .int32)],
        relationships: [RelationshipDescription("book", to: "Book", inverse: "pages")]),
      EntityDescription("Feedback", attributes: [AttributeDescription("comment", .string)]),
    ])
    description.configurations = ["part1": ["Book", "Page"], "part2": ["Feedback"]]
    model = try ManagedObjectModel(description)
  }

  /// Runs code with a store in a file and another one, which is on a server if the tests run on one.
  private func withTwoStores(
    configurations: (String?, String?) = (nil, nil),
    _ body: (PersistentStoreCoordinator, StoreInfo, StoreInfo) throws -> Void
  ) throws {
    try withTemporaryFile { file in
      try withTemporaryStore { url in
        let coordinator = PersistentStoreCoordinator(model: model)
        let first = try coordinator.addStore(at: file, options: StoreOptions(configuration: configurations.0))
        let second = try coordinator.addStore(at: url, options: StoreOptions(configuration: configurations.1))
        try body(coordinator, first, second)
      }
    }
  }

  @Test("A persistent store and one in memory are both open, in the order in which they were added (CRD-01)")
  func order() throws {
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: model)
      let file = try coordinator.addStore(at: url)
      let memory = try coordinator.addInMemoryStore()
      #expect(coordinator.persistentStores.map(\.type) == [.ofTests, .inMemory])
      try coordinator.remove(file)
      #expect(coordinator.persistentStores == [memory])
      try coordinator.remove(memory)
      #expect(coordinator.persistentStores.isEmpty)
    }
  }

  @Test("New objects go to the first store that contains their entity, or to the one they are assigned to")
  func assigning() throws {
    try withTwoStores { coordinator, first, second in
      let context = ManagedObjectContext(coordinator)
      let here = try context.make("Feedback", ["comment": "here"])
      let there = try context.make("Feedback", ["comment": "there"])
      try context.assign(there, to: second)
      try context.save()
      #expect(here.objectID.storeIdentifier == first.identifier)
      #expect(there.objectID.storeIdentifier == second.identifier)
      #expect(context.graph.assignedStores.isEmpty)
      try #expect(ManagedObjectContext(coordinator).count(for: FetchRequest("Feedback")) == 2)
      try coordinator.remove(first)
      try #expect(ManagedObjectContext(coordinator).names("Feedback", by: "comment") == ["there"])
    }
  }

  @Test("Without a limit and order, results come first from the store that was added first (FET-17)")
  func firstResult() throws {
    try withTwoStores { coordinator, first, second in
      let context = ManagedObjectContext(coordinator)
      for (store, comment) in [(second, "b"), (first, "a")] {
        try context.assign(context.make("Feedback", ["comment": comment]), to: store)
        try context.save()
      }
      let found = try ManagedObjectContext(coordinator).fetch(FetchRequest("Feedback"))
      #expect(found.map { $0["comment"] as? String } == ["a", "b"])
      let ids = try ManagedObjectContext(coordinator).fetchObjectIDs(FetchRequest("Feedback"))
      #expect(ids.map(\.storeIdentifier) == [first.identifier, second.identifier])
      let sorted = try ManagedObjectContext(coordinator).fetch(
        FetchRequest("Feedback", sortedBy: "comment", isAscending: false))
      #expect(sorted.map { $0["comment"] as? String } == ["b", "a"])
    }
  }

  @Test("Related objects assigned to one store are saved there together; those assigned to two are refused")
  func relationships() throws {
    try withTwoStores { coordinator, first, second in
      let context = ManagedObjectContext(coordinator)
      let book = try context.make("Book", ["title": "Emma"])
      let page = try context.make("Page", ["number": 1, "book": book])
      try context.assign(book, to: second)
      let error = persistError { try context.save() }
      #expect(error?.code == .saveFailed && error?.message.contains("another store") == true)
      #expect(book.isInserted && page.isInserted)
      try context.assign(page, to: second)
      try context.save()
      let fresh = ManagedObjectContext(coordinator)
      let again = try fresh.named("Book", "Emma", by: "title")
      try #expect(again.many("pages").count == 1 && again.objectID.storeIdentifier == second.identifier)
      try #expect(coordinator.stores(holding: model.entity(named: "Book")).count == 2 && first != second)
    }
  }

  @Test("Only new objects can be assigned, and only to open, writable stores that contain their entity")
  func refusals() throws {
    try withTwoStores(configurations: ("part1", "part2")) { coordinator, first, second in
      let context = ManagedObjectContext(coordinator)
      let feedback = try context.make("Feedback")
      #expect(persistError { try context.assign(feedback, to: first) }?.code == .invalidRequest)
      try context.assign(feedback, to: second)
      try context.save()
      #expect(persistError { try context.assign(feedback, to: second) }?.code == .invalidRequest)
      try coordinator.remove(second)
      let reader = try coordinator.addStore(
        at: try #require(second.url), options: StoreOptions(isReadOnly: true, configuration: "part2"))
      let another = try context.make("Feedback")
      #expect(persistError { try context.assign(another, to: reader) }?.code == .storeReadOnly)
      #expect(persistError { try context.save() }?.code == .storeReadOnly)
    }
  }

  @Test("Each configuration's store contains its entities, and one save writes to both")
  func configurations() throws {
    try withTwoStores(configurations: ("part1", "part2")) { coordinator, first, second in
      let context = ManagedObjectContext(coordinator)
      let book = try context.make("Book", ["title": "Emma"])
      let feedback = try context.make("Feedback", ["comment": "great"])
      try context.save()
      #expect(book.objectID.storeIdentifier == first.identifier)
      #expect(feedback.objectID.storeIdentifier == second.identifier)
    }
  }

  @Test("A store opened for a configuration still has the tables of all entities (CRD-07)")
  func tables() throws {
    try withTwoStores(configurations: ("part1", "part2")) { coordinator, _, second in
      let url = try #require(second.url)
      try coordinator.remove(second)
      let store = try RawStore(url, mode: .readOnly)
      defer { store.close() }
      let reads: [SQLText] = ["SELECT Z_PK FROM ZBOOK", "SELECT Z_PK FROM ZPAGE", "SELECT Z_PK FROM ZFEEDBACK"]
      for read in reads { try #expect(store.rows(read).isEmpty) }
    }
  }

  @Test("An object assigned to a store that has since been removed is refused, and kept")
  func removed() throws {
    try withTwoStores { coordinator, _, second in
      let context = ManagedObjectContext(coordinator)
      let feedback = try context.make("Feedback")
      try context.assign(feedback, to: second)
      try coordinator.remove(second)
      #expect(persistError { try context.save() }?.code == .saveFailed)
      #expect(feedback.isInserted)
    }
  }

  /// Runs code with a context that has changed the feedback of the second store, as others have, and also has a new
  /// book for the first one.
  private func withConflict(
    _ body: (_ context: ManagedObjectContext, _ book: ManagedObject, _ other: ManagedObjectContext) throws -> Void
  ) throws {
    try withTwoStores(configurations: ("part1", "part2")) { coordinator, _, _ in
      let context = ManagedObjectContext(coordinator)
      let old = try context.make("Book", ["title": "old"])
      let feedback = try context.make("Feedback", ["comment": "?"])
      try context.save()
      let other = ManagedObjectContext(coordinator)
      other.automaticallyMergesChangesFromParent = true
      try other.existingObject(with: feedback.objectID)["comment"] = "theirs"
      try other.existingObject(with: old.objectID)["title"] = "theirs"
      try other.save()
      let book = try context.make("Book", ["title": "new"])
      feedback["comment"] = "mine"
      try body(context, book, other)
    }
  }

  @Test("A store that can't be read doesn't keep the others from being merged, and isn't read again by every call")
  func failingMerge() throws {
    try withTemporaryFile { file in
      try withTemporaryStore { url in
        let stack = try TestStack(model, at: url)
        let second = try stack.coordinator.addStore(at: file)
        let (view, background) = (stack.context(), stack.context())
        let (here, there) = try (background.make("Feedback"), background.make("Feedback"))
        try background.assign(there, to: second)
        func save(_ comment: String) throws {
          for object in [here, there] { object["comment"] = comment }
          try background.save()
        }
        try save("a")
        let copies = try [here, there].map { try view.existingObject(with: $0.objectID) }
        func comments() -> [String?] { copies.map { $0["comment"] as? String } }
        #expect(comments() == ["a", "a"])
        view.automaticallyMergesChangesFromParent = true
        let busy = PersistenceError(.storeBusy, "Busy.")
        stack.store.failReading(with: busy, busy, busy, busy)
        try save("b")
        view.processPendingChanges()
        #expect(comments() == ["a", "b"])
        #expect(persistError { try view.throwDeferredError() }?.message == "Busy.")
        try save("c")
        view.processPendingChanges()
        try view.throwDeferredError()
        #expect(comments() == ["a", "c"])
        // Once reading succeeds, the objects are compared, and the changes that were left out are found.
        var callCount = 0
        while comments() != ["c", "c"], callCount < 100_000 {
          view.processPendingChanges()
          callCount += 1
          Thread.sleep(forTimeInterval: 0.001)
        }
        try view.throwDeferredError()
        #expect(comments() == ["c", "c"])
        // Two more failures and a success, if every call had read the store.
        #expect(callCount > 3)
      }
    }
  }

  @Test("What one store has accepted stays saved if another store's conflicts can't be resolved")
  func failingResolution() throws {
    try withConflict { context, book, other in
      let old = try context.named("Book", "old", by: "title")
      old["title"] = "mine"
      context.mergePolicy = .custom(BooksOnly())
      #expect(throws: BooksOnly.Refusal.self) { try context.save() }
      #expect(context.hasChanges && !book.isInserted && !old.hasChanges)
      context.mergePolicy = .mergeByPropertyObjectTrump
      try context.save()
      let fresh = ManagedObjectContext(context.persistentStoreCoordinator)
      try #expect(fresh.names("Book", by: "title") == ["mine", "new"])
      try #expect(fresh.names("Feedback", by: "comment") == ["mine"])
    }
  }

  @Test("What one store has accepted is announced, even if the save fails because of another store")
  func partialSave() throws {
    try withConflict { context, book, other in
      let recorder = EventRecorder(context)
      let old = try context.named("Book", "old", by: "title")
      context.refresh(old, mergeChanges: false)
      old["title"] = "mine"
      let shown = try other.existingObject(with: old.objectID)
      #expect(shown["title"] as? String == "theirs")
      #expect(persistError { try context.save() }?.code == .mergeConflict)
      #expect(context.hasChanges && !book.isInserted && !old.hasChanges)
      other.processPendingChanges()
      #expect(shown["title"] as? String == "mine")
      #expect(recorder.saves.map(\.inserted) == [[book]] && recorder.saves.map(\.updated) == [[old]])
      context.mergePolicy = .mergeByPropertyObjectTrump
      try context.save()
      #expect(recorder.saves.count == 2 && recorder.saves.last?.inserted == [])
    }
  }

  /// Keeps the changes of books, and refuses to resolve other conflicts.
  private struct BooksOnly: ConflictResolver {
    struct Refusal: Error {}

    func resolve(_ conflicts: [MergeConflict], in context: ManagedObjectContext) throws {
      guard conflicts.allSatisfy({ $0.sourceObjectID.entityName == "Book" }) else { throw Refusal() }
      try MergePolicy.mergeByPropertyObjectTrump.resolve(conflicts, in: context)
    }
  }
}
