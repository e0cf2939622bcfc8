@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Properties that are removed from a model and return unchanged in a later version.
extension RandomModels {
  /// Properties that were removed together, as they were then.
  struct Absent {
    struct Part {
      /// The identity of the entity that had the property, and of a relationship's destination.
      let owner: String
      let destination: String
      let attribute: AttributeDescription?
      let relationship: RelationshipDescription?

      var name: String { attribute?.name ?? relationship?.name ?? "" }
    }

    let parts: [Part]
  }

  mutating func leaveOrComeBack() {
    if chance(2), !absent.isEmpty { comeBack() } else if chance(2) { attributeLeaves() } else { relationshipLeaves() }
  }

  private func identity(of index: Int) -> String { entities[index].userInfo[Self.identity] ?? "" }

  private mutating func attributeLeaves() {
    let places = entities.indices.flatMap { index in
      entities[index].attributes.indices.filter { !entities[index].attributes[$0].isDerived }.map { (index, $0) }
    }
    guard let (index, position) = one(of: places) else { return }
    let attribute = entities[index].attributes.remove(at: position)
    forgetUses(of: attribute.name, in: index)
    absent.append(
      Absent(parts: [
        .init(owner: identity(of: index), destination: "", attribute: attribute, relationship: nil)
      ]))
  }

  private mutating func relationshipLeaves() {
    let places = entities.indices.flatMap { index in entities[index].relationships.indices.map { (index, $0) } }
    guard let (index, position) = one(of: places) else { return }
    let relationship = entities[index].relationships[position]
    guard let destination = self.index(of: relationship.destination) else { return }
    var gone = [(index, relationship, destination)]
    if let inverse = relationship.inverse, inverse != relationship.name || destination != index {
      // An inherited inverse remains in place, and so does the relationship.
      guard let back = entities[destination].relationships.first(where: { $0.name == inverse }) else { return }
      gone.append((destination, back, index))
    }
    for (owner, relationship, _) in gone {
      entities[owner].relationships.removeAll { $0.name == relationship.name }
      forgetUses(of: relationship.name, in: owner)
    }
    absent.append(
      Absent(
        parts: gone.map { owner, relationship, destination in
          .init(
            owner: identity(of: owner), destination: identity(of: destination), attribute: nil,
            relationship: relationship)
        }))
  }

  private mutating func comeBack() {
    let back = absent.remove(at: pick(0...absent.count - 1))
    let names = Set(entities.flatMap { $0.attributes.map(\.name) + $0.relationships.map(\.name) })
    func index(_ identity: String) -> Int? { entities.indices.first { self.identity(of: $0) == identity } }
    guard back.parts.allSatisfy({ !names.contains($0.name) && canAdd($0.name) && index($0.owner) != nil }) else {
      return
    }
    for part in back.parts {
      guard let owner = index(part.owner) else { return }
      if let attribute = part.attribute { entities[owner].attributes.append(attribute) }
      if var relationship = part.relationship, let destination = index(part.destination) {
        relationship.destination = entities[destination].name
        entities[owner].relationships.append(relationship)
      }
    }
  }
}
