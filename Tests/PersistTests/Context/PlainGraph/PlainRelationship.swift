import Persist

/// One side of a relationship, as the plain graph knows it.
struct PlainRelationship {
  let entity: String
  let name: String
  let destination: String
  /// Nil for a relationship without an inverse.
  let inverse: String?
  var isToMany = false
  var isOrdered = false
  var rule = DeleteRule.nullify
}

/// Entities with every kind of relationship and every delete rule, for random graphs.
enum PlainSchema {
  static let roots = [
    "Node", "Tag", "Passport", "Box", "Drawer", "Keeper", "Room", "Hall", "Place", "Album", "Jury", "Club", "Host",
    "Locker", "Pledge",
  ]
  static let entities = roots + ["Leaf"]

  /// Both sides of each pair; a side that is its own inverse once.
  static let relationships: [PlainRelationship] = [
    .init(entity: "Node", name: "parent", destination: "Node", inverse: "children"),
    .init(entity: "Node", name: "children", destination: "Node", inverse: "parent", isToMany: true, isOrdered: true),
    .init(entity: "Node", name: "friends", destination: "Node", inverse: "friends", isToMany: true),
    .init(entity: "Node", name: "spouse", destination: "Node", inverse: "spouse"),
    .init(entity: "Node", name: "tags", destination: "Tag", inverse: "nodes", isToMany: true),
    .init(entity: "Tag", name: "nodes", destination: "Node", inverse: "tags", isToMany: true),
    .init(entity: "Node", name: "ranked", destination: "Tag", inverse: "rankers", isToMany: true, isOrdered: true),
    .init(entity: "Tag", name: "rankers", destination: "Node", inverse: "ranked", isToMany: true),
    .init(entity: "Node", name: "listed", destination: "Tag", inverse: "listers", isToMany: true, isOrdered: true),
    .init(entity: "Tag", name: "listers", destination: "Node", inverse: "listed", isToMany: true, isOrdered: true),
    .init(entity: "Node", name: "passport", destination: "Passport", inverse: "holder", rule: .cascade),
    .init(entity: "Passport", name: "holder", destination: "Node", inverse: "passport"),
    .init(entity: "Node", name: "boss", destination: "Node", inverse: "aide"),
    .init(entity: "Node", name: "aide", destination: "Node", inverse: "boss"),
    .init(entity: "Node", name: "locker", destination: "Locker", inverse: "user", rule: .noAction),
    .init(entity: "Locker", name: "user", destination: "Node", inverse: "locker"),
    .init(entity: "Node", name: "pledge", destination: "Pledge", inverse: "giver"),
    .init(entity: "Pledge", name: "giver", destination: "Node", inverse: "pledge", rule: .deny),
    .init(entity: "Node", name: "favourite", destination: "Tag", inverse: nil),
    .init(entity: "Node", name: "box", destination: "Box", inverse: "things"),
    .init(entity: "Box", name: "things", destination: "Node", inverse: "box", isToMany: true, rule: .cascade),
    .init(entity: "Node", name: "drawer", destination: "Drawer", inverse: "papers"),
    .init(
      entity: "Drawer", name: "papers", destination: "Node", inverse: "drawer", isToMany: true, isOrdered: true,
      rule: .cascade),
    .init(entity: "Node", name: "keeper", destination: "Keeper", inverse: "wards"),
    .init(entity: "Keeper", name: "wards", destination: "Node", inverse: "keeper", isToMany: true, rule: .deny),
    .init(entity: "Node", name: "room", destination: "Room", inverse: "guests"),
    .init(entity: "Room", name: "guests", destination: "Node", inverse: "room", isToMany: true, rule: .noAction),
    .init(entity: "Node", name: "hall", destination: "Hall", inverse: "people", rule: .noAction),
    .init(entity: "Hall", name: "people", destination: "Node", inverse: "hall", isToMany: true),
    .init(entity: "Node", name: "visits", destination: "Place", inverse: "visitors", isToMany: true, rule: .noAction),
    .init(entity: "Place", name: "visitors", destination: "Node", inverse: "visits", isToMany: true),
    .init(entity: "Node", name: "whole", destination: "Node", inverse: "parts"),
    .init(entity: "Node", name: "parts", destination: "Node", inverse: "whole", isToMany: true, rule: .cascade),
    .init(entity: "Node", name: "follows", destination: "Node", inverse: "followers", isToMany: true, isOrdered: true),
    .init(entity: "Node", name: "followers", destination: "Node", inverse: "follows", isToMany: true),
    .init(entity: "Node", name: "albums", destination: "Album", inverse: "photos", isToMany: true, rule: .cascade),
    .init(entity: "Album", name: "photos", destination: "Node", inverse: "albums", isToMany: true),
    .init(entity: "Node", name: "juries", destination: "Jury", inverse: "judges", isToMany: true),
    .init(entity: "Jury", name: "judges", destination: "Node", inverse: "juries", isToMany: true, rule: .deny),
    .init(entity: "Node", name: "club", destination: "Club", inverse: "members", rule: .deny),
    .init(entity: "Club", name: "members", destination: "Node", inverse: "club", isToMany: true),
    .init(entity: "Node", name: "host", destination: "Host", inverse: "lodgers", rule: .cascade),
    .init(entity: "Host", name: "lodgers", destination: "Node", inverse: "host", isToMany: true, isOrdered: true),
    .init(entity: "Node", name: "picks", destination: "Tag", inverse: nil, isToMany: true),
    .init(entity: "Node", name: "shelf", destination: "Tag", inverse: nil, isToMany: true, isOrdered: true),
    .init(entity: "Drawer", name: "scraps", destination: "Tag", inverse: nil, isToMany: true, rule: .cascade),
    .init(entity: "Node", name: "minions", destination: "Node", inverse: nil, isToMany: true),
    .init(entity: "Leaf", name: "stem", destination: "Box", inverse: "twigs"),
    .init(entity: "Box", name: "twigs", destination: "Leaf", inverse: "stem", isToMany: true, isOrdered: true),
  ]

