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

  private static let propertyElements = ["attribute", "relationship", "fetchedProperty"]

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

  private static func properties(of entity: MarkupElement) -> [MarkupElement] {
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

  /// Renames the entities and properties of a model and all references to them. Those with another name already stay.
  func apply(to model: inout MarkupElement) {
    model = renamed(model, in: nil)
  }

  /// - Parameter entity: the old name of the entity that contains the element.
  private func renamed(_ element: MarkupElement, in entity: String?) -> MarkupElement {
    var attributes = element.attributes
    func rename(_ key: String, _ names: [String: String]?) {
      if let name = attributes[key], let new = names?[name] { attributes[key] = new }
    }
    var inner = entity
    switch element.name {
    case "entity":
      inner = attributes["name"]
      rename("name", entities)
      rename("parentEntity", entities)
    case _ where Self.propertyElements.contains(element.name) && entity != nil:
      rename("name", entity.flatMap { properties[$0] })
      rename("inverseName", (attributes["inverseEntity"] ?? attributes["destinationEntity"]).flatMap { properties[$0] })
      rename("destinationEntity", entities)
      rename("inverseEntity", entities)
    case "constraint": rename("value", entity.flatMap { properties[$0] })
    case "fetchIndexElement": rename("property", entity.flatMap { properties[$0] })
    case "memberEntity", "element": rename("name", entities)
    case "fetchRequest": rename("entity", entities)
    default: break
    }
    var result = MarkupElement(name: element.name, attributes: attributes, line: element.line)
    result.text = element.text
    result.children = element.children.map { renamed($0, in: inner) }
    return result
  }
}
