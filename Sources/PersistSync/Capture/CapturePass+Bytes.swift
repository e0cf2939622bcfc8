import Foundation
import Persist

/// Captures of nothing but changed attributes, whose facts are read and written as bytes, many objects at once.
///
/// The facts are those of ``captureAttributes(_:of:_:)``.
extension CapturePass {
  /// A changed attribute.
  private struct Change {
    var attribute: SyncSchema.Attribute
    var property: PropertyName
    /// The number of the property's head.
    var head: Int
    var time: UInt64
  }

  private enum Outcome {
    case unchanged, changed(Register)
    /// The value isn't among the packed facts, or can't be.
    case impossible
  }

  private struct Key: Hashable {
    var entity: Int
    var name: String
  }

  /// Makes the facts of all changes.
  ///
  /// - Returns: The entries to write; nil if a change needs more than this, and then nothing was done.
  mutating func captureAsBytes(_ rows: [SyncTables.RowID: SyncStore.Row]) throws -> [AttachedEntry]? {
    guard !isBirth, !record.isFresh, formerMap == nil, step.map.mappings.isEmpty else { return nil }
    let order = changes.order
    guard order.allSatisfy({ id in changes.rows[id].map { isPlain($0, rows[id]) } == true }) else { return nil }
    let rowKeys = order.map { SyncTables.key(of: $0) }
    let found = try tables.history.attachedValues(rowKeys)
    var identities: [Identity] = []
    identities.reserveCapacity(order.count)
    for key in rowKeys {
      let all = try found[key].map(SyncTables.identities) ?? []
      guard let identity = all.first, all.count == 1 else { return nil }
      identities.append(identity)
    }
    let keys = identities.map(FactKey.prefix)
    let packed = try tables.packed(keys)
    var known: [Key: [(attribute: SyncSchema.Attribute, property: PropertyName, head: Int)]] = [:]
    var made: [(key: FactKey, value: Data)] = []
    var entries: [AttachedEntry] = []
    var writer = ByteWriter()
    for (index, id) in order.enumerated() {
      guard let change = changes.rows[id], let row = rows[id], let data = packed[keys[index]] else { return nil }
      var sources = [[UInt8](data)]
      var object = try PackedFacts(sources[0], source: 0)
      guard let life = object.life, life.count % 2 == 1, !object.hasUnions, object.row == id else { return nil }
      var isChanged = false
      for (name, time) in change.properties {
        let key = Key(entity: row.entity.number, name: name)
        if known[key] == nil { known[key] = try attributes(of: name, row.entity) }
        guard let attributes = known[key], !attributes.isEmpty else { return nil }
        for (attribute, property, head) in attributes {
          let changed = Change(attribute: attribute, property: property, head: head, time: time)
          switch try apply(changed, to: &object, &sources, life.count, row) {
          case .impossible: return nil
          case .unchanged: break
          case .changed(let register):
            made.append((.value(identities[index], property), register.bytes))
            isChanged = true
          }
        }
      }
      guard isChanged else { continue }
      writer.removeAll()
      object.write(to: &writer, sources)
      entries.append(AttachedEntry(key: keys[index], value: writer.data))
    }
    facts = made
    entries.sort { $0.key.precedes($1.key) }
    return entries
  }

  private func isPlain(_ change: RowChange, _ row: SyncStore.Row?) -> Bool {
    guard change.whole == nil, change.inserted == nil, !change.wasDeleted, !change.wasMigrated, let row else {
      return false
    }
    let part = schema[row.entity]
    return change.properties.keys.allSatisfy { name in
      part.attributesByProperty[name]?.allSatisfy { !part.constrained.contains(part.attributes[$0].name) } == true
    }
  }

  /// The attributes of a property, with their properties in facts; none if one of these has no number.
  private func attributes(
    of name: String, _ entity: Entity
  ) throws -> [(attribute: SyncSchema.Attribute, property: PropertyName, head: Int)] {
    let part = schema[entity]
    var all: [(attribute: SyncSchema.Attribute, property: PropertyName, head: Int)] = []
    for index in part.attributesByProperty[name] ?? [] {
      let attribute = part.attributes[index]
      let property = PropertyName(model: step.map.tag, entity: entity.name, name: attribute.name)
      guard let head = try tables.heads.number(of: .value(property)) else { return [] }
      all.append((attribute, property, head))
    }
    return all
  }

  /// Sets a value in packed facts.
  private func apply(
    _ change: Change, to object: inout PackedFacts, _ sources: inout [[UInt8]], _ life: UInt32, _ row: SyncStore.Row
  ) throws -> Outcome {
    if try mayHaveMembers(change.attribute, row, isChanged: object.hasMembers) { return .impossible }
    let content = tables.content(of: try step.store.value(change.attribute, in: row))
    guard content.count <= PackedFacts.maximum.size, PortableValue.large(content) == nil else { return .impossible }
    var last: Register?
    var own: Int?
    for (place, fact) in object.facts.enumerated() {
      if fact.head == change.head { own = place }
      guard fact.life == life, case .value(let property) = try tables.heads.head(fact.head),
        try step.map.name(of: property, in: row.entity) == change.attribute.name
      else { continue }
      if PortableValue.isLarge(sources[fact.source], fact.content) { return .impossible }
      let register = Register(
        life: fact.life, otherLife: fact.otherLife, stamp: fact.stamp,
        content: Data(sources[fact.source][fact.content]))
      if last.map({ Register.isLater(register, than: $0) }) ?? true { last = register }
    }
    // It may be an entry of its own.
    if own == nil, object.hasOthers || object.facts.count >= PackedFacts.maximum.count { return .impossible }
    if last?.content == content { return .unchanged }
    let register = Register(life: life, stamp: stamp(change.time, after: last?.stamp), content: content)
    let fact = PackedFacts.Fact(
      head: change.head, life: life, otherLife: 0, stamp: register.stamp, source: sources.count,
      content: 0..<content.count)
    sources.append([UInt8](content))
    if let own { object.facts[own] = fact } else { object.facts.append(fact) }
    return .changed(register)
  }
}
