import Foundation
import Persist

/// Finds the names of the properties that key paths read.
enum KeyPathNames {
  // Unchecked: used only while the lock is held.
  private struct Resolver: @unchecked Sendable {
    weak var model: NSManagedObjectModel?
    let resolver: KeyPathResolver
  }

  private static let resolvers = Locked<[ObjectIdentifier: Resolver]>([:])

  /// Returns the names, joined by dots; nil if no model in use has an entity with the root's class.
  static func path(of keyPath: AnyKeyPath) -> String? {
    guard let type = Swift.type(of: keyPath).rootType as? NSManagedObject.Type,
      let description = EntityDescriptions.description(whereClassIs: type), let entity = description.resolvedEntity,
      let model = description.managedObjectModel
    else { return nil }
    return resolvers.withLock { resolvers in
      let id = ObjectIdentifier(model)
      if resolvers[id]?.model == nil {
        resolvers = resolvers.filter { $0.value.model != nil }
        guard let made = try? model.persistModel() else { return nil }
        resolvers[id] = Resolver(model: model, resolver: KeyPathResolver(model: made, classes: model.classes))
      }
      return try? resolvers[id]?.resolver.keys(of: keyPath, from: entity).joined(separator: ".")
    }
  }
}
