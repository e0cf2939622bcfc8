import Persist

/// The renames that lead from one version of a model to another, according to renaming identifiers.
struct ModelRenames {
  /// A part that two sides rename in different ways.
  struct Conflict {
    let place: String
    let first: String
    let second: String
  }

  /// New names of entities, by the old.
  private(set) var entities: [String: String] = [:]
  /// New names of properties, by the old names of entity and property.
  private(set) var properties: [String: [String: String]] = [:]

  static let propertyElements = ["attribute", "relationship", "fetchedProperty", "composite"]

  init(from old: MarkupElement, to new: MarkupElement) {
    let pairs = Self.pairs(old.children(named: "entity"), new.children(named: "entity"))
    for (before, after) in pairs {
      guard let oldName = before.attributes["name"], let newName = after.attributes["name"] else { continue }
      if oldName != newName { entities[oldName] = newName }
      for (one, other) in Self.pairs(Self.properties(of: before), Self.properties(of: after)) {
        guard let oldProperty = one.attributes["name"], let newProperty = other.attributes["name"],
          oldProperty != newProperty
        else { continue }
        properties[oldName, default: [:]][oldProperty] = newProperty
      }
    }
  }

  /// The elements of the properties that an entity declares.
  static func properties(of entity: MarkupElement) -> [MarkupElement] {
    entity.children.filter { propertyElements.contains($0.name) }
  }

  /// Pairs elements by name; an element whose name is gone with the one that has it as its renaming identifier.
  private static func pairs(_ old: [MarkupElement], _ new: [MarkupElement]) -> [(MarkupElement, MarkupElement)] {
    let oldNames = Set(old.compactMap { $0.attributes["name"] })
    return old.compactMap { before in
      guard let name = before.attributes["name"] else { return nil }
      if let same = new.first(where: { $0.attributes["name"] == name }) { return (before, same) }
      let identifiers = [name, before.attributes["elementID"]].compactMap { $0 }
      return new.first { after in
        after.attributes["elementID"].map(identifiers.contains) == true
          && after.attributes["name"].map(oldNames.contains) == false
      }.map { (before, $0) }
    }
  }

  func conflicts(with other: ModelRenames) -> [Conflict] {
    let ofEntities = entities.compactMap { old, new -> Conflict? in
      guard let their = other.entities[old], their != new else { return nil }
      return Conflict(place: old, first: new, second: their)
    }
    let ofProperties = properties.flatMap { entity, names in
      names.compactMap { old, new -> Conflict? in
        guard let their = other.properties[entity]?[old], their != new else { return nil }
        return Conflict(place: "\(entity).\(old)", first: new, second: their)
      }
    }
    return (ofEntities + ofProperties).sorted { $0.place < $1.place }
  }

  /// Returns the name before the renames that a name had; nil if it belongs to something that was added since.
  static func oldName(of name: String, in renames: [String: String]) -> String? {
    if let (old, _) = renames.first(where: { $0.value == name }) { return old }
    return renames[name] == nil ? name : nil
  }
}
