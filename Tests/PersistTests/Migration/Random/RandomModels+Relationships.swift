@testable import Persist
@testable import PersistModel

extension RandomModels {
  mutating func changeRelationships() {
    switch pick(0...15) {
    case 0...2: addRelationship()
    case 3: removeRelationship()
    case 4...6: renameRelationship()
    case 7...9: changeShape()
    case 10: removeInverse()
    case 11: addInverse()
    case 12: changeDestination()
    case 13: moveRelationshipUp()
    case 14: moveRelationshipDown()
    default: changeRelationshipRules()
    }
  }

  private mutating func relationship(
    _ name: String, to destination: Int, inverse: String?, isToMany: Bool
  ) -> RelationshipDescription {
    RelationshipDescription(
      name: name, destination: entities[destination].name, inverse: inverse, minimumCount: 0,
      maximumCount: isToMany ? 0 : 1, isOrdered: isToMany && chance(2), userInfo: newIdentity())
  }

  mutating func addRelationship() {
    guard let first = anyEntity(), let second = chance(4) ? first : anyEntity() else { return }
    let (name, inverse) = (name("r"), name("r"))
    let kind = pick(0...8)
    switch kind {
    case 0, 1:
      // Without an inverse.
      entities[first].relationships.append(relationship(name, to: second, inverse: nil, isToMany: kind == 1))
    case 2:
      // Its own inverse.
      let isToMany = chance(2)
      entities[first].relationships.append(relationship(name, to: first, inverse: name, isToMany: isToMany))
    case 3:
      entities[first].relationships.append(relationship(name, to: second, inverse: inverse, isToMany: false))
      entities[second].relationships.append(relationship(inverse, to: first, inverse: name, isToMany: false))
    default:
      let isToMany = chance(2)
      entities[first].relationships.append(relationship(name, to: second, inverse: inverse, isToMany: isToMany))
      entities[second].relationships.append(relationship(inverse, to: first, inverse: name, isToMany: true))
    }
  }

  /// A random relationship, by the indexes of its entity and its own.
  private mutating func anyRelationship(
    where fits: (RelationshipDescription) -> Bool = { _ in true }
  ) -> (Int, Int)? {
    one(
      of: entities.indices.flatMap { index in
        entities[index].relationships.indices.filter { fits(entities[index].relationships[$0]) }.map { (index, $0) }
      })
  }

  /// The entity that declares the inverse of a relationship.
  private func inverse(of relationship: RelationshipDescription) -> (Int, Int)? {
    guard let name = relationship.inverse, let destination = index(of: relationship.destination) else { return nil }
    for index in lineage(of: destination) {
      if let place = entities[index].relationships.firstIndex(where: { $0.name == name }) { return (index, place) }
    }
    return nil
  }

  private mutating func removeRelationship() {
    guard let (index, position) = anyRelationship() else { return }
    let gone = entities[index].relationships[position]
    if let (other, place) = inverse(of: gone), (other, place) != (index, position) {
      let name = entities[other].relationships[place].name
      entities[other].relationships.remove(at: place)
      forgetUses(of: name, in: other)
    }
    entities[index].relationships.removeAll { $0.name == gone.name }
    forgetUses(of: gone.name, in: index)
    // An attribute may use its name.
    guard chance(4), canAdd(gone.name) else { return }
    entities[index].attributes.append(AttributeDescription(gone.name, .string, userInfo: newIdentity()))
  }

  private mutating func removeInverse() {
    guard let (index, position) = anyRelationship(where: { $0.inverse != nil }),
      let (other, place) = inverse(of: entities[index].relationships[position]), (other, place) != (index, position)
    else { return }
    entities[index].relationships[position].inverse = nil
    let gone = entities[other].relationships.remove(at: place)
    forgetUses(of: gone.name, in: other)
  }

  private mutating func addInverse() {
    guard let (index, position) = anyRelationship(where: { $0.inverse == nil }),
      let destination = self.index(of: entities[index].relationships[position].destination)
    else { return }
    let name = name("r")
    let isToMany = !chance(3)
    entities[index].relationships[position].inverse = name
    entities[destination].relationships.append(
      relationship(name, to: index, inverse: entities[index].relationships[position].name, isToMany: isToMany))
  }

