@testable import Persist

/// Models that change at random from version to version; equal seeds, equal models.
struct RandomModels {
  private var numbers: SeededNumbers
  private var entities: [EntityDescription] = []
  private var counter = 0
  /// Names that new attributes took from renamed ones in this version; a second renaming from them would be ambiguous.
  private var reused: Set<String> = []

  init(seed: UInt64) {
    numbers = SeededNumbers(seed)
    for _ in 0..<Int.random(in: 3...6, using: &numbers) { addEntity() }
    for _ in 0..<Int.random(in: 2...6, using: &numbers) { addRelationship() }
  }

  func model() throws -> ManagedObjectModel { try ManagedObjectModel(ModelDescription(entities: entities)) }

  /// The next version: a few changes, each known to later versions by its renaming identifier.
  mutating func change() {
    reused = []
    for index in entities.indices {
      entities[index].renamingIdentifier = nil
      for position in entities[index].attributes.indices {
        entities[index].attributes[position].renamingIdentifier = nil
      }
      for position in entities[index].relationships.indices {
        entities[index].relationships[position].renamingIdentifier = nil
      }
    }
    for _ in 0..<Int.random(in: 1...5, using: &numbers) {
      switch Int.random(in: 0..<19, using: &numbers) {
      case 0: addEntity()
      case 1: addRelationship()
      case 2: removeEntity()
      case 3: removeRelationship()
      case 4, 5: changeAttribute { $0.renamingIdentifier = $0.renamingIdentifier ?? $0.name; $0.name = $1 }
      case 6: changeAttribute { attribute, _ in
        attribute.isOptional = false
        attribute.defaultValue = Self.sample(attribute.type)
      }
      case 7: changeAttribute { attribute, _ in attribute.isOptional = true }
      case 8: changeAttribute { attribute, _ in
        if attribute.type == .int16 {
          attribute.type = .int64
        } else if attribute.type == .int32 {
          attribute.type = .double
          if !attribute.defaultValue.isNull { attribute.defaultValue = Self.sample(.double) }
        }
      }
      case 9: addAttribute()
      case 10: removeAttribute()
      case 11: changeShape()
      case 12, 13: renameRelationship()
      case 14: moveUp()
      case 15: moveDown()
      case 16: leaveParent()
      case 17: reuseName()
      default: renameEntity()
      }
    }
  }

  private mutating func name(_ prefix: String) -> String {
    counter += 1
    // A letter at random before the name, so that new things come between old ones.
    let letter = ["A", "G", "M", "S", "Z"].randomElement(using: &numbers) ?? "A"
    return prefix == "e" ? "\(letter)\(prefix)\(counter)" : "\(letter.lowercased())\(prefix)\(counter)"
  }

  private static func sample(_ type: AttributeType) -> StoredValue {
    switch type {
    case .string: .string("it's a default")
    case .boolean: .boolean(true)
    case .int16, .int32, .int64: .integer(7)
    case .double: .double(7)
    default: .null
    }
  }

  private mutating func addEntity() {
    let parent = Int.random(in: 0..<3, using: &numbers) == 0 ? entities.randomElement(using: &numbers)?.name : nil
    entities.append(EntityDescription(name("e"), parent: parent))
    for _ in 0..<3 { addAttribute(to: entities.count - 1) }
  }

  private mutating func addAttribute(to index: Int? = nil) {
    guard let index = index ?? entities.indices.randomElement(using: &numbers) else { return }
    let types: [AttributeType] = [.int16, .int32, .string, .boolean, .double]
    let type = types.randomElement(using: &numbers) ?? .string
    let isRequired = Bool.random(using: &numbers)
    let attribute = AttributeDescription(
      name("a"), type, isOptional: !isRequired, default: isRequired ? Self.sample(type) : .null)
    entities[index].attributes.append(attribute)
    if Int.random(in: 0..<4, using: &numbers) == 0 {
      entities[index].indexes.append(FetchIndexDescription("by_\(attribute.name)", on: attribute.name))
    }
  }

  private mutating func removeAttribute() {
    guard let index = entities.indices.randomElement(using: &numbers),
      let attribute = entities[index].attributes.randomElement(using: &numbers)
    else { return }
    entities[index].attributes.removeAll { $0.name == attribute.name }
    entities[index].indexes.removeAll { $0.name == "by_\(attribute.name)" }
  }

  private mutating func changeAttribute(_ change: (inout AttributeDescription, String) -> Void) {
    let name = name("a")
    guard let index = entities.indices.randomElement(using: &numbers),
      let position = entities[index].attributes.indices.randomElement(using: &numbers)
    else { return }
    let old = entities[index].attributes[position].name
    guard !reused.contains(old) else { return }
    change(&entities[index].attributes[position], name)
    if entities[index].attributes[position].name != old {
      entities[index].indexes.removeAll { $0.name == "by_\(old)" }
    }
  }

