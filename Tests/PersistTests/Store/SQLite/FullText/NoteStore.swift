import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Notes with searchable texts, some of them letters with a subject, and their authors.
struct NoteStore {
  static func description(_ search: FullTextSearch? = .words, title: FullTextSearch? = nil) -> ModelDescription {
    var (body, heading, subject) = (
      AttributeDescription("body", .string), AttributeDescription("title", .string),
      AttributeDescription("subject", .string)
    )
    body.fullTextSearch = search
    heading.fullTextSearch = title
    subject.fullTextSearch = search
    return ModelDescription(entities: [
      EntityDescription(
        "Note", attributes: [heading, body, AttributeDescription("rank", .int32)],
        relationships: [RelationshipDescription("author", to: "Author", inverse: "notes")]),
      EntityDescription("Letter", parent: "Note", attributes: [subject]),
      EntityDescription(
        "Author", attributes: [AttributeDescription("name", .string)],
        relationships: [RelationshipDescription("notes", toMany: "Note", inverse: "author")]),
    ])
  }

  let store: any PersistentStore
  let context: ManagedObjectContext

  init(_ description: ModelDescription = description(), at url: URL?, options: StoreOptions = StoreOptions()) throws {
    let model = try ManagedObjectModel(description)
    let location = StoreLocation(url)
    store = try url.map { _ in try location.engine.canCreateStore(at: location) } ?? true
      ? location.engine.createStore(at: location, model: model, options: options)
      : location.engine.openStore(at: location, model: model, options: options, allowsGaps: false)
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.add(store)
    context = ManagedObjectContext(coordinator)
  }

  /// The store of a test that is about SQLite.
  var file: SQLiteStore {
    get throws { try #require(store as? SQLiteStore) }
  }

  /// Saves a note for each text.
  @discardableResult
  func add(_ bodies: [String?], entity: String = "Note") throws -> [ManagedObject] {
    let notes = try bodies.map { try context.make(entity, ["body": $0]) }
    try context.save()
    return notes
  }

  /// The bodies of the notes that match a predicate, in order.
  func bodies(_ format: String, _ arguments: any FetchArgument...) throws -> [String] {
    var request = FetchRequest<ManagedObject>("Note")
    request.predicate = try FetchPredicate(format, arguments: arguments)
    request.sortDescriptors = [FetchSortDescriptor("body")]
    return try context.fetch(request).map { $0["body"] as? String ?? "" }
  }
}

/// Runs `body` with a new store of notes.
func withNotes(
  _ description: ModelDescription = NoteStore.description(), _ body: (NoteStore, URL) throws -> Void
) throws {
  try withTemporaryStore { url in try body(NoteStore(description, at: url), url) }
}

/// Runs SQL as another program would, with SQLite's default settings.
func runSQL(_ sql: String, at url: URL) throws {
  guard url.isFileURL else {
    try ForeignSQL.run(sql, at: url)
    return
  }
  let connection = try SQLiteConnection(url, mode: .readWrite)
  defer { connection.close() }
  try connection.execute(.trustedSchemaOn)
  try connection.execute(SQLText(storedIn: StoredDefinition(sql: sql)))
}

func problems(at url: URL, _ description: ModelDescription = NoteStore.description()) throws -> [StoreProblem] {
  var problems: [StoreProblem] = []
  let registry = try ModelRegistry(versions: [ModelVersion(name: "notes", model: ManagedObjectModel(description))])
  try checkStore(at: url, registry: registry) { problems.append($0) }
  return problems
}
