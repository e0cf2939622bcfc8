import PersistTestSupport

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// A graph with every kind of relationship, and random edits of it.
struct RandomGraph {
  static let model = ModelDescription(entities: [
    EntityDescription(
      "Node", attributes: [AttributeDescription("name", .string), AttributeDescription("value", .int64)],
      relationships: [
        RelationshipDescription("parent", to: "Node", inverse: "children"),
        RelationshipDescription("children", toMany: "Node", inverse: "parent", isOrdered: true),
        RelationshipDescription("friends", toMany: "Node", inverse: "friends"),
        RelationshipDescription("spouse", to: "Node", inverse: "spouse"),
        RelationshipDescription("tags", toMany: "Tag", inverse: "nodes"),
        RelationshipDescription("ranked", toMany: "Tag", inverse: "rankers", isOrdered: true),
        RelationshipDescription("passport", to: "Passport", inverse: "holder", deleteRule: .cascade),
        RelationshipDescription("favourite", to: "Tag", inverse: nil),
        RelationshipDescription("box", to: "Box", inverse: "things"),
      ]),
    EntityDescription("Leaf", parent: "Node", attributes: [AttributeDescription("colour", .string)]),
    EntityDescription(
      "Tag", attributes: [AttributeDescription("name", .string), AttributeDescription("value", .int64)],
      relationships: [
        RelationshipDescription("nodes", toMany: "Node", inverse: "tags"),
        RelationshipDescription("rankers", toMany: "Node", inverse: "ranked"),
      ]),
    EntityDescription(
      "Passport", attributes: [AttributeDescription("name", .string), AttributeDescription("value", .int64)],
      relationships: [RelationshipDescription("holder", to: "Node", inverse: "passport")]),
    EntityDescription(
      "Box", attributes: [AttributeDescription("name", .string), AttributeDescription("value", .int64)],
      relationships: [RelationshipDescription("things", toMany: "Node", inverse: "box", deleteRule: .cascade)]),
  ])

  let context: ManagedObjectContext
  var random: SeededRandom
  /// Every object ever created, retained so that it can be examined again.
  var objects: [ManagedObject] = []

  init(_ context: ManagedObjectContext, seed: UInt64) {
    self.context = context
    random = SeededRandom(seed: seed)
  }

  /// Fetches every object of the model's entities that a context finds.
  static func everything(in context: ManagedObjectContext) throws -> [ManagedObject] {
    try ["Node", "Tag", "Passport", "Box"].flatMap { try context.fetch(FetchRequest($0)) }
  }

  var alive: [ManagedObject] { objects.filter { $0.managedObjectContext === context && !$0.isDeleted } }

  /// Makes one random edit.
  mutating func edit() throws {
    switch Int.random(in: 0..<20, using: &random) {
    case 0...3: try make()
    case 4...5: try any()?.setValue(Int.random(in: 0..<5, using: &random), forKey: "value")
    case 6...9: try setToOne()
    case 10...12: try insertMember()
    case 13...14: try removeMember()
    case 15...16: try replaceMembers()
    case 17: try moveMember()
    default: try delete()
    }
  }

  private mutating func any(_ entity: String? = nil) -> ManagedObject? {
    alive.filter { object in entity.map { object.layout.isKind(ofEntityAt: index(of: $0)) } ?? true }
      .randomElement(using: &random)
  }

  private func index(of entity: String) -> Int { (context.persistentStoreCoordinator.managedObjectModel.entitiesByName[entity]?.number ?? 0) - 1 }

  private mutating func make() throws {
    let entity = ["Node", "Node", "Leaf", "Tag", "Passport", "Box"].randomElement(using: &random) ?? "Node"
    objects.append(try context.make(entity, ["name": "\(entity) \(objects.count)"]))
  }

  private mutating func relationship(
    _ isIncluded: (RelationshipLayout) -> Bool
  ) -> (owner: ManagedObject, relationship: RelationshipLayout, target: String)? {
    guard let owner = any(), let found = owner.layout.relationships.filter(isIncluded).randomElement(using: &random)
    else { return nil }
    return (owner, found, context.layouts[found.destinationIndex].entity.name)
  }

