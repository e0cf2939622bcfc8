import Persist
import PersistInspection

/// Names of objects for people.
struct ObjectNames {
  /// The attributes that the user chose, by entity name; guessed for other entities.
  let chosen: [String: String]
  let store: StudioStore
  let context: ManagedObjectContext
  private static let longest = 80

  /// Returns the names of objects; those without one, and those that no longer exist, are missing.
  func names(of ids: some Sequence<ManagedObjectID>) throws -> [ManagedObjectID: String] {
    var names: [ManagedObjectID: String] = [:]
    for (entityName, ids) in Dictionary(grouping: Set(ids), by: \.entityName) {
      let entity = try context.entity(named: entityName)
      let property = attribute(of: entity).flatMap { entity.property(named: $0.name) }
      guard let leaf = property.flatMap(RowColumn.Leaf.init) else { continue }
      let values = try LeafReader(entity: entity, store: store, context: context).read(ids, leaves: [leaf])
      for id in ids {
        guard let key = id.primaryKey, let value = values[key]?.leaves.first else { continue }
        names[id] = Self.text(value)
      }
    }
    return names
  }

  /// The attribute that names the objects of an entity.
  func attribute(of entity: Entity) -> AttributeDescription? {
    let chosen = chosen[entity.name].flatMap { entity.attribute(named: $0) }
    if let chosen, !chosen.isTransient, chosen.type != .composite { return chosen }
    return NamingAttribute.guess(for: entity).flatMap { entity.attribute(named: $0) }
  }

  private static func text(_ value: LeafReader.Value) -> String? {
    switch value {
    case .value(let value):
      guard let text = ValueText.text(value), !text.isEmpty else { return nil }
      return text.count > longest ? text.prefix(longest) + "…" : text
    case .longText(let length): return "text of \(length) characters"
    case .bytes: return nil
    }
  }
}
