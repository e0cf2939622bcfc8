@testable import Persist
@testable import PersistCore
@testable import PersistModel

extension RandomModels {
  mutating func changeEntities() {
    switch pick(0...13) {
    case 0...1: addEntity()
    case 2: removeEntity()
    case 3...5: renameEntity()
    case 6: swapEntityNames()
    case 7: leaveParent()
    case 8: insertParent()
    case 9: changeParent()
    case 10: removeParent()
    case 11: if let index = anyEntity(where: \.isAbstract) { entities[index].isAbstract = false }
    case 12: if chance(4), let index = anyEntity() { entities[index].isAbstract = true }
    default:
      let text = name("t")
      guard let index = anyEntity() else { return }
      if chance(2) { entities[index].versionHashModifier = text } else { entities[index].userInfo["note"] = text }
    }
  }

  mutating func addEntity() {
    let parent = chance(2) ? one(of: entities)?.name : nil
    let isAbstract = chance(6)
    entities.append(EntityDescription(name("e"), isAbstract: isAbstract, parent: parent, userInfo: newIdentity()))
    for _ in 0..<pick(0...4) { addAttribute(to: entities.count - 1) }
  }

  private mutating func removeEntity() {
    let parents = Set(entities.compactMap(\.parent))
    guard entities.count > 2, let index = anyEntity(where: { !parents.contains($0.name) }) else { return }
    removeEntity(at: index)
  }

  private mutating func removeEntity(at index: Int) {
    let gone = entities.remove(at: index)
    for other in entities.indices {
      for relationship in entities[other].relationships
      where relationship.destination == gone.name
        || relationship.inverse.map({ name in gone.relationships.contains { $0.name == name } }) ?? false
      {
        entities[other].relationships.removeAll { $0.name == relationship.name }
        forgetUses(of: relationship.name, in: other)
      }
    }
  }

  private mutating func renameEntity() {
    guard let index = anyEntity() else { return }
    let (old, info) = (entities[index].name, entities[index].userInfo)
    guard canRename(info, had: entities[index].renamingIdentifier) else { return }
    entities[index].renamingIdentifier = identifier(info, had: entities[index].renamingIdentifier)
    entities[index].name = name("e")
    replaceEntityNames([old: entities[index].name])
  }

  private mutating func swapEntityNames() {
    let places = Array(entities.indices.shuffled(using: &numbers).prefix(2))
    let pair = places.map { entities[$0] }
    guard pair.count == 2,
      pair.allSatisfy({ $0.renamingIdentifier == nil && identifier($0.userInfo, had: nil) == $0.name }),
      pair.allSatisfy({ canRename($0.userInfo, had: nil) })
    else { return }
    for (place, (own, other)) in zip(places, [(pair[0], pair[1]), (pair[1], pair[0])]) {
      entities[place].renamingIdentifier = own.name
      entities[place].name = other.name
      entities[place].versionHashModifier = name("t")
    }
    replaceEntityNames([pair[0].name: pair[1].name, pair[1].name: pair[0].name])
  }

  private mutating func replaceEntityNames(_ names: [String: String]) {
    for index in entities.indices {
      if let parent = entities[index].parent { entities[index].parent = names[parent] ?? parent }
      for place in entities[index].relationships.indices {
        let destination = entities[index].relationships[place].destination
        entities[index].relationships[place].destination = names[destination] ?? destination
      }
    }
  }

  /// Makes a subentity a root, with or without its inherited properties; its rows move to a separate table.
  private mutating func leaveParent() {
    guard let index = anyEntity(where: { $0.parent != nil }) else { return }
    if chance(2) {
      let inherited = lineage(of: index).dropFirst().flatMap { entities[$0].attributes }
      entities[index].attributes += inherited.filter { !$0.isDerived }
    }
    entities[index].parent = nil
  }

  /// A new parent of an entity without one, with or without the entity's properties.
  private mutating func insertParent() {
    guard let index = anyEntity() else { return }
    var parent = EntityDescription(
      name("e"), isAbstract: chance(2), parent: entities[index].parent, userInfo: newIdentity())
    if chance(2), !entities[index].attributes.isEmpty {
      let attribute = entities[index].attributes.removeFirst()
      forgetUses(of: attribute.name, in: index)
      parent.attributes.append(attribute)
    }
    entities[index].parent = parent.name
    entities.append(parent)
  }

  /// Moves an entity within its hierarchy.
  mutating func changeParent() {
    guard let index = anyEntity(where: { $0.parent != nil }), let root = lineage(of: index).last else { return }
    let below = hierarchy(of: index)
    guard let parent = one(of: hierarchy(of: root).filter({ !below.contains($0) })) else { return }
    entities[index].parent = entities[parent].name
  }

  /// Removes an entity from the middle or top of a hierarchy: its subentities adopt its properties, or don't.
  private mutating func removeParent() {
    let parents = Set(entities.compactMap(\.parent))
    guard let index = anyEntity(where: { parents.contains($0.name) }) else { return }
    let gone = entities[index]
    let takes = chance(2)
    for child in entities.indices where entities[child].parent == gone.name {
      entities[child].parent = gone.parent
      if takes { entities[child].attributes += gone.attributes.filter { !$0.isDerived } }
    }
    removeEntity(at: index)
  }
}
