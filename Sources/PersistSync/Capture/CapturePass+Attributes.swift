import Foundation
import Persist

/// Changes of nothing but attributes, as most changes are.
extension CapturePass {
  /// Makes facts of changed attributes, on which no other row depends.
  ///
  /// - Returns: Whether these are all changes of the row; otherwise, nothing was done.
  mutating func captureAttributes(
    _ change: RowChange, of identity: Identity, _ row: SyncStore.Row
  ) throws -> Bool {
    guard change.whole == nil, !change.wasMigrated, !isBirth, step.map.mappings.isEmpty else { return false }
    let part = schema[row.entity]
    var changed: [(attribute: SyncSchema.Attribute, time: UInt64)] = []
    for (name, time) in change.properties {
      guard let attributes = part.attributesByProperty[name] else { return false }
      for index in attributes { changed.append((part.attributes[index], time)) }
    }
    if changed.contains(where: { part.constrained.contains($0.attribute.name) }) { return false }
    let object = try tables.facts(of: identity)
    guard object.unions.isEmpty else { return false }
    let mayHaveMembers = try changed.contains { attribute, _ in
      let value = try step.store.value(attribute, in: row)
      return Self.mayHaveMembers(attribute, value, isChanged: !object.parts.isEmpty)
    }
    if mayHaveMembers { return false }
    for (attribute, time) in changed.sorted(by: { $0.attribute.slot < $1.attribute.slot }) {
      var last: Register?
      for (property, register) in object.values where register.life == object.count {
        guard try step.map.name(of: property, in: row.entity) == attribute.name else { continue }
        if last.map({ Register.isLater(register, than: $0) }) ?? true { last = register }
      }
      let content = tables.content(of: try step.store.value(attribute, in: row))
      // A value that was changed and changed back was set last. History names composites as a whole.
      if last?.content == content, !attribute.path.isEmpty || !change.isRepeated(attribute.name) { continue }
      let register = Register(life: object.count, stamp: stamp(time, after: last?.stamp), content: content)
      let property = PropertyName(model: step.map.tag, entity: row.entity.name, name: attribute.name)
      try add(.value(identity, property), register.bytes, isPlain: true)
    }
    return true
  }
}
