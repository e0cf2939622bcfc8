import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore

/// A coordinator with one store in a file, for a test.
struct TestStack {
  let model: ManagedObjectModel
  let url: URL
  let store: RecordingStore
  let coordinator: PersistentStoreCoordinator

  init(_ model: ManagedObjectModel, at url: URL, options: StoreOptions = StoreOptions()) throws {
    self.model = model
    self.url = url
    let location = StoreLocation(url)
    let engine = try location.engine
    store = RecordingStore(
      try engine.canCreateStore(at: location)
        ? engine.createStore(at: location, model: model, options: options)
        : engine.openStore(at: location, model: model, options: options, allowsGaps: false))
    coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.add(store)
  }

  func context(classes: [String: ManagedObject.Type] = [:]) -> ManagedObjectContext {
    ManagedObjectContext(coordinator, classes: classes)
  }

  /// The store closed and reopened, with a new coordinator.
  func reopened(options: StoreOptions = StoreOptions()) throws -> TestStack {
    try store.close()
    return try TestStack(model, at: url, options: options)
  }
}

/// Runs `body` with a new store of a model.
func withStack(_ description: ModelDescription, _ body: (TestStack) throws -> Void) throws {
  let model = try ManagedObjectModel(description)
  try withTemporaryStore { try body(TestStack(model, at: $0)) }
}

extension ManagedObjectContext {
  /// Creates an object with these values.
  @discardableResult
  func make(_ entity: String, _ values: KeyValuePairs<String, Any?> = [:]) throws -> ManagedObject {
    let object = try create(entity)
    for (name, value) in values { try object.setValue(value, forKey: name) }
    return object
  }

  /// Returns the only object with a name, or other attribute.
  func named(_ entity: String, _ name: String, by key: String = "name") throws -> ManagedObject {
    let found = try fetch(FetchRequest(entity)).filter { $0[key] as? String == name }
    try #require(found.count == 1, "\(found.count) objects named \(name)")
    return found[0]
  }

  func names(_ entity: String, by key: String = "name") throws -> [String] {
    try fetch(FetchRequest(entity, sortedBy: key)).compactMap { $0[key] as? String }
  }
}

extension ManagedObject {
  func many(_ name: String) throws -> RelationshipSet<ManagedObject> { try related(name) }
  func one(_ name: String) -> ManagedObject? { self[name] as? ManagedObject }
  /// The names of a to-many relationship's members: in order if it is ordered, otherwise sorted.
  func names(_ relationship: String, by key: String = "name") throws -> [String] {
    let names = try related(relationship).compactMap { $0[key] as? String }
    return layout.entity.relationship(named: relationship)?.isOrdered == true ? names : names.sorted()
  }
}

/// The error thrown by a body that must throw one of Persist's.
func persistError(_ body: () throws -> Void) -> PersistenceError? {
  do {
    try body()
  } catch {
    return error as? PersistenceError
  }
  return nil
}