  private static let byEntity: [String: [PlainRelationship]] = {
    var sides = Dictionary(grouping: relationships, by: \.entity)
    sides["Leaf", default: []] += sides["Node"] ?? []
    return sides
  }()

  /// The relationships that an entity declares or inherits.
  static func relationships(of entity: String) -> [PlainRelationship] { byEntity[entity] ?? [] }

  /// The relationships without an inverse that lead to an entity.
  static func oneWays(to entity: String) -> [PlainRelationship] {
    relationships.filter { $0.inverse == nil && isKind(entity, $0.destination) }
  }

  /// The other side of a relationship.
  static func inverse(of side: PlainRelationship) -> PlainRelationship? {
    side.inverse.flatMap { relationship(side.destination, $0) }
  }

  static func relationship(_ entity: String, _ name: String) -> PlainRelationship? {
    relationships(of: entity).first { $0.name == name }
  }

  /// Whether an object of an entity may be the destination of a relationship.
  static func isKind(_ entity: String, _ destination: String) -> Bool {
    entity == destination || (entity == "Leaf" && destination == "Node")
  }

  static var model: ModelDescription {
    ModelDescription(
      entities: roots.map { entity in
        EntityDescription(
          entity,
          attributes: [
            AttributeDescription("name", .string), AttributeDescription("value", .int64),
            AttributeDescription("note", .string),
            AttributeDescription("blob", .binary, allowsExternalStorage: true),
          ],
          relationships: declared(by: entity))
      } + [EntityDescription("Leaf", parent: "Node", relationships: declared(by: "Leaf"))])
  }

  private static func declared(by entity: String) -> [RelationshipDescription] {
    relationships.filter { $0.entity == entity }.map { side in
      side.isToMany
        ? RelationshipDescription(
          side.name, toMany: side.destination, inverse: side.inverse, isOrdered: side.isOrdered, deleteRule: side.rule)
        : RelationshipDescription(side.name, to: side.destination, inverse: side.inverse, deleteRule: side.rule)
    }
  }
}