  private mutating func addRelationship() {
    guard let first = entities.indices.randomElement(using: &numbers),
      let second = entities.indices.randomElement(using: &numbers)
    else { return }
    let (name, inverse) = (name("r"), name("r"))
    let isToMany = Bool.random(using: &numbers)
    let isOrdered = Bool.random(using: &numbers)
    entities[first].relationships.append(
      isToMany
        ? RelationshipDescription(name, toMany: entities[second].name, inverse: inverse, isOrdered: isOrdered)
        : RelationshipDescription(name, to: entities[second].name, inverse: inverse))
    entities[second].relationships.append(
      RelationshipDescription(
        inverse, toMany: entities[first].name, inverse: name, isOrdered: Bool.random(using: &numbers)))
  }

  private mutating func removeRelationship() {
    guard let index = entities.indices.randomElement(using: &numbers),
      let relationship = entities[index].relationships.randomElement(using: &numbers)
    else { return }
    for position in entities.indices {
      entities[position].relationships.removeAll {
        $0.name == relationship.name || $0.name == relationship.inverse
      }
    }
  }

  /// To-one becomes to-many, or an order comes or goes.
  private mutating func changeShape() {
    guard let index = entities.indices.randomElement(using: &numbers),
      let position = entities[index].relationships.indices.randomElement(using: &numbers)
    else { return }
    if entities[index].relationships[position].isToMany {
      entities[index].relationships[position].isOrdered.toggle()
    } else {
      entities[index].relationships[position].maximumCount = 0
    }
  }

  private mutating func renameRelationship() {
    let new = name("r")
    guard let index = entities.indices.randomElement(using: &numbers),
      let position = entities[index].relationships.indices.randomElement(using: &numbers)
    else { return }
    let old = entities[index].relationships[position]
    entities[index].relationships[position].renamingIdentifier = old.renamingIdentifier ?? old.name
    entities[index].relationships[position].name = new
    for other in entities.indices {
      for place in entities[other].relationships.indices
      where entities[other].relationships[place].inverse == old.name {
        entities[other].relationships[place].inverse = new
      }
    }
  }

  private mutating func moveUp() {
    guard let index = entities.indices.filter({ entities[$0].parent != nil }).randomElement(using: &numbers),
      let attribute = entities[index].attributes.randomElement(using: &numbers),
      let parent = entities.firstIndex(where: { $0.name == entities[index].parent })
    else { return }
    entities[index].attributes.removeAll { $0.name == attribute.name }
    entities[index].indexes.removeAll { $0.name == "by_\(attribute.name)" }
    entities[parent].attributes.append(attribute)
  }

  private mutating func moveDown() {
    guard let index = entities.indices.filter({ entities[$0].parent != nil }).randomElement(using: &numbers),
      let parent = entities.firstIndex(where: { $0.name == entities[index].parent }),
      let attribute = entities[parent].attributes.randomElement(using: &numbers)
    else { return }
    entities[parent].attributes.removeAll { $0.name == attribute.name }
    entities[parent].indexes.removeAll { $0.name == "by_\(attribute.name)" }
    for child in entities.indices where entities[child].parent == entities[parent].name {
      entities[child].attributes.append(attribute)
    }
  }

  /// A subentity stands alone from now on; its rows get a table of their own.
  private mutating func leaveParent() {
    guard let index = entities.indices.filter({ entities[$0].parent != nil }).randomElement(using: &numbers) else {
      return
    }
    entities[index].parent = nil
  }

  /// An attribute is renamed, and a new one takes its name.
  private mutating func reuseName() {
    let new = name("a")
    guard let index = entities.indices.randomElement(using: &numbers),
      let position = entities[index].attributes.indices.randomElement(using: &numbers)
    else { return }
    let old = entities[index].attributes[position]
    guard old.renamingIdentifier == nil, reused.insert(old.name).inserted else { return }
    entities[index].indexes.removeAll { $0.name == "by_\(old.name)" }
    entities[index].attributes[position].renamingIdentifier = old.name
    entities[index].attributes[position].name = new
    entities[index].attributes.append(AttributeDescription(old.name, old.type, default: Self.sample(old.type)))
  }

  private mutating func removeEntity() {
    guard entities.count > 2,
      let entity = entities.filter({ entity in !entities.contains { $0.parent == entity.name } })
        .randomElement(using: &numbers)
    else { return }
    entities.removeAll { $0.name == entity.name }
    for index in entities.indices {
      let gone = entities[index].relationships.filter { $0.destination == entity.name }.map(\.name)
      entities[index].relationships.removeAll { gone.contains($0.name) }
    }
    let names = Set(entities.flatMap { $0.relationships.map(\.name) })
    for index in entities.indices {
      entities[index].relationships.removeAll { $0.inverse.map { !names.contains($0) } ?? false }
    }
  }

  private mutating func renameEntity() {
    let new = name("e")
    guard let index = entities.indices.randomElement(using: &numbers) else { return }
    let old = entities[index].name
    entities[index].renamingIdentifier = entities[index].renamingIdentifier ?? old
    entities[index].name = new
    for position in entities.indices {
      if entities[position].parent == old { entities[position].parent = new }
      for place in entities[position].relationships.indices
      where entities[position].relationships[place].destination == old {
        entities[position].relationships[place].destination = new
      }
    }
  }
}
