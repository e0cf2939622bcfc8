@testable import Persist
@testable import PersistModel

/// Changes that merge two properties of the old model, or change relationships. Origins are then determined by names,
/// not only by identities.
extension RandomModels {
  /// The next version, with changes of this kind among others.
  mutating func reshape() {
    change()
    for _ in 0..<pick(1...3) {
      let kind = pick(0...6)
      attempt { models in
        switch kind {
        case 0: models.addTwins()
        case 1: models.joinTwins()
        case 2: models.crossInverses()
        case 3: models.joinOneWayRelationships()
        case 4: models.joinTwinRelationships()
        case 5: models.moveIntoNewBase()
        default: models.changeParent()
        }
      }
    }
  }

  private func children(of index: Int) -> [Int] {
    entities.indices.filter { entities[$0].parent == entities[index].name }
  }

  private mutating func parentOfSeveral() -> Int? {
    one(of: entities.indices.filter { children(of: $0).count > 1 })
  }

  /// Attributes of one name in sibling entities, of the same type or of another.
  mutating func addTwins() {
    guard let parent = parentOfSeveral() else { return }
    let name = name("a")
    let types: [AttributeType] = [.int16, .int32, .string, .double, .date]
    let common = one(of: types) ?? .string
    for child in children(of: parent) {
      let type = chance(3) ? one(of: types) ?? common : common
      entities[child].attributes.append(AttributeDescription(name, type, userInfo: newIdentity()))
    }
  }

  /// Attributes of one name in siblings move up and become one.
  private mutating func joinTwins() {
    guard let parent = parentOfSeveral() else { return }
    let own = children(of: parent)
    let names = own.flatMap { entities[$0].attributes }.map(\.name)
    guard let name = one(of: names.filter { name in names.filter { $0 == name }.count > 1 }.sorted()) else { return }
    guard let kept = own.flatMap({ entities[$0].attributes }).first(where: { $0.name == name }) else { return }
    for child in own {
      entities[child].attributes.removeAll { $0.name == name }
      forgetUses(of: name, in: child)
    }
    entities[parent].attributes.append(kept)
  }

  /// Relationships without an inverse of one name in siblings, and the result when they move up.
  private mutating func joinTwinRelationships() {
    guard let parent = parentOfSeveral() else { return }
    let own = children(of: parent)
    let present = own.flatMap { entities[$0].relationships }.filter { $0.inverse == nil }
    let names = present.map(\.name)
    if let name = one(of: names.filter({ name in names.filter { $0 == name }.count > 1 }).sorted()),
      let kept = present.first(where: { $0.name == name })
    {
      for child in own { entities[child].relationships.removeAll { $0.name == name } }
      entities[parent].relationships.append(kept)
      return
    }
    let name = name("r")
    guard let destination = one(of: entities)?.name, let other = one(of: entities)?.name else { return }
    let isToMany = chance(2)
    for child in own {
      entities[child].relationships.append(
        RelationshipDescription(
          name: name, destination: chance(4) ? other : destination, inverse: nil, minimumCount: 0,
          maximumCount: isToMany ? 0 : 1, userInfo: newIdentity()))
    }
  }

  /// Two pairs of relationships between the same entities exchange their inverses.
  private mutating func crossInverses() {
    let places = entities.indices.flatMap { index in
      entities[index].relationships.indices.map { (index, $0) }
    }.filter { index, position in
      let relationship = entities[index].relationships[position]
      return relationship.inverse != nil && relationship.inverse != relationship.name
    }
    for (index, position) in places {
      let first = entities[index].relationships[position]
      let second = entities[index].relationships.indices.first { other in
        let relationship = entities[index].relationships[other]
        return other != position && relationship.destination == first.destination && relationship.inverse != nil
          && relationship.inverse != relationship.name && relationship.inverse != first.name
      }
      guard let second, let destination = self.index(of: first.destination) else { continue }
      let other = entities[index].relationships[second]
      guard let one = entities[destination].relationships.firstIndex(where: { $0.name == first.inverse }),
        let two = entities[destination].relationships.firstIndex(where: { $0.name == other.inverse })
      else { continue }
      entities[index].relationships[position].inverse = other.inverse
      entities[index].relationships[second].inverse = first.inverse
      entities[destination].relationships[one].inverse = other.name
      entities[destination].relationships[two].inverse = first.name
      return
    }
  }

  /// Relationships without an inverse become each other's inverses, or move up first.
  private mutating func joinOneWayRelationships() {
    for index in entities.indices {
      for position in entities[index].relationships.indices
      where entities[index].relationships[position].inverse == nil {
        let first = entities[index].relationships[position]
        guard let other = self.index(of: first.destination), other != index,
          let place = entities[other].relationships.firstIndex(where: {
            $0.inverse == nil && $0.destination == entities[index].name
          })
        else { continue }
        entities[index].relationships[position].inverse = entities[other].relationships[place].name
        entities[other].relationships[place].inverse = first.name
        return
      }
    }
    guard let one = anyEntity(), let other = anyEntity(), one != other else { return }
    for (from, to) in [(one, other), (other, one)] {
      let name = name("r")
      entities[from].relationships.append(
        RelationshipDescription(
          name: name, destination: entities[to].name, inverse: nil, minimumCount: 0,
          maximumCount: chance(2) ? 0 : 1, userInfo: newIdentity()))
    }
  }

  /// A new entity above a root, with one of its attributes, of the same type or of another.
  private mutating func moveIntoNewBase() {
    guard let index = anyEntity(where: { $0.parent == nil && !$0.attributes.isEmpty }) else { return }
    var base = EntityDescription(name("e"), isAbstract: chance(2), userInfo: newIdentity())
    var attribute = entities[index].attributes.removeFirst()
    forgetUses(of: attribute.name, in: index)
    if chance(3), !attribute.isDerived, attribute.type == .int16 { attribute.type = .int32 }
    base.attributes.append(attribute)
    entities[index].parent = base.name
    entities.append(base)
  }
}
