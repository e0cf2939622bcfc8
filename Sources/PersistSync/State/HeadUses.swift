import Persist

/// The purposes of registers for the rows of objects, by the numbers of the objects' entities and of the heads.
struct HeadUses {
  /// The purpose of a register for the row of an object.
  enum Use: Equatable {
    /// The value of an attribute, by its place.
    case attribute(Int)
    /// The destination of a to-one relationship, by its place.
    case relationship(Int)
    case nothing
    /// The row depends on more than this register.
    case left
  }

  private var uses: [[Use?]] = []

  /// The purpose of a value for the row of an object.
  ///
  /// - Parameter head: The number of its head.
  mutating func use(of head: Int, in entity: Entity, _ step: SyncStep) throws -> Use {
    let number = entity.number
    if number < uses.count, head < uses[number].count, let known = uses[number][head] { return known }
    let use = try Self.use(of: head, in: entity, step)
    while uses.count <= number { uses.append([]) }
    while uses[number].count <= head { uses[number].append(nil) }
    uses[number][head] = use
    return use
  }

  private static func use(of head: Int, in entity: Entity, _ step: SyncStep) throws -> Use {
    guard case .value(let property) = try step.tables.heads.head(head) else { return .left }
    guard let name = try step.map.name(of: property, in: entity) else { return .nothing }
    let part = step.schema[entity]
    if let index = part.attributesByName[name] { return .attribute(index) }
    guard let index = part.relationshipsByName[name] else { return .nothing }
    let relationship = part.relationships[index]
    let isPlain =
      relationship.isRegister && !relationship.isOneToOne && relationship.inverse?.relationship?.isOrdered != true
    return isPlain ? .relationship(index) : .left
  }
}

/// The own entities of objects, by the numbers of their lives' heads.
struct EntityUses {
  /// The own entity of objects with the same life.
  enum Use {
    case entity(Entity)
    case nothing
    /// It depends on more than the life.
    case left
  }

  private var uses: [Int: Use] = [:]
  private var last: (head: Int, use: Use)?

  mutating func use(of head: Int, _ step: SyncStep) throws -> Use {
    if let last, last.head == head { return last.use }
    let use = try uses[head] ?? Self.use(of: head, step)
    uses[head] = use
    last = (head, use)
    return use
  }

  private static func use(of head: Int, _ step: SyncStep) throws -> Use {
    guard case .value(let name) = try step.tables.heads.head(head) else { return .left }
    let names = try step.map.entityNames(name.entity, in: name.model)
    guard names.count < 2 else { return .left }
    let entity = names.first.flatMap { step.model.entitiesByName[$0] }
    return entity.flatMap { $0.isAbstract ? nil : .entity($0) } ?? .nothing
  }
}
