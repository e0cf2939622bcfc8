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
  static let roots = ["Node", "Tag", "Passport", "Box", "Drawer", "Keeper", "Room", "Hall", "Place"]
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
  ]

  static func relationships(of entity: String) -> [PlainRelationship] {
    let declaring = entity == "Leaf" ? "Node" : entity
    return relationships.filter { $0.entity == declaring }
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
          relationships: relationships(of: entity).map { side in
            side.isToMany
              ? RelationshipDescription(
                side.name, toMany: side.destination, inverse: side.inverse, isOrdered: side.isOrdered,
                deleteRule: side.rule)
              : RelationshipDescription(
                side.name, to: side.destination, inverse: side.inverse, deleteRule: side.rule)
          })
      } + [EntityDescription("Leaf", parent: "Node")])
  }
}