  /// To-one becomes to-many or, rarely, the reverse; or an order is added or removed.
  private mutating func changeShape() {
    guard let (index, position) = anyRelationship() else { return }
    if !entities[index].relationships[position].isToMany {
      entities[index].relationships[position].maximumCount = 0
      forgetUses(of: entities[index].relationships[position].name, in: index)
    } else if chance(4) {
      entities[index].relationships[position].maximumCount = 1
      entities[index].relationships[position].minimumCount = 0
      entities[index].relationships[position].isOrdered = false
    } else {
      entities[index].relationships[position].isOrdered.toggle()
    }
  }

  private mutating func renameRelationship() {
    guard let (index, position) = anyRelationship() else { return }
    let old = entities[index].relationships[position]
    let pair = inverse(of: old)
    rename(index, position, pair, keepsIdentifier: true)
    // The other side too; one renaming identifier is enough for both.
    guard chance(2), let (other, place) = pair, (other, place) != (index, position) else { return }
    rename(other, place, (index, position), keepsIdentifier: chance(2))
  }

  private mutating func rename(_ index: Int, _ position: Int, _ inverse: (Int, Int)?, keepsIdentifier: Bool) {
    let old = entities[index].relationships[position]
    guard canRename(old.userInfo, had: old.renamingIdentifier) else { return }
    let new = name("r")
    entities[index].relationships[position].name = new
    entities[index].relationships[position].renamingIdentifier =
      keepsIdentifier ? identifier(old.userInfo, had: old.renamingIdentifier) : nil
    if let (other, place) = inverse { entities[other].relationships[place].inverse = new }
    renameUses(of: old.name, to: new, in: index)
  }

  /// Moves up or down in the hierarchy of the destination. An inverse moves with the destination.
  private mutating func changeDestination() {
    guard let (index, position) = anyRelationship(where: { $0.inverse == nil }),
      let destination = self.index(of: entities[index].relationships[position].destination)
    else { return }
    let others = (lineage(of: destination) + hierarchy(of: destination)).filter { $0 != destination }
    guard let other = one(of: others) else { return }
    entities[index].relationships[position].destination = entities[other].name
  }

  private mutating func moveRelationshipUp() {
    guard let (index, position) = anyRelationship(), let parent = self.index(of: entities[index].parent) else { return }
    let moved = entities[index].relationships[position]
    let inverse = inverse(of: moved)
    guard inverse.map({ $0 != (index, position) }) ?? true else { return }
    if let (other, place) = inverse { entities[other].relationships[place].destination = entities[parent].name }
    entities[index].relationships.remove(at: position)
    forgetUses(of: moved.name, in: index)
    entities[parent].relationships.append(moved)
  }

  private mutating func moveRelationshipDown() {
    guard let (index, position) = anyRelationship(),
      let child = one(of: entities.indices.filter { entities[$0].parent == entities[index].name })
    else { return }
    let moved = entities[index].relationships[position]
    let inverse = inverse(of: moved)
    guard inverse.map({ $0 != (index, position) }) ?? true else { return }
    if let (other, place) = inverse { entities[other].relationships[place].destination = entities[child].name }
    entities[index].relationships.remove(at: position)
    forgetUses(of: moved.name, in: index)
    entities[child].relationships.append(moved)
  }

  private mutating func changeRelationshipRules() {
    guard let (index, position) = anyRelationship() else { return }
    let kind = pick(0...4)
    let text = name("t")
    switch kind {
    case 0: entities[index].relationships[position].isOptional.toggle()
    case 1 where entities[index].relationships[position].isToMany:
      entities[index].relationships[position].maximumCount = 500
    case 2: entities[index].relationships[position].deleteRule = .cascade
    case 3: entities[index].relationships[position].versionHashModifier = text
    default: entities[index].relationships[position].userInfo["note"] = text
    }
  }
}
