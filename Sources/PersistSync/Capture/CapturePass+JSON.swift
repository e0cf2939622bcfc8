import Foundation
import Persist

/// Changes of members of JSON values.
extension CapturePass {
  /// Whether changes of an attribute may be those of members.
  ///
  /// - Parameters:
  ///   - value: The new value.
  ///   - isChanged: Whether members of some value of the object were changed before.
  static func mayHaveMembers(_ attribute: SyncSchema.Attribute, _ value: StoredValue, isChanged: Bool) -> Bool {
    guard attribute.type == .string, attribute.path.isEmpty else { return false }
    if isChanged { return true }
    guard attribute.hasMembers, case .string(let text) = value else { return false }
    return text.utf8.first == UInt8(ascii: "{")
  }

  /// Makes facts of the members of a JSON value that have changed.
  ///
  /// - Parameters:
  ///   - value: The new value.
  ///   - last: The register of the former value.
  /// - Returns: Whether the whole value needs no fact.
  mutating func captureMembers(
    of attribute: SyncSchema.Attribute, _ value: StoredValue, after last: Register, at time: UInt64,
    _ object: ObjectFacts, _ entity: Entity
  ) throws -> Bool {
    guard attribute.hasMembers, case .string(let text) = value,
      case .value(.string(let former))? = try? PortableValue.content(last.content),
      let changes = JSONPart(Data(former.utf8))?.changes(to: JSONPart(Data(text.utf8)) ?? .text(Data())),
      !changes.isEmpty
    else { return false }
    let property = PropertyName(model: step.map.tag, entity: entity.name, name: attribute.name)
    let stamp = stamp(time, after: last.stamp)
    for change in changes {
      let register = Register(life: object.count, stamp: stamp, content: change.text)
      try add(.part(object.identity, property, change.path), register.bytes)
    }
    return true
  }
}