  private mutating func setToOne() throws {
    guard let (owner, relationship, target) = relationship({ !$0.isToMany }) else { return }
    owner.setToOne(Bool.random(using: &random) ? any(target) : nil, at: relationship.slot)
  }

  private mutating func insertMember() throws {
    guard let (owner, relationship, target) = relationship(\.isToMany), let member = any(target) else { return }
    try owner.many(relationship.name).insert(member)
  }

  private mutating func removeMember() throws {
    guard let (owner, relationship, _) = relationship(\.isToMany) else { return }
    let members = try owner.many(relationship.name)
    if let member = members.randomElement(using: &random) { members.remove(member) }
  }

  private mutating func replaceMembers() throws {
    guard let (owner, relationship, target) = relationship(\.isToMany) else { return }
    var members: [ManagedObject] = []
    for _ in 0..<Int.random(in: 0..<4, using: &random) {
      if let member = any(target), !members.contains(member) { members.append(member) }
    }
    try owner.many(relationship.name).replace(with: members)
  }

  private mutating func moveMember() throws {
    guard let (owner, relationship, _) = relationship(\.isOrdered) else { return }
    let members = try owner.many(relationship.name)
    guard let member = members.randomElement(using: &random) else { return }
    members.insert(member, at: Int.random(in: 0..<members.count, using: &random))
  }

  /// Deletes an object. A favorite has no inverse, so that its holders release it first.
  private mutating func delete() throws {
    guard let object = any() else { return }
    for holder in alive where holder.layout.entity.relationship(named: "favourite") != nil {
      if holder.one("favourite") === object { holder["favourite"] = nil }
    }
    context.delete(object)
  }
}

/// The state of a graph, by the objects' names.
struct GraphState: Equatable {
  private(set) var objects: [String: [String: String]] = [:]

  init(_ alive: some Sequence<ManagedObject>) throws {
    for object in alive {
      var properties = ["entity": object.entity.name, "value": "\(object["value"] ?? "none")"]
      for relationship in object.layout.relationships {
        if relationship.isToMany {
          properties[relationship.name] = try object.names(relationship.name).joined(separator: ", ")
        } else {
          properties[relationship.name] = object.one(relationship.name)?["name"] as? String ?? "none"
        }
      }
      objects[object["name"] as? String ?? "?"] = properties
    }
  }

  /// Everything that a context contains and finds.
  init(fetching context: ManagedObjectContext) throws {
    try self.init(RandomGraph.everything(in: context))
  }

  func differences(from other: GraphState) -> [String] {
    Set(objects.keys).union(other.objects.keys).sorted().compactMap { name in
      let (mine, theirs) = (objects[name], other.objects[name])
      guard mine != theirs else { return nil }
      guard let mine, let theirs else { return "\(name) is only \(mine == nil ? "there" : "here")" }
      let different = mine.filter { theirs[$0.key] != $0.value }
      return "\(name): " + different.map { "\($0.key) \($0.value) ≠ \(theirs[$0.key] ?? "")" }.joined(separator: "; ")
    }
  }

  /// The relationships whose two sides disagree.
  static func disagreements(_ alive: some Sequence<ManagedObject>) throws -> [String] {
    try alive.flatMap { object in
      try object.layout.relationships.flatMap { relationship -> [String] in
        let others =
          relationship.isToMany
          ? Array(try object.many(relationship.name)) : object.one(relationship.name).map { [$0] } ?? []
        return try others.compactMap { other in
          guard let back = other.back(of: relationship) else { return nil }
          let agrees =
            back.isToMany
            ? try other.many(back.name).objectIDs.contains(object.objectID) : other.one(back.name) === object
          return agrees && !other.isDeleted ? nil : "\(object).\(relationship.name) has \(other), which doesn't agree"
        }
      }
    }
  }
}
