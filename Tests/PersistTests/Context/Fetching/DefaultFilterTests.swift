import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Default filters", .timeLimit(.minutes(5)))
struct DefaultFilterTests {
  /// Folder {name, notes, recent: fetched notes}; Note {text, size, deletedAt, folder}; Memo: Note.
  static let notes = ModelDescription(entities: [
    EntityDescription(
      "Folder", attributes: [AttributeDescription("name", .string)],
      relationships: [RelationshipDescription("notes", toMany: "Note", inverse: "folder", deleteRule: .cascade)],
      fetchedProperties: [
        FetchedPropertyDescription("small", request: FetchRequestDescription(entity: "Note", predicate: "size < 5"))
      ]),
    EntityDescription(
      "Note",
      attributes: [
        AttributeDescription("text", .string), AttributeDescription("size", .int64),
        AttributeDescription("deletedAt", .date),
      ],
      relationships: [RelationshipDescription("folder", to: "Folder", inverse: "notes")]),
    EntityDescription("Memo", parent: "Note", attributes: [AttributeDescription("isUrgent", .boolean)]),
  ])

  private static func isPresent() throws -> FetchPredicate { try FetchPredicate("deletedAt == nil") }

  /// A context with a filter and ten notes, of which the even ones are deleted and the last four are memos.
  private func withNotes(_ body: (TestStack, ManagedObjectContext) throws -> Void) throws {
    try withStack(Self.notes) { stack in
      let context = stack.context()
      let folder = try context.make("Folder", ["name": "home"])
      for number in 0..<10 {
        try context.make(
          number < 6 ? "Note" : "Memo",
          ["text": "\(number)", "size": number, "deletedAt": number % 2 == 0 ? Date() : nil, "folder": folder])
      }
      try context.save()
      let filtered = stack.context()
      filtered.filterByDefault(try FetchRequest<ManagedObject>("Note", where: "deletedAt == nil"))
      try body(stack, filtered)
    }
  }

