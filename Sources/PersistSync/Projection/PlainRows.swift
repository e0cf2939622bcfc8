import Foundation
import Persist

/// The rows and entries of the objects of a ``PlainPass``.
struct PlainRows {
  var pass: PlainPass
  private(set) var writes = RowWrites()
  private(set) var problems: [SyncProblem] = []
  /// The entries to write: those of most tables in the order of their keys.
  var entries = AttachedList()
  private var references: [Reference] = []
  /// The rows and lives of objects outside of the pass to which others refer.
  private var others: [Identity: PackedFacts.Head] = [:]
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
    var identity: Identity
    var life: UInt32
    /// The place of the destination among the objects; nil for one outside of the pass.
    var place: Int?
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

  /// The pass without the objects that were left to others.
  var finished: PlainPass { pass }

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
    var (outside, seen): ([Identity], Set<Identity>) = ([], [])
    // Neighbors often refer to the same object.
    var last: (fact: PackedFacts.Fact, identity: Identity, life: UInt32, place: Int?)?
    for place in new {
      guard let entity = pass.objects[place].entity else { continue }
      for fact in pass.objects[place].packed.facts where isReference(fact) {
        if last.map({ pass.haveEqualContents($0.fact, fact) }) != true {
          guard case .reference(let identity, let life) = try PortableValue.content(
            pass.sources[fact.source], fact.content)
          else { continue }
          last = (fact, identity, life, pass.places[identity])
        }
        guard let (_, identity, life, target) = last else { continue }
        guard case .relationship(let index) = try pass.use(fact.head, in: entity) else {
          waiting.append((place, identity))
          continue
        }
        references.append(
          Reference(object: place, relationship: index, identity: identity, life: life, place: target))
        let isOutside = target.map { pass.objects[$0].isLeft } ?? true
        if isOutside, seen.insert(identity).inserted { outside.append(identity) }
      }
    }
    // Nothing else of these objects is needed.
    let packed = try step.tables.packed(outside.map(FactKey.prefix))
    for (identity, found) in zip(outside, packed) {
      guard let found else { continue }
      var head = try PackedFacts.head([UInt8](found.packed))
      // It may be an entry of its own.
      if head.life == nil { head.life = try step.tables.facts(of: identity).life.map { ($0.count, head: 0) } }
      others[identity] = head
    }
  }

  func isReference(_ fact: PackedFacts.Fact) -> Bool {
    PortableValue.isReference(pass.sources[fact.source], fact.content)
  }

  /// The row to which a reference leads; nil if there is none yet.
  private mutating func row(
    _ reference: Reference, _ destination: Entity
  ) throws -> (row: SyncTables.RowID, entity: Entity)? {
    let row: SyncTables.RowID?
    var entity: Entity?
    if let place = reference.place, !pass.objects[place].isLeft {
      row = pass.objects[place].packed.life?.count == reference.life ? pass.objects[place].packed.row : nil
      // It is new, or one of its attributes changes.
      entity = pass.objects[place].entity
    } else {
      let other = others[reference.identity]
      row = other?.life?.count == reference.life ? other?.row : nil
    }
    guard let row, let entity = entity ?? step.model.entitiesByName[row.entity], entity.isKind(of: destination) else {
      return nil
    }
    return (row, entity)
  }

  private mutating func insert(_ new: [Int]) throws {
    let store = store
    writes.inserts.reserveCapacity(new.count)
    var next = 0
    var last: SyncSchema.EntityPart?
    for place in new {
      guard let entity = pass.objects[place].entity, let row = pass.objects[place].packed.row else { continue }
      if last?.entity !== entity { last = step.schema[entity] }
      guard let part = last else { continue }
      var values = SlotValues()
      var composites: [Int: [String: StoredValue]] = [:]
      attributes.removeAll(keepingCapacity: true)
      attributes.append(contentsOf: repeatElement(-1, count: part.attributes.count))
      for index in pass.objects[place].packed.facts.indices {
        let head = pass.objects[place].packed.facts[index].head
        if case .attribute(let attribute) = try pass.use(head, in: entity) { attributes[attribute] = index }
      }
      for (index, attribute) in part.attributes.enumerated() {
        let value = try value(attribute, of: place, attributes[index])
        if attribute.path.isEmpty {
          require(value, of: entity.properties[attribute.slot], in: row)
          if !value.isNull { values[attribute.slot] = value }
        } else {
          composites[attribute.propertySlot, default: [:]].insert(value, at: attribute.path[...])
        }
      }
      for (slot, value) in composites where !value.values.allSatisfy(\.isNull) { values[slot] = .composite(value) }
      targets.removeAll(keepingCapacity: true)
      targets.append(contentsOf: repeatElement(.missing, count: part.relationships.count))
      while next < references.count, references[next].object == place {
        let reference = references[next]
        let relationship = part.relationships[reference.relationship]
        let target = try self.row(reference, relationship.destination)
        if target == nil || relationship.inverse?.isToMany != true {
          waiting.append((place, reference.identity))
        }
        if let target {
          targets[reference.relationship] = .row(target.entity, target.row.key)
        } else if reference.place.map({ pass.objects[$0].isLeft }) == true {
          // Others update the row when the object has one.
          targets[reference.relationship] = .awaited
        }
        next += 1
      }
      for (index, relationship) in part.relationships.enumerated() where relationship.isRegister {
        switch targets[index] {
        case .missing: require(.null, of: relationship.property, in: row)
        case .awaited: break
        case .row(let entity, let key):
          values[relationship.property.slot] = .objectID(store.identifier(entity, key))
        }
      }
      writes.inserts.append(.init(key: .permanent(row.key), entity: entity, values: values))
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
        require(value, of: entity.properties[attribute.slot], in: id)
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

  private mutating func require(_ value: StoredValue, of property: Property, in row: SyncTables.RowID) {
    guard value.isNull, property.isRequired, let entity = step.model.entitiesByName[row.entity] else { return }
    problems.append(SyncProblem(objectID: store.identifier(entity, row.key), missing: property.name))
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
