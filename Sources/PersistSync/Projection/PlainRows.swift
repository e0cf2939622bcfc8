import Foundation
import Persist

/// The rows and entries of the objects of a ``PlainPass``.
struct PlainRows {
  /// The only reference to its objects, which are changed in place.
  var pass: PlainPass
  private(set) var writes = RowWrites()
  private(set) var problems: [SyncProblem] = []
  /// The entries to write: those of most tables in the order of their keys.
  var entries = AttachedList()
  private var references: [Reference] = []
  /// The objects to which new ones refer.
  private var referred: [Referred] = []
  /// References that rows don't show, in the order of the objects.
  private(set) var waiting: [(object: Int, identity: Identity)] = []
  /// The facts of the attributes of the object at hand, as places among its own; negative for none.
  private var attributes: [Int] = []

  /// The destinations of the relationships of the object at hand, by their places.
  private var targets: [Target] = []

  /// The destination of a relationship.
  private enum Target {
    case missing
    /// Others set it.
    case awaited
    case row(Entity, Int64)
  }

  /// A reference of a new object.
  private struct Reference {
    var object: Int
    var relationship: Int
    var life: UInt32
    /// The place of the destination among those to which others refer.
    var target: Int
  }

  /// An object to which others refer.
  private struct Referred {
    let identity: Identity
    /// Nil if nothing is known of it.
    var life: UInt32?
    var row: (entity: Entity, key: Int64)?
    /// Whether it is one of the pass that is left to others.
    var isLeft = false
  }

  var step: SyncStep { pass.step }
  private var store: SyncStore { pass.step.store }

  /// Computes the rows, and leaves objects to others that depend on others.
  ///
  /// - Parameter pass: A pass that has joined its facts.
  init(_ pass: PlainPass) throws {
    self.pass = pass
    try leaveReferred()
    for place in pass.objects.indices where pass.objects[place].isNew { try checkNew(place) }
    try checkUnique()
    try checkChanged()
  }

  /// The places of the objects that get rows.
  private var new: [Int] { pass.objects.indices.filter { pass.objects[$0].isNew } }

  // MARK: Objects that depend on others

  /// Leaves new objects to which others refer already.
  private mutating func leaveReferred() throws {
    let new = new
    guard let bounds = pass.keyBounds else { return }
    let referred = try step.tables.referred(among: new.map { pass.objects[$0].identity }, between: bounds)
    if referred.isEmpty { return }
    for place in new where referred.contains(pass.objects[place].identity) { pass.objects[place].isLeft = true }
  }

  /// Leaves a new object whose row depends on more than its values and the presence of others.
  private mutating func checkNew(_ place: Int) throws {
    guard let entity = pass.objects[place].entity else { return }
    var isTaken: UInt64 = 0
    for fact in pass.objects[place].packed.facts {
      let bit: UInt64
      switch try pass.use(fact.head, in: entity) {
      case .attribute(let index) where index < 32: bit = 1 << UInt64(index)
      case .relationship(let index) where index < 32: bit = 1 << UInt64(index + 32)
      case .nothing: bit = 0
      case .attribute, .relationship, .left:
        pass.objects[place].isLeft = true
        return
      }
      // Two versions of the model have the property under different names.
      if isTaken & bit != 0 { pass.objects[place].isLeft = true }
      isTaken |= bit
    }
  }

  /// Leaves new objects whose unique values another object has.
  private mutating func checkUnique() throws {
    var holders: [Data: Int] = [:]
    guard step.schema.hasConstraints else { return }
    let constrained = new.filter { pass.objects[$0].entity.map { !step.schema[$0].constraints.isEmpty } == true }
    for place in constrained {
      let object = pass.objects[place]
      guard let entity = object.entity else { continue }
      let part = step.schema[entity]
      var registers: [String: [Register]] = [:]
      for fact in object.packed.facts {
        let name =
          switch try pass.use(fact.head, in: entity) {
          case .attribute(let index): part.attributes[index].name
          case .relationship(let index): part.relationships[index].name
          case .nothing, .left: ""
          }
        guard part.constrained.contains(name) else { continue }
        let content = Data(pass.sources[fact.source][fact.content])
        registers[name] = [Register(life: fact.life, stamp: fact.stamp, content: content)]
      }
      for constraint in part.constraints {
        guard let key = UniqueKey(constraint, registers) else { continue }
        // Equality to a reference depends on other objects.
        if !key.references.isEmpty { pass.objects[place].isLeft = true }
        let bytes = key.bytes
        if let other = holders.updateValue(place, forKey: bytes) {
          pass.objects[other].isLeft = true
          pass.objects[place].isLeft = true
        }
        pass.objects[place].packed.uniqueKeys.append(bytes)
      }
    }
    try step.tables.loadHolders(of: Array(holders.keys))
    for place in constrained {
      let keys = pass.objects[place].packed.uniqueKeys
      if try keys.contains(where: { try !step.tables.holders(of: $0).isEmpty }) { pass.objects[place].isLeft = true }
    }
  }

