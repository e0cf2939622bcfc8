import Foundation

/// Everything that was done on devices, whatever became of it. It knows nothing of facts, rows and change sets.
///
/// The rule for clocks that are right: an object exists if it was created and nobody has deleted it, and each of its
/// properties has the value that was set last.
struct EditRecord {
  enum Change {
    case create(entity: String)
    case delete
    case set(part: String, value: String?)
    case refer(part: String, to: Int?)
    case member(part: String, of: Int, isPresent: Bool)
  }

  struct Edit {
    let object: Int
    let change: Change
    /// Whether a backup replaced the store before the edit was sent.
    var isLost = false

    /// The first name of the changed part; nil for whole objects.
    var part: String? {
      switch change {
      case .create, .delete: nil
      case .set(let part, _), .refer(let part, _), .member(let part, _, _): part
      }
    }
  }

  /// In the order of time.
  private(set) var edits: [Edit] = []

  /// The first name of an object's entity.
  func entity(of object: Int) -> String {
    for edit in edits where edit.object == object { if case .create(let entity) = edit.change { return entity } }
    return ""
  }

  /// - Returns: The number of the edit.
  mutating func add(_ object: Int, _ change: Change) -> Int {
    edits.append(Edit(object: object, change: change))
    return edits.count - 1
  }

  mutating func lose(_ numbers: some Sequence<Int>) { for number in numbers { edits[number].isLost = true } }

  private struct Object {
    var entity = ""
    var isDeleted = false
    var values: [String: String] = [:]
    var references: [String: Int] = [:]
    var members: [String: Set<Int>] = [:]
  }

  /// The objects of a version that follow from all edits, as texts.
  func contents(_ version: EditChain.Version) -> [String] {
    var objects: [Int: Object] = [:]
    for edit in edits where !edit.isLost {
      func change(_ body: (inout Object) -> Void) { body(&objects[edit.object, default: Object()]) }
      switch edit.change {
      case .create(let entity): change { $0.entity = entity }
      case .delete: change { $0.isDeleted = true }
      case .set(let part, let value): change { $0.values[part] = value }
      case .refer(let part, let other): change { $0.references[part] = other }
      case .member(let part, let other, let isPresent):
        change { if isPresent { $0.members[part, default: []].insert(other) } else { $0.members[part]?.remove(other) } }
      }
    }
    func isThere(_ object: Object) -> Bool {
      !object.isDeleted && !object.entity.isEmpty && version.entities[object.entity] != nil
    }
    let present = objects.filter { isThere($0.value) }
    return present.map { id, object in
      let parts = (version.parts[object.entity] ?? [:]).sorted { $0.key < $1.key }.map { name, part in
        switch part.kind {
        case .text, .number, .flag: "\(name)=\(object.values[name] ?? "nil")"
        case .reference, .link:
          "\(name)=\(object.references[name].flatMap { present[$0] == nil ? nil : "\($0)" } ?? "nil")"
        case .members: "\(name)=\((object.members[name] ?? []).filter { present[$0] != nil }.sorted())"
        }
      }
      return "\(object.entity) \(id) \(parts.joined(separator: " "))"
    }.sorted()
  }
}
