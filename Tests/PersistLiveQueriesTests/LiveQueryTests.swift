import Foundation
import Persist
import PersistLiveQueries
import PersistTestSupport
import Testing

@Suite("Live queries", .timeLimit(.minutes(5)))
@MainActor
struct LiveQueryTests {
  nonisolated static let model = ModelDescription(entities: [
    EntityDescription(
      "Shelf", attributes: [AttributeDescription("name", .string)],
      relationships: [RelationshipDescription("books", toMany: "Book", inverse: "shelf")]),
    EntityDescription(
      "Book", attributes: [AttributeDescription("title", .string), AttributeDescription("pages", .int64)],
      relationships: [RelationshipDescription("shelf", to: "Shelf", inverse: "books")]),
    EntityDescription("Novel", parent: "Book"),
    EntityDescription("Film", attributes: [AttributeDescription("title", .string)]),
  ])

  private func withStore(
    history: Bool = true, _ body: (URL, PersistentStoreCoordinator) async throws -> Void
  ) async throws {
    try await withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("Store.sqlite")
      try await body(url, Self.open(url, history: history))
    }
  }

  nonisolated static func open(_ url: URL, history: Bool = true) throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(model))
    var options = StoreOptions()
    options.tracksHistory = history
    try coordinator.addStore(at: url, options: options)
    return coordinator
  }

  nonisolated static func add(_ entity: String, _ title: String, in context: ManagedObjectContext) throws {
    try context.create(entity)["title"] = title
    try context.save()
  }

  private let titles: FetchRequest<ManagedObject> = FetchRequest("Book", sortedBy: "title")

  @Test("The results come at once, and again after each save by anyone", arguments: [true, false])
  func everyone(history: Bool) async throws {
    try await withStore(history: history) { url, coordinator in
      let context = ManagedObjectContext(coordinator)
      var query = context.live(titles).makeAsyncIterator()
      func next() async throws -> [String]? {
        try await query.next(isolation: #isolation)?.map { $0["title"] as? String ?? "" }
      }
      #expect(try await next() == [])
      try Self.add("Book", "a", in: context)
      #expect(try await next() == ["a"])
      try Self.add("Novel", "b", in: ManagedObjectContext(coordinator))
      #expect(try await next() == ["a", "b"])
      let other = try Self.open(url, history: history)
      try Self.add("Book", "c", in: ManagedObjectContext(other))
      #expect(try await next() == ["a", "b", "c"])
      try context.fetch(titles).forEach(context.delete)
      try context.save()
      #expect(try await next() == [])
    }
  }

  @Test("A save of other entities is none of a query's, by whomever it is made")
  func others() async throws {
    try await withStore { url, coordinator in
      let context = ManagedObjectContext(coordinator)
      context.automaticallyMergesChangesFromParent = true
      let signal = SaveSignal(context, try DependentEntities(of: titles, in: context))
      #expect(signal.take(), "the first reading")
      let other = try Self.open(url)
      for (name, writer) in [
        ("own", context), ("another", ManagedObjectContext(coordinator)),
        ("another coordinator's", ManagedObjectContext(other)),
      ] {
        // This coordinator's earlier saves are found in the history with the first save of another one.
        try Self.add("Film", "e", in: writer)
        _ = signal.take()
        try Self.add("Film", "f", in: writer)
        #expect(!signal.take(), "\(name) context saved a film")
        try Self.add("Novel", "n", in: writer)
        #expect(signal.take(), "\(name) context saved a novel")
        #expect(!signal.take(), "\(name) context saved nothing more")
      }
    }
  }

  @Test("A query follows the relationships of its predicate, order and columns")
  func relationships() async throws {
    try await withStore { _, coordinator in
      let context = ManagedObjectContext(coordinator)
      let shelf = try context.create("Shelf")
      let book = try context.create("Book")
      book["shelf"] = shelf
      try context.save()
      var columns = FetchRequest<FetchedRow>("Book")
      columns.propertiesToFetch = ["shelf.name"]
      let requests = try [
        FetchRequest<ManagedObject>("Book", where: "shelf.name == 'A'"),
        FetchRequest<ManagedObject>("Book", sortedBy: "shelf.name"), columns.returning(ManagedObject.self),
      ]
      let plain = SaveSignal(context, try DependentEntities(of: titles, in: context))
      let signals = try requests.map { SaveSignal(context, try DependentEntities(of: $0, in: context)) }
      for signal in signals + [plain] { _ = signal.take() }
      shelf["name"] = "A"
      try context.save()
      #expect(!plain.take())
      for signal in signals { #expect(signal.take()) }
    }
  }

  @Test("A count is given only when it is another one")
  func counts() async throws {
    try await withStore { _, coordinator in
      let context = ManagedObjectContext(coordinator)
      var counts = context.liveCount(of: titles).makeAsyncIterator()
      #expect(try await counts.next(isolation: #isolation) == 0)
      let following = Task { try await counts.next(isolation: #isolation) }
      for title in ["x", "y"] {
        let book = try context.create("Book")
        book["title"] = title
        try context.save()
        context.delete(book)
        try context.save()
        // The query may count now. Each turn lasts as long as other tests hold the main actor.
        for _ in 0..<5 { await Task.yield() }
      }
      try Self.add("Book", "z", in: context)
      #expect(try await following.value == 1)
    }
  }

  @Test("What a closure reads is read again after a save of the entities that it names")
  func closures() async throws {
    try await withStore { _, coordinator in
      let context = ManagedObjectContext(coordinator)
      var reads = 0
      let pages = context.live(entities: ["Book"]) { context in
        reads += 1
        return try context.fetch(FetchRequest("Book")).reduce(0) { $0 + ($1["pages"] as? Int ?? 0) }
      }
      var sums = pages.makeAsyncIterator()
      #expect(try await sums.next(isolation: #isolation) == 0)
      for pages in [300, 20] {
        try context.create("Novel")["pages"] = pages
        try context.save()
      }
      #expect(try await sums.next(isolation: #isolation) == 320)
      #expect(reads == 2)
    }
  }

  private static func error<Value>(of query: inout LiveQuery<Value>.Iterator) async -> (any Error)? {
    do {
      _ = try await query.next(isolation: #isolation)
      return nil
    } catch {
      return error
    }
  }

  @Test("Errors end the sequence: unknown names with the first element, a failed fetch when it fails")
  func errors() async throws {
    try await withStore { _, coordinator in
      let context = ManagedObjectContext(coordinator)
      var unknown = context.live(FetchRequest<ManagedObject>("Shop")).makeAsyncIterator()
      #expect((await Self.error(of: &unknown) as? PersistenceError)?.code == .unknownEntity)
      #expect(try await unknown.next(isolation: #isolation) == nil)
      var named = context.live(entities: ["Book", "Shop"]) { _ in 0 }.makeAsyncIterator()
      #expect((await Self.error(of: &named) as? PersistenceError)?.code == .unknownEntity)
      var failing = context.live(entities: ["Book"]) { context in
        guard try context.count(for: titles) == 0 else { throw CocoaError(.fileReadUnknown) }
      }.makeAsyncIterator()
      #expect(try await failing.next(isolation: #isolation) != nil)
      try Self.add("Book", "a", in: context)
      #expect(await Self.error(of: &failing) is CocoaError)
      try Self.add("Book", "b", in: context)
      #expect(try await failing.next(isolation: #isolation) == nil)
    }
  }

  @Test("A query ends with its context, and when its task is canceled")
  func ends() async throws {
    try await withStore { _, coordinator in
      var context: ManagedObjectContext? = ManagedObjectContext(coordinator)
      var books = try #require(context?.live(titles)).makeAsyncIterator()
      #expect(try await books.next(isolation: #isolation)?.isEmpty == true)
      context = nil
      #expect(try await books.next(isolation: #isolation) == nil)

      let kept = ManagedObjectContext(coordinator)
      var count = 0
      let task = Task { for try await _ in kept.live(titles) { count += 1 } }
      while count == 0 { await Task.yield() }
      task.cancel()
      try await task.value
      #expect(count == 1)
    }
  }

  @Test("A child's query follows the saves of its parent")
  func children() async throws {
    try await withStore { _, coordinator in
      let parent = ManagedObjectContext(coordinator)
      let child = ManagedObjectContext(parent: parent)
      var books = child.live(titles).makeAsyncIterator()
      #expect(try await books.next(isolation: #isolation)?.count == 0)
      try Self.add("Book", "a", in: parent)
      #expect(try await books.next(isolation: #isolation)?.count == 1)
      try Self.add("Book", "b", in: child)
      #expect(try await books.next(isolation: #isolation)?.count == 2)
    }
  }
}