  @Test(
    "A request finds what it would with the condition, whatever it asks for", .law("filters", short: 40, long: 2000))
  func everyRequest() throws {
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      try withStack(Self.notes) { stack in
        let context = stack.context()
        for number in 0..<Int.random(in: 0...12, using: &random) {
          try Self.make(number, in: context, &random)
        }
        try context.save()
        let plain = stack.context()
        let filtered = stack.context()
        filtered.filterByDefault(try FetchRequest<ManagedObject>("Note", where: "deletedAt == nil"))
        let child = ManagedObjectContext(parent: filtered)
        // The same unsaved changes in both.
        let changes = random
        for context in [plain, filtered] {
          random = changes
          for note in try context.fetch(FetchRequest("Note", sortedBy: "text").ignoringDefaultFilters()) {
            switch Int.random(in: 0..<4, using: &random) {
            case 0: note["deletedAt"] = Bool.random(using: &random) ? Date(timeIntervalSinceReferenceDate: 1) : nil
            case 1: context.delete(note)
            default: break
            }
          }
          try Self.make(100, in: context, &random)
        }
        for entity in ["Note", "Memo"] {
          var request = FetchRequest<ManagedObject>(entity, sortedBy: "text")
          let hasCondition = Bool.random(using: &random)
          let condition: FetchPredicate? = hasCondition ? try FetchPredicate("size < 6 OR size == 8") : nil
          request.predicate = condition
          request.includesSubentities = Bool.random(using: &random)
          request.fetchLimit = Int.random(in: 0...3, using: &random)
          request.includesPendingChanges = Bool.random(using: &random)
          var expected = request
          expected.predicate = .and([condition, try Self.isPresent()].compactMap(\.self))
          // The saved state of a child is its parent's present one.
          for context in request.includesPendingChanges ? [filtered, child] : [filtered] {
            try Self.expectSame(request, in: context, expected, in: plain)
            try Self.expectSame(
              request.ignoringDefaultFilters(), in: context, request, in: plain)
          }
        }
      }
    }
  }

  private static func make(
    _ number: Int, in context: ManagedObjectContext, _ random: inout SeededRandom
  ) throws {
    let isDeleted = Bool.random(using: &random)
    try context.make(
      Bool.random(using: &random) ? "Note" : "Memo",
      [
        "text": "\(number)", "size": Int.random(in: 0..<10, using: &random),
        "deletedAt": isDeleted ? Date(timeIntervalSinceReferenceDate: 0) : nil,
      ])
  }

  private static func expectSame(
    _ request: FetchRequest<ManagedObject>, in context: ManagedObjectContext, _ expected: FetchRequest<ManagedObject>,
    in plain: ManagedObjectContext
  ) throws {
    func texts(_ objects: some Sequence<ManagedObject>) -> [String] { objects.map { $0["text"] as? String ?? "" } }
    let wanted = try texts(plain.fetch(expected))
    try #expect(texts(context.fetch(request)) == wanted, "\(request)")
    try #expect(context.count(for: request) == wanted.count)
    try #expect(context.fetch(request.returning(Int.self)) == [wanted.count])
    try #expect(context.fetchObjectIDs(request).count == wanted.count)
    try #expect(texts(context.fetchBatched(request)) == wanted)
    var batches: [String] = []
    try context.forEachBatch(of: request, size: 2) { batches += texts($0) }
    #expect(batches == wanted)
    guard context.parent == nil else { return }
    var (rows, expectedRows) = (request.returning(FetchedRow.self), expected.returning(FetchedRow.self))
    rows.propertiesToFetch = ["text"]
    expectedRows.propertiesToFetch = ["text"]
    try #expect(context.fetch(rows).map(\.values) == plain.fetch(expectedRows).map(\.values))
    guard request.includesPendingChanges, request.fetchLimit == 0 else { return }
    let controller = FetchedResultsController(fetchRequest: request, managedObjectContext: context)
    try controller.performFetch()
    #expect(texts(controller.fetchedObjects ?? []) == wanted)
  }

  @Test("Relationships, paths, identifiers and imports reach objects that requests don't find")
  func graph() throws {
    try withNotes { _, context in
      let folder = try context.named("Folder", "home")
      try #expect(folder.names("notes", by: "text").count == 10)
      try #expect(context.count("Folder", matching: FetchPredicate("ANY notes.text == '0'")) == 1)
      let hidden = try #require(try folder.many("notes").first { $0["text"] as? String == "0" })
      try #expect(context.existingObject(with: hidden.objectID) === hidden)
      try #expect(context.findFirst("Note", byAttribute: "text", with: "0") == nil)
      try #expect(context.fetchObjects(folder, "small") == ["1", "3"])
    }
  }

  @Test("Batch updates and deletions concern the objects that a fetch finds")
  func batches() throws {
    try withNotes { stack, context in
      var update = BatchUpdateRequest("Note", set: ["size": .value(100)])
      try #expect(context.execute(update).count == 5)
      update.ignoresDefaultFilters = true
      try #expect(context.execute(update).count == 10)
      try #expect(context.execute(BatchDeleteRequest("Memo")).count == 2)
      let request = FetchRequest<ManagedObject>("Memo").ignoringDefaultFilters()
      try #expect(context.execute(BatchDeleteRequest(request)).count == 2)
      try #expect(stack.context().count("Note") == 6)
    }
  }

  @Test("A list follows objects that the filter begins or ceases to hide")
  func controller() throws {
    try withNotes { _, context in
      let controller = FetchedResultsController(
        fetchRequest: FetchRequest<ManagedObject>("Note", sortedBy: "text"), managedObjectContext: context)
      try controller.performFetch()
      func texts() -> [String] { (controller.fetchedObjects ?? []).map { $0["text"] as? String ?? "" } }
      #expect(texts() == ["1", "3", "5", "7", "9"])
      let all = try context.fetch(FetchRequest("Note", sortedBy: "text").ignoringDefaultFilters())
      all[0]["deletedAt"] = nil
      all[1]["deletedAt"] = Date()
      try context.save()
      #expect(texts() == ["0", "3", "5", "7", "9"])
    }
  }

  @Test("An asynchronous fetch and a stream apply the filter")
  @MainActor
  func asynchronous() async throws {
    try await withTemporaryFolder { folder in
      let stack = try TestStack(ManagedObjectModel(Self.notes), at: folder.appendingPathComponent("Notes.sqlite"))
      let context = stack.context()
      for number in 0..<6 { try context.make("Note", ["size": number, "deletedAt": number < 2 ? Date() : nil]) }
      try context.save()
      context.filterByDefault(try FetchRequest<ManagedObject>("Note", where: "deletedAt == nil"))
      let request = FetchRequest<ManagedObject>("Note")
      try await #expect(context.fetch(request, progress: nil).count == 4)
      try await #expect(context.fetch(request.returning(FetchedRow.self), progress: nil).count == 4)
      try await #expect(context.fetch(request.returning(Int.self), progress: nil) == [4])
      var streamed = 0
      for try await _ in context.stream(request) { streamed += 1 }
      #expect(streamed == 4)
    }
  }

  @Test("A container gives its filters to its contexts, and those to their children")
  @MainActor
  func container() async throws {
    let container = try PersistentContainer(inMemory: ManagedObjectModel(Self.notes))
    container.filterByDefault(try FetchRequest<ManagedObject>("Note", where: "deletedAt == nil"))
    try container.viewContext.make("Note", ["deletedAt": Date()])
    try container.viewContext.make("Note")
    try container.viewContext.save()
    try #expect(container.viewContext.count("Note") == 1)
    try await #expect(container.read { try $0.count("Note") } == 1)
    try await #expect(container.performBackgroundTask { try ManagedObjectContext(parent: $0).count("Note") } == 1)
    try #expect(ManagedObjectContext(container.persistentStoreCoordinator).count("Note") == 2)
    container.filterByDefault(FetchRequest<ManagedObject>("Note"))
    try #expect(container.newContext().count("Note") == 2)
  }

  @Test("A wrong name, and a filter that only some of the objects have, are errors of requests")
  func refusals() throws {
    try withNotes { stack, _ in
      let context = stack.context()
      context.defaultFilters["Nothing"] = try FetchPredicate("deletedAt == nil")
      #expect(persistError { _ = try context.count("Note") }?.code == .unknownEntity)
      context.defaultFilters = ["Note": try FetchPredicate("nothing == nil")]
      #expect(persistError { _ = try context.count("Memo") }?.code == .unknownProperty)
      context.defaultFilters = ["Memo": try FetchPredicate("isUrgent == YES")]
      #expect(persistError { _ = try context.count("Note") }?.code == .invalidRequest)
      try #expect(context.count("Memo") == 0)
      try #expect(context.count("Folder") == 1)
      var notes = FetchRequest<ManagedObject>("Note")
      notes.includesSubentities = false
      try #expect(context.count(for: notes) == 6)
      try #expect(context.count(for: FetchRequest<ManagedObject>("Note").ignoringDefaultFilters()) == 10)
    }
  }
}

extension ManagedObjectContext {
  /// The texts of a fetched property's objects.
  fileprivate func fetchObjects(_ object: ManagedObject, _ name: String) throws -> [String] {
    let slot = try #require(object.entity.property(named: name)?.slot)
    return object.fetched(at: slot).map { $0["text"] as? String ?? "" }
  }
}
