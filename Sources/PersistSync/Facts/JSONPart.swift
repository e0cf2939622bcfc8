import Foundation

/// A JSON value whose members replicas merge one by one.
///
/// Only texts without spaces and with sorted names have members, as encoders with sorted keys write them. A text that
/// is put together from members of such texts is therefore the one that a program would have written. The other texts
/// are replaced as a whole.
indirect enum JSONPart: Hashable {
  /// A value without members: its text.
  case text(Data)
  /// The members of an object by their names, as they are between the quotation marks.
  case object([Data: JSONPart])

  /// The maximum depth of members.
  static let maximumDepth = 8
  /// The maximum size of a text in bytes.
  static let maximumSize = LargeValue.limits.value

  /// Reads a text; nil if it isn't JSON without spaces.
  init?(_ text: Data) {
    guard text.count <= Self.maximumSize else { return nil }
    var scanner = JSONScanner([UInt8](text))
    guard let part = scanner.part(depth: 0), scanner.isAtEnd else { return nil }
    self = part
  }

  /// The members of an object; nil for other values.
  var members: [Data: JSONPart]? { if case .object(let members) = self { members } else { nil } }

  /// The text.
  var text: Data {
    switch self {
    case .text(let text): text
    case .object(let members):
      members.sorted { $0.key.precedes($1.key) }.reduce(into: Data("{".utf8)) { text, member in
        if text.count > 1 { text += Data(",".utf8) }
        text += Data("\"".utf8) + member.key + Data("\":".utf8) + member.value.text
      } + Data("}".utf8)
    }
  }

  // MARK: Changes

  /// A change of a member.
  struct Change {
    var path: JSONPath
    /// The member's text; empty if it was removed.
    var text: Data
  }

  /// The maximum number of changes of members; more of them are a change of the whole.
  private static let maximumChanges = 256

  /// The changes of members that make another object of an object.
  ///
  /// - Returns: Nil if one of them is no object, or if the whole is replaced.
  func changes(to new: JSONPart) -> [Change]? {
    guard let pair = Self.comparable(self, new) else { return nil }
    var changes: [Change] = []
    Self.addChanges(from: pair.old, to: pair.new, at: [], to: &changes)
    guard changes.count <= Self.maximumChanges, changes.allSatisfy(\.path.isValid) else { return nil }
    return changes
  }

  /// The members of two objects whose members are compared; nil for other values.
  ///
  /// An object that has no member in common with its former state is another value, such as the next case of an
  /// enumeration, and not some of its members may remain.
  private static func comparable(
    _ old: JSONPart, _ new: JSONPart
  ) -> (old: [Data: JSONPart], new: [Data: JSONPart])? {
    guard let old = old.members, let new = new.members,
      old.isEmpty || new.isEmpty || new.keys.contains(where: { old[$0] != nil })
    else { return nil }
    return (old, new)
  }

  private static func addChanges(
    from old: [Data: JSONPart], to new: [Data: JSONPart], at path: [Data], to changes: inout [Change]
  ) {
    for name in Set(old.keys).union(new.keys).sorted(by: { $0.precedes($1) }) where old[name] != new[name] {
      if let former = old[name], let member = new[name], let pair = comparable(former, member) {
        addChanges(from: pair.old, to: pair.new, at: path + [name], to: &changes)
      } else {
        changes.append(Change(path: JSONPath(path + [name]), text: new[name]?.text ?? Data()))
      }
    }
  }

  /// Changes a member. A member of an object that isn't there any longer isn't changed: the removal holds.
  mutating func apply(_ text: Data, at path: ArraySlice<Data>) {
    guard case .object(var members) = self, let name = path.first else { return }
    if path.count == 1 {
      members[name] = text.isEmpty ? nil : JSONPart(text) ?? .text(text)
    } else {
      members[name]?.apply(text, at: path.dropFirst())
    }
    self = .object(members)
  }
}

/// The names that lead to a member of a JSON value.
struct JSONPath: Sendable, Hashable {
  let bytes: Data

  init(bytes: Data) { self.bytes = bytes }

  init(_ names: [Data]) {
    var writer = ByteWriter()
    for name in names { writer.counted(name) }
    bytes = writer.data
  }

  /// - Throws: If it isn't a list of names.
  var names: [Data] {
    get throws {
      var reader = ByteReader(bytes)
      var names: [Data] = []
      while !reader.isAtEnd {
        let name = try reader.counted(upTo: SyncFormat.maximumNameSize)
        guard names.count < JSONPart.maximumDepth, JSONScanner.isName(name) else {
          throw SyncFormat.error("The name of a member is out of range.")
        }
        names.append(name)
      }
      return names
    }
  }

  /// Whether change sets can contain it.
  var isValid: Bool { (1...SyncFormat.maximumNameSize).contains(bytes.count) && (try? names) != nil }

  /// The path for people: `columns.width`.
  var text: String {
    ((try? names) ?? []).map { String(decoding: $0, as: UTF8.self) }.joined(separator: ".")
  }
}