  /// Leaves known objects of which more than attributes change.
  private mutating func checkChanged() throws {
    guard pass.hasKnown else { return }
    var constrained: [(place: Int, key: Data)] = []
    for place in pass.objects.indices where pass.objects[place].isUpdated {
      let object = pass.objects[place]
      guard let entity = object.entity, let row = object.packed.row else { continue }
      let part = step.schema[entity]
      var names: Set<Int> = []
      for index in object.changed {
        guard case .attribute(let attribute) = try pass.use(object.packed.facts[index].head, in: entity),
          part.attributes[attribute].path.isEmpty, !part.constrained.contains(part.attributes[attribute].name),
          names.insert(attribute).inserted
        else {
          pass.objects[place].isLeft = true
          break
        }
      }
      if pass.objects[place].isLeft { continue }
      for fact in object.packed.facts {
        guard case .attribute(let index) = try pass.use(fact.head, in: entity), names.contains(index) else { continue }
        if !object.changed.contains(where: { object.packed.facts[$0].head == fact.head }) {
          pass.objects[place].isLeft = true
        }
      }
      // An object that has its facts in the entry of its row is its only one.
      if !part.constraints.isEmpty, object.rowKey == nil { constrained.append((place, SyncTables.key(of: row))) }
    }
    guard !constrained.isEmpty else { return }
    let rows = try step.tables.history.attachedValues(constrained.map(\.key))
    for (place, key) in constrained where try rows[key].map(RowEntry.identities)?.count != 1 {
      pass.objects[place].isLeft = true
    }
  }

  // MARK: Rows

  /// Computes the writes of the objects that aren't left.
  mutating func write() throws {
    let new = new
    let keys = new.isEmpty ? [] : try store.store.reserveKeys(for: new.compactMap { pass.objects[$0].entity })
    for (place, key) in zip(new, keys) {
      pass.objects[place].packed.row = pass.objects[place].entity.map { store.row($0, key) }
    }
    try findReferences(new)
    try insert(new)
    try update()
    try finishEntries(new)
  }

  private mutating func findReferences(_ new: [Int]) throws {
    var (numbers, outside) = (ByteNumbers(), [Int]())
    let sources = pass.sources
    for place in new {
      guard let entity = pass.objects[place].entity else { continue }
      for index in pass.objects[place].packed.facts.indices {
        let fact = pass.objects[place].packed.facts[index]
        guard PortableValue.isReference(sources[fact.source], fact.content) else { continue }
        let bytes = sources[fact.source]
        let (life, identity) = try PortableValue.reference(bytes, fact.content)
        let (target, isNew) = bytes.withUnsafeBytes { numbers.add(UnsafeRawBufferPointer(rebasing: $0[identity])) }
        if isNew {
          let isOutside = addReferred(Identity(bytes: Data(bytes[identity])))
          if isOutside { outside.append(target) }
        }
        guard case .relationship(let relationship) = try pass.use(fact.head, in: entity) else {
          waiting.append((place, referred[target].identity))
          continue
        }
        references.append(Reference(object: place, relationship: relationship, life: life, target: target))
      }
    }
    // Nothing else of these objects is needed.
    let packed = try step.tables.packed(outside.map { FactKey.prefix(of: referred[$0].identity) })
    for (target, found) in zip(outside, packed) {
      guard let found else { continue }
      let head = try PackedFacts.head([UInt8](found.packed))
      // The life may be an entry of its own.
      let life = try head.life?.count ?? step.tables.facts(of: referred[target].identity).life?.count
      referred[target].life = life
      referred[target].row = head.row.flatMap { row in step.model.entitiesByName[row.entity].map { ($0, row.key) } }
    }
  }

  /// Adds an object to which others refer.
  ///
  /// - Returns: Whether the pass doesn't know its row.
  private mutating func addReferred(_ identity: Identity) -> Bool {
    var new = Referred(identity: identity)
    defer { referred.append(new) }
    guard let place = identity.bytes.withUnsafeBytes({ pass.identities.number(of: $0) }) else { return true }
    new.isLeft = pass.objects[place].isLeft
    if new.isLeft { return true }
    let packed = pass.objects[place].packed
    new.life = packed.life?.count
    if let row = packed.row, let entity = pass.objects[place].entity ?? step.model.entitiesByName[row.entity] {
      new.row = (entity, row.key)
    }
    return false
  }

  func isReference(_ fact: PackedFacts.Fact) -> Bool {
    PortableValue.isReference(pass.sources[fact.source], fact.content)
  }

  /// The row to which a reference leads; nil if there is none yet.
  private func row(_ reference: Reference, _ destination: Entity) -> (entity: Entity, key: Int64)? {
    guard referred[reference.target].life == reference.life, let row = referred[reference.target].row,
      row.entity.isKind(of: destination)
    else { return nil }
    return row
  }

