@testable import Persist
@testable import PersistModel

/// A small model of two hierarchies, one relationship between them and one attribute, each of which can be declared
/// anywhere: the material of single changes.
struct HierarchyModel {
  enum Kind: String, CaseIterable {
    case none, toOne, toMany, orderedToMany, oneToOne, manyToOne, manyToOneOrdered, oneToMany, oneToManyOrdered
    case manyToMany, manyToManyOrdered, manyToManyBothOrdered

    var isToMany: Bool {
      ![.toOne, .oneToOne, .manyToOne, .manyToOneOrdered].contains(self)
    }
    var isOrdered: Bool {
      [.orderedToMany, .oneToManyOrdered, .manyToManyOrdered, .manyToManyBothOrdered].contains(self)
    }
    /// Whether the inverse is to-many and ordered; nil without an inverse.
    var inverse: (isToMany: Bool, isOrdered: Bool)? {
      switch self {
      case .none, .toOne, .toMany, .orderedToMany: nil
      case .oneToOne, .oneToMany, .oneToManyOrdered: (false, false)
      case .manyToOne, .manyToMany, .manyToManyOrdered: (true, false)
      case .manyToOneOrdered, .manyToManyBothOrdered: (true, true)
      }
    }
  }

  /// The owners' hierarchy, by child; nil for a root.
  var owners: [String: String?] = ["Root": nil, "Cat": "Root", "Kitten": "Cat", "Dog": "Root"]
  /// The members' hierarchy.
  var members: [String: String?] = ["Person": nil, "Worker": "Person", "Boss": "Worker"]
  var abstract: Set<String> = []
  var kind = Kind.none
  /// The entities that declare the relationship.
  var declaring = ["Root"]
  var destination = "Person"
  var name = "friends"
  /// The former name of the relationship.
  var was: String?
  var inverseName = "back"
  var inverseWas: String?
  /// Whether the relationship is between objects of the owners' hierarchy.
  var isSelf = false
  /// The attribute's type in every entity that declares it.
  var attribute: [String: AttributeType] = [:]
  var attributeName = "value"
  var attributeWas: String?

  func model() throws -> ManagedObjectModel {
    var entities = owners.merging(isSelf ? [:] : members) { first, _ in first }.sorted { $0.key < $1.key }
      .map { name, parent in
        EntityDescription(
          name, isAbstract: abstract.contains(name), parent: parent,
          attributes: parent == nil ? [AttributeDescription("kept", .string)] : [])
      }
    func index(_ name: String) -> Int? { entities.firstIndex { $0.name == name } }
    for (entity, type) in attribute {
      guard let index = index(entity) else { continue }
      entities[index].attributes.append(
        AttributeDescription(attributeName, type, renamingIdentifier: attributeWas))
    }
    for entity in declaring where kind != .none {
      guard let owner = index(entity), let member = index(destination) else { continue }
      let suffix = entity == declaring[0] ? "" : entity
      let inverse = kind.inverse.map { _ in inverseName + suffix }
      entities[owner].relationships.append(
        relationship(name, destination, inverse, kind.isToMany, kind.isOrdered, was))
      guard let back = kind.inverse, let inverse else { continue }
      entities[member].relationships.append(
        relationship(
          inverse, entity, name, back.isToMany, back.isOrdered, inverseWas.map { $0 + suffix }))
    }
    return try ManagedObjectModel(ModelDescription(entities: entities))
  }

  private func relationship(
    _ name: String, _ destination: String, _ inverse: String?, _ isToMany: Bool, _ isOrdered: Bool, _ was: String?
  ) -> RelationshipDescription {
    RelationshipDescription(
      name: name, destination: destination, inverse: inverse, minimumCount: 0, maximumCount: isToMany ? 0 : 1,
      isOrdered: isOrdered, renamingIdentifier: was)
  }
}
