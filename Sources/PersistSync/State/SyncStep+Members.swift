import Foundation
import Persist

/// Members of JSON values, which are changed one by one.
extension SyncStep {
  /// Adds the values with their changed members.
  func mergeMembers(
    of object: ObjectFacts, in entity: Entity, to found: inout [String: [Register]], visibleIn former: ModelMap?
  ) throws {
    let formerEntity = try former?.entity(of: object)
    var parts: [String: [JSONPath: Register]] = [:]
    for (property, changes) in object.parts {
      if let former, try formerEntity.flatMap({ try former.name(of: property, in: $0) }) == nil { continue }
      guard let name = try map.name(of: property, in: entity) else { continue }
      parts[name, default: [:]].merge(changes.values(ofLife: object.count)) { Register.isLater($0, than: $1) ? $0 : $1 }
    }
    for (name, changes) in parts {
      guard let whole = found[name]?.first else { continue }
      let merged = whole.merged(with: changes)
      if merged.stamp != whole.stamp { found[name]?.insert(merged, at: 0) }
    }
  }
}

extension [JSONPath: Register] {
  /// The changes of members in a life of the object.
  func values(ofLife life: UInt32) -> Self { filter { $0.value.life == life } }
}

extension Register {
  /// The value with changes of its members since it was set, in the order of their times.
  ///
  /// It depends on nothing but the facts, whatever the order in which they arrived: see ``JSONPart/apply(_:at:)``.
  func merged(with changes: [JSONPath: Register]) -> Register {
    let later = changes.filter { stamp < $0.value.stamp }.sorted {
      $0.value.stamp == $1.value.stamp ? $0.key.bytes.precedes($1.key.bytes) : $0.value.stamp < $1.value.stamp
    }
    guard let last = later.last, case .value(.string(let text))? = try? PortableValue.content(content),
      var part = JSONPart(Data(text.utf8)), part.members != nil
    else { return self }
    for (path, register) in later { part.apply(register.content, at: ((try? path.names) ?? [])[...]) }
    var merged = self
    merged.stamp = last.value.stamp
    merged.content = PortableValue.bytes(.string(String(decoding: part.text, as: UTF8.self)))
    return merged
  }
}
