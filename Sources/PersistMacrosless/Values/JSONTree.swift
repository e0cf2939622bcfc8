import Foundation
import Persist

/// A JSON text that was parsed, for layers that decode stored texts member by member.
struct JSONTree: Equatable {
  fileprivate let value: JSONElement

  fileprivate init(_ value: JSONElement) { self.value = value }

  /// Parses a text; nil if it isn't JSON.
  init?(_ text: String) {
    guard let value = try? JSONReader.value(in: Data(text.utf8)) else { return nil }
    self.value = value
  }

  /// Whether the value is null.
  var isNull: Bool { value == .null }
  /// The members of an object; nil for other values.
  var members: [String: JSONTree]? {
    if case .object(let members) = value { members.mapValues(JSONTree.init) } else { nil }
  }
  /// The elements of an array; nil for other values.
  var elements: [JSONTree]? {
    if case .array(let elements) = value { elements.map(JSONTree.init) } else { nil }
  }

  /// The text with sorted keys and without spaces.
  var data: Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Every value that was parsed can be encoded.
    return (try? encoder.encode(value)) ?? Data()
  }

  /// The text of ``data``; for a string, the string itself.
  var text: String {
    if case .string(let text) = value { text } else { String(decoding: data, as: UTF8.self) }
  }

  /// Returns an object whose members have their new names. A member that has its new name already isn't replaced.
  ///
  /// - Parameter renames: The new names by the former ones.
  func renaming(_ renames: [String: String]) -> JSONTree {
    guard case .object(var members) = value else { return self }
    for (old, new) in renames.sorted(on: \.key) {
      guard let member = members[old] else { continue }
      // A value that has the new name already isn't replaced.
      if members[new] == nil {
        members[new] = member
        members[old] = nil
      }
    }
    return JSONTree(.object(members))
  }

  /// Applies the difference between two versions of a value to a third one: what both have in common remains as it is
  /// in the third one, including members that neither has. Members that the third one lacks are added.
  ///
  /// Elements of arrays correspond by their positions; if their number differs, by those from the start and from the
  /// end as far as nothing was changed.
  func merged(_ new: JSONTree, readAs base: JSONTree?) -> JSONTree {
    JSONTree(Self.merge(value, since: base?.value, into: new.value))
  }

  private static func merge(_ current: JSONElement, since base: JSONElement?, into new: JSONElement) -> JSONElement {
    switch (current, base, new) {
    case (.object(let current), _, .object(let new)):
      let base: [String: JSONElement] = if case .object(let members)? = base { members } else { [:] }
      return .object(
        new.reduce(into: current.filter { base[$0.key] == nil }) { result, member in
          result[member.key] =
            current[member.key].map { merge($0, since: base[member.key], into: member.value) } ?? member.value
        })
    case (.array(let current), .array(let base)?, .array(let new)) where current.count == base.count:
      let shorter = min(base.count, new.count)
      let start = base.count == new.count ? shorter : (0..<shorter).first { base[$0] != new[$0] } ?? shorter
      let end = (0..<shorter - start).first { base[base.count - 1 - $0] != new[new.count - 1 - $0] } ?? shorter - start
      func merged(_ index: Int, _ former: Int) -> JSONElement {
        merge(current[former], since: base[former], into: new[index])
      }
      return .array(
        (0..<start).map { merged($0, $0) } + new[start..<new.count - end]
          + (new.count - end..<new.count).map { merged($0, $0 - new.count + base.count) })
    default: return new == base ? current : new
    }
  }
}
