import Foundation
import InMemoryTracing
import MetricsTestKit
import PersistObservability
import Persist
import PersistTestSupport
import Testing
import Tracing

/// A store with a telemetry of its own, and what that has recorded.
struct Observed {
  let tracer = InMemoryTracer()
  let metrics = TestMetrics()
  let coordinator: PersistentStoreCoordinator
  let telemetry: StoreTelemetry

  static let model = ModelDescription(entities: [
    EntityDescription(
      "Shelf", attributes: [AttributeDescription("name", .string)],
      relationships: [RelationshipDescription("books", toMany: "Book", inverse: "shelf")]),
    EntityDescription(
      "Book", attributes: [AttributeDescription("title", .string), AttributeDescription("pages", .int64)],
      relationships: [RelationshipDescription("shelf", to: "Shelf", inverse: "books")]),
  ])

  init(
    _ url: URL?, model: ModelDescription = Self.model, options: StoreOptions = .automaticMigration,
    minimumWait: Duration = .milliseconds(1)
  ) throws {
    telemetry = StoreTelemetry(tracer: tracer, metrics: metrics, minimumWait: minimumWait)
    coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(model))
    var options = options
    options.telemetry = telemetry
    if let url { try coordinator.addStore(at: url, options: options) } else {
      try coordinator.addInMemoryStore(options: options)
    }
  }

  /// A container with an observed store.
  func container(_ url: URL) throws -> PersistentContainer {
    let container = PersistentContainer(name: "Shop", model: try ManagedObjectModel(Self.model))
    var options = StoreOptions.automaticMigration
    options.telemetry = telemetry
    container.persistentStoreDescriptions = [PersistentStoreDescription(type: .sqlite, url: url, options: options)]
    try container.loadPersistentStores()
    return container
  }

  func close() throws { for store in coordinator.persistentStores { try coordinator.remove(store) } }

  /// The spans that ended since the last call, in the order of their ends.
  func spans() -> [FinishedInMemorySpan] { tracer.popFinishedSpans() }

  /// Adds a shelf with books, in one save.
  func fill(books: Int = 3) throws {
    let context = ManagedObjectContext(coordinator)
    let shelf = try context.create("Shelf")
    shelf["name"] = "Poems"
    for number in 1...books {
      let book = try context.create("Book")
      book["title"] = "Book \(number)"
      book["pages"] = 100 + number
      book["shelf"] = shelf
    }
    try context.save()
  }
}

extension FinishedInMemorySpan {
  /// An attribute's value as text.
  subscript(_ name: String) -> String? {
    attributes.get(name).map { attribute in
      switch attribute.toSpanAttribute() {
      case .string(let text): text
      case .int64(let number): String(number)
      case .int32(let number): String(number)
      default: "\(attribute)"
      }
    }
  }
}

/// A place for an observed store.
enum Place: CaseIterable {
  case file, server

  /// Without a server if there is none here.
  static var all: [Place] {
    #if canImport(PersistPostgreSQL)
      if case .success = TestServer.url { return [.file, .server] }
    #endif
    return [.file]
  }

  func withStore(_ body: (URL) throws -> Void) throws {
    #if canImport(PersistPostgreSQL)
      if self == .server { return try TestServer.withSchema { try body(#require(URL(string: $0))) } }
    #endif
    try withTemporaryFile(body)
  }
}
