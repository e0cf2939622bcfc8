import Foundation
import Persist
import PersistTestSupport

/// Two models of parts in boxes, in which places of the same name have different content: attributes with other types,
/// other defaults and other requirements, root entities that are renamed or exchange their names, abstract entities in
/// between, derived attributes with other derivations, and a relationship that is to-one or to-many, optional or
/// required in either model.
struct RandomValuesPair {
  /// An attribute of both models.
  struct Attribute {
    let entity: String
    let oldName: String
    let newName: String
    let old: AttributeDescription
    let new: AttributeDescription
    /// Whether only 0 and 1 have equal values in both types.
    var isFlag: Bool { old.type == .boolean }
  }

  let old: ModelVersion
  let new: ModelVersion
  private(set) var attributes: [Attribute] = []
  /// Whether a part's box is a to-many relationship in the old and in the new model.
  let isMany: (old: Bool, new: Bool)
  /// Whether a part has to have a box in the old and in the new model.
  let needsBox: (old: Bool, new: Bool)
  /// Whether the order of a box's parts is lost.
  let losesOrder: Bool
  /// The new names of entities by the old ones.
  private(set) var entities: [String: String] = [:]

  private static let types: [(AttributeType, AttributeType)] = [
    (.boolean, .int16), (.boolean, .int64), (.int16, .int32), (.int16, .int64), (.int32, .int64), (.int16, .double),
    (.int32, .double), (.int16, .float), (.int16, .decimal), (.int32, .decimal), (.int64, .decimal), (.int64, .int64),
    (.string, .string), (.string, .string), (.double, .double),
  ]

  init(_ numbers: inout SeededRandom) throws {
    func chance() -> Bool { Bool.random(using: &numbers) }
    func standard(_ type: AttributeType) -> StoredValue {
      switch type {
      case .boolean: .boolean(chance())
      case .string: .string("v\(Int.random(in: 1...9, using: &numbers))")
      case .double, .float: .double(Double(Int.random(in: 0...1, using: &numbers)))
      case .decimal: .decimal(Decimal(Int.random(in: 0...1, using: &numbers)))
      default: .integer(Int64(Int.random(in: 0...1, using: &numbers)))
      }
    }
    var attributes: [Attribute] = []
    func add(_ entity: String, _ name: String) {
      let (before, after) = Self.types.randomElement(using: &numbers) ?? (.int64, .int64)
      let isRenamed = Int.random(in: 0..<4, using: &numbers) == 0
      let newName = isRenamed ? "new" + name.capitalized : name
      let (isOld, isNew) = (chance(), chance())
      attributes.append(
        Attribute(
          entity: entity, oldName: name, newName: newName,
          old: AttributeDescription(
            name, before, isOptional: isOld, default: isOld && chance() ? .null : standard(before),
            isIndexed: chance()),
          new: AttributeDescription(
            newName, after, isOptional: isNew, default: isNew && chance() ? .null : standard(after),
            renamingIdentifier: isRenamed ? name : nil, isIndexed: chance())))
    }
    for name in ["size", "weight", "code"] { add("Part", name) }
    add("Screw", "pitch")
    add("Box", "depth")
    self.attributes = attributes
    let many = [(false, true), (true, false), (false, false), (false, false)][Int.random(in: 0...3, using: &numbers)]
    let isOrdered = many.0 || many.1 ? (false, false) : (chance(), chance())
    let needsBox = (!many.0 && !many.1 && chance(), !many.1 && chance())
    isMany = many
    self.needsBox = needsBox
    losesOrder = isOrdered.0 && !isOrdered.1
    let isRenamed = chance()
    let isSwapped = chance()
    let isNested = chance()
    let isDerived = chance()
    entities = [
      "Part": isRenamed ? "Piece" : "Part", "Screw": "Screw", "Box": isSwapped ? "Crate" : "Box",
      "Crate": isSwapped ? "Box" : "Crate",
    ]
    let names = entities
    func model(_ isNew: Bool) throws -> ManagedObjectModel {
      func name(_ entity: String) -> String { isNew ? names[entity] ?? entity : entity }
      func identifier(_ entity: String) -> String? { name(entity) == entity ? nil : entity }
      func own(_ entity: String) -> [AttributeDescription] {
        attributes.filter { $0.entity == entity }.map { isNew ? $0.new : $0.old }
      }
      func box(_ isMany: Bool, _ isRequired: Bool, was: Bool?) -> RelationshipDescription {
        let former = was.flatMap { $0 == isMany ? nil : $0 ? "boxes" : "box" }
        return isMany
          ? RelationshipDescription("boxes", toMany: name("Box"), inverse: "parts", renamingIdentifier: former)
          : RelationshipDescription(
            "box", to: name("Box"), inverse: "parts", isOptional: !isRequired, renamingIdentifier: former)
      }
      let label = AttributeDescription(
        "label", .string, derivation: isNew && isDerived ? "lowercase:(note)" : "uppercase:(note)")
      let note = AttributeDescription("note", .string)
      var entities = [
        EntityDescription(
          name("Part"), renamingIdentifier: identifier("Part"), attributes: own("Part") + [note, label],
          relationships: [
            isNew ? box(many.1, needsBox.1, was: many.0) : box(many.0, needsBox.0, was: nil)
          ]),
        EntityDescription(
          "Screw", parent: isNew && isNested ? "Fastener" : name("Part"), attributes: own("Screw")),
        EntityDescription(
          name("Box"), renamingIdentifier: identifier("Box"),
          attributes: own("Box") + [AttributeDescription("partCount", .int64, derivation: "parts.@count")],
          relationships: [
            RelationshipDescription(
              "parts", toMany: name("Part"), inverse: (isNew ? many.1 : many.0) ? "boxes" : "box",
              isOrdered: isNew ? isOrdered.1 : isOrdered.0)
          ]),
        EntityDescription(
          name("Crate"), renamingIdentifier: identifier("Crate"), attributes: [AttributeDescription("mark", .string)]),
      ]
      if isNew, isNested { entities.append(EntityDescription("Fastener", isAbstract: true, parent: name("Part"))) }
      return try ManagedObjectModel(
        ModelDescription(entities: entities, versionIdentifiers: [isNew ? "second" : "first"]))
    }
    old = ModelVersion(name: "1", model: try model(false))
    new = ModelVersion(name: "2", model: try model(true))
  }

  /// A third model: the second with a further attribute.
  func next() throws -> ModelVersion {
    var description = new.model.description
    for index in description.entities.indices where description.entities[index].parent == nil {
      description.entities[index].attributes.append(AttributeDescription("extra", .string))
    }
    description.versionIdentifiers = ["third"]
    return ModelVersion(name: "3", model: try ManagedObjectModel(description))
  }
}
