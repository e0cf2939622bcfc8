import Foundation
import PersistTestSupport
import Testing

@testable import Persist

/// A coordinator with one store, for a test.
struct TestStack {
  let model: ManagedObjectModel
  let store: MemoryStore
  let coordinator: PersistentStoreCoordinator

  init(_ model: ManagedObjectModel, _ store: MemoryStore) throws {
    self.model = model
    self.store = store
    coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.add(store)
  }

  func context(classes: [String: ManagedObject.Type] = [:]) -> ManagedObjectContext {
    ManagedObjectContext(coordinator, classes: classes)
  }

  /// The same store, closed and opened again by a coordinator that never saw it.
  func reopened() throws -> TestStack { try TestStack(model, store) }
}

/// Runs `body` with a new store of a model.
func withStack(_ description: ModelDescription, _ body: (TestStack) throws -> Void) throws {
  let model = try ManagedObjectModel(description)
  try body(TestStack(model, MemoryStore(model)))
}

extension ManagedObjectContext {
  /// A new object with these values.
  @discardableResult
  func make(_ entity: String, _ values: KeyValuePairs<String, Any?> = [:]) throws -> ManagedObject {
    let object = try insertNewObject(forEntityName: entity)
    for (name, value) in values { try object.setValue(value, forKey: name) }
    return object
  }

  /// The only object with a name, or other attribute.
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
  /// The names of a to-many relationship's members: in order where it is ordered, else sorted.
  func names(_ relationship: String, by key: String = "name") throws -> [String] {
    let names = try related(relationship).compactMap { $0[key] as? String }
    return layout.entity.relationship(named: relationship)?.isOrdered == true ? names : names.sorted()
  }
}

/// The error of a body that must throw one of Persist's.
func persistError(_ body: () throws -> Void) -> PersistError? {
  do {
    try body()
  } catch {
    return error as? PersistError
  }
  return nil
}