  private mutating func insert(_ new: [Int]) throws {
    writes.inserts.reserveCapacity(new.count)
    var next = 0
    var last: SyncSchema.EntityPart?
    for place in new {
      guard let entity = pass.objects[place].entity, let key = pass.objects[place].packed.row?.key else { continue }
      if last?.entity !== entity { last = step.schema[entity] }
      guard let part = last else { continue }
      attributes.removeAll(keepingCapacity: true)
      for _ in part.attributes { attributes.append(-1) }
      let facts = pass.objects[place].packed.facts.indices
      for index in facts {
        let head = pass.objects[place].packed.facts[index].head
        if case .attribute(let attribute) = try pass.use(head, in: entity) { attributes[attribute] = index }
      }
      var values = SlotValues(reserving: facts.count)
      var composites: [Int: [String: StoredValue]] = [:]
      for (index, attribute) in part.attributes.enumerated() {
        let value = try value(attribute, of: place, attributes[index])
        if !attribute.path.isEmpty {
          composites[attribute.propertySlot, default: [:]].insert(value, at: attribute.path[...])
        } else if value.isNull {
          require(value, of: entity.properties[attribute.slot], entity, key)
        } else {
          values[attribute.slot] = value
        }
      }
      for (slot, value) in composites where !value.values.allSatisfy(\.isNull) { values[slot] = .composite(value) }
      targets.removeAll(keepingCapacity: true)
      for _ in part.relationships { targets.append(.missing) }
      while next < references.count, references[next].object == place {
        let reference = references[next]
        let relationship = part.relationships[reference.relationship]
        let target = row(reference, relationship.destination)
        if target == nil || relationship.inverse?.isToMany != true {
          waiting.append((place, referred[reference.target].identity))
        }
        if let target {
          targets[reference.relationship] = .row(target.entity, target.key)
        } else if referred[reference.target].isLeft {
          // Others update the row when the object has one.
          targets[reference.relationship] = .awaited
        }
        next += 1
      }
      for (index, relationship) in part.relationships.enumerated() where relationship.isRegister {
        switch targets[index] {
        case .missing: require(.null, of: relationship.property, entity, key)
        case .awaited: break
        case .row(let target, let key):
          values[relationship.property.slot] = .objectID(store.identifier(target, key))
        }
      }
      writes.inserts.append(.init(key: .permanent(key), entity: entity, values: values))
    }
  }

  /// The value of an attribute by a fact; the default without one.
  private mutating func value(
    _ attribute: SyncSchema.Attribute, of place: Int, _ index: Int
  ) throws -> StoredValue {
    guard index >= 0 else { return attribute.defaultValue }
    let fact = pass.objects[place].packed.facts[index]
    var content = try PortableValue.content(pass.sources[fact.source], fact.content)
    if case .large = content {
      let bytes = Data(pass.sources[fact.source][fact.content])
      content = try PortableValue.content(step.tables.resolved(bytes))
    }
    return attribute.value(of: content) ?? attribute.defaultValue
  }

  private mutating func update() throws {
    guard pass.hasKnown else { return }
    let changed = pass.objects.indices.filter { pass.objects[$0].isUpdated && pass.objects[$0].packed.row != nil }
    let ids = changed.compactMap { pass.objects[$0].packed.row }
    let rows = try store.rows(ids)
    for (place, (id, row)) in zip(changed, zip(ids, rows)) {
      let object = pass.objects[place]
      guard let entity = object.entity, let row else { continue }
      let part = step.schema[entity]
      var values = SlotValues()
      var slots: [Int] = []
      for index in object.changed {
        guard case .attribute(let number) = try pass.use(object.packed.facts[index].head, in: entity) else { continue }
        let attribute = part.attributes[number]
        let value = try value(attribute, of: place, index)
        require(value, of: entity.properties[attribute.slot], entity, id.key)
        guard try store.value(attribute, in: row) != value, !slots.contains(attribute.slot) else { continue }
        slots.append(attribute.slot)
        if !value.isNull { values[attribute.slot] = value }
      }
      guard !slots.isEmpty else { continue }
      writes.updates.append(
        .init(
          key: .permanent(id.key), entity: entity, version: row.snapshot.version, slots: slots.sorted(),
          values: values))
    }
  }

  private mutating func require(_ value: StoredValue, of property: Property, _ entity: Entity, _ key: Int64) {
    guard value.isNull, property.isRequired else { return }
    problems.append(SyncProblem(objectID: store.identifier(entity, key), missing: property.name))
  }
}

extension Property {
  /// Whether an attribute or a relationship must have a value.
  var isRequired: Bool { (attribute?.isOptional ?? relationship?.isOptional) == false }
}

extension SyncProblem {
  /// A required property without a value.
  init(objectID: ManagedObjectID, missing property: String) {
    self.init(
      objectID: objectID, property: property,
      message: "\(objectID.entityName) \(objectID.primaryKey ?? 0) has no value for '\(property)', which is required.")
  }
}
