import Foundation
import PersistTestSupport

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Operations on stores as a whole. Those on stores of their own are bounded by their work; their statements aren't
/// counted.
extension GrowthOperation {
  static let stores: [GrowthOperation] = [
    GrowthOperation("importing objects") { stack, count in
      let list = (0..<count).map { number -> [String: Any?] in
        ["name": "\(number)", "number": number, "tags": [["name": "\(number)"]]]
      }
      let context = stack.context()
      return {
        try context.importObjects("Item", from: list)
        try context.save()
      }
    },
    history("reading a history") { _ = try $0.execute(.fetchHistory(after: HistoryToken?.none)) },
    history("purging a history") { _ = try $0.execute(.deleteHistory(before: Date(timeIntervalSinceNow: 60))) },
    migration("a migration in place", AutomaticMigrator()),
    migration("a migration by copying", AutomaticMigrator(alwaysCopies: true)),
  ]

  /// An operation on the history of so many saves.
  private static func history(
    _ name: String, _ run: @escaping @Sendable (PersistentStoreCoordinator) throws -> Void
  ) -> GrowthOperation {
    GrowthOperation(name) { stack, count in
      let coordinator = PersistentStoreCoordinator(model: stack.model)
      try coordinator.addStore(at: other(stack), options: StoreOptions(tracksHistory: true))
      let context = ManagedObjectContext(coordinator)
      for number in 0..<count {
        try context.make("Tag", ["name": "\(number)"])
        try context.save()
      }
      return { try run(coordinator) }
    }
  }

  /// A migration to a model with other names, types, relationships and indexes.
  private static func migration(_ name: String, _ migrator: AutomaticMigrator) -> GrowthOperation {
    GrowthOperation(name) { stack, count in
      let coordinator = PersistentStoreCoordinator(model: stack.model)
      let url = other(stack)
      let store = try coordinator.addStore(at: url)
      try fill(ManagedObjectContext(coordinator), count).save()
      try coordinator.remove(store)
      var description = model
      for index in description.entities.indices {
        for place in description.entities[index].attributes.indices {
          let former = description.entities[index].attributes[place].name
          description.entities[index].attributes[place].name = "new_" + former
          description.entities[index].attributes[place].renamingIdentifier = former
          description.entities[index].attributes[place].isIndexed = true
        }
        description.entities[index].attributes.append(
          AttributeDescription("added", .int64, isOptional: false, default: .integer(7)))
      }
      let version = ModelVersion(name: "2", model: try ManagedObjectModel(description))
      return { try migrator.migrate(storeAt: url, to: version, registry: ModelRegistry(versions: [version])) }
    }
  }

  /// The place of an operation's own store: a file beside the other one, or another schema.
  private static func other(_ stack: TestStack) -> URL { otherStore("Other", beside: stack.url) }
}
