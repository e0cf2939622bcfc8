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

  /// The known purposes, one entity after another: numbers without references, since every fact is looked up.
  private var codes: [Int32] = []
  private var further: [Int: Use] = [:]
  /// The number of heads for which each entity has a place.
  private static let stride = 128

  /// The purpose of a value for the row of an object.
  ///
  /// - Parameter head: The number of its head.
  mutating func use(of head: Int, in entity: Entity, _ step: SyncStep) throws -> Use {
    let place = entity.index &* Self.stride &+ head
    if head < Self.stride, place < codes.count, let known = Use(code: codes[place]) { return known }
    return try find(head, entity, step)
  }

  @inline(never)
  private mutating func find(_ head: Int, _ entity: Entity, _ step: SyncStep) throws -> Use {
    let wide = entity.index << 32 | head
    if let known = further[wide] { return known }
    let use = try Self.use(of: head, in: entity, step)
    guard head < Self.stride else {
      further[wide] = use
      return use
    }
    let missing = (entity.index + 1) * Self.stride - codes.count
    if missing > 0 { codes += Array(repeating: -1, count: missing) }
    codes[entity.index * Self.stride + head] = use.code
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

extension HeadUses.Use {
  fileprivate var code: Int32 {
    switch self {
    case .nothing: 0
    case .left: 1
    case .attribute(let index): 2 + 2 * Int32(truncatingIfNeeded: index)
    case .relationship(let index): 3 + 2 * Int32(truncatingIfNeeded: index)
    }
  }

  /// - Parameter code: Negative for a purpose that isn't known.
  fileprivate init?(code: Int32) {
    switch code {
    case ..<0: return nil
    case 0: self = .nothing
    case 1: self = .left
    default: self = code & 1 == 0 ? .attribute(Int(code) / 2 - 1) : .relationship((Int(code) - 3) / 2)
    }
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
