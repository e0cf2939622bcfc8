// compile-with: -enable-upcoming-feature MemberImportVisibility -enable-upcoming-feature InternalImportsByDefault
public import Foundation
public import Persist

// Names of each module that Persist exports, and their members.

public typealias Described = Persist.EntityDescription
public typealias Fetched = Persist.FetchRequest<Persist.ManagedObject>
public typealias Container = Persist.PersistentContainer

extension Persist.FetchRequest {
  public var half: Int { fetchLimit / 2 }
}

extension Persist.ManagedObjectContext {
  public func items() throws -> [Persist.ManagedObject] {
    try fetch(Persist.FetchRequest("Item", where: "quantity < %@", 5))
  }
}

public func coordinator(at url: URL) throws -> Persist.PersistentStoreCoordinator {
  let model = try Persist.ManagedObjectModel {
    Persist.EntityDescription("Item") { Persist.AttributeDescription("quantity", .int64) }
  }
  let coordinator = Persist.PersistentStoreCoordinator(model: model)
  try coordinator.addStore(at: url, options: .automaticMigration)
  return coordinator
}
