import Foundation
package import Persist

/// Combines two versions of a model that grew from the same parent, in the XML of their `.xcdatamodel`s.
///
/// Each difference of either side is taken over, renames included: where one side renames an entity or a property, the
/// other side's changes and references follow, those of subentities and in predicates and expressions too. A part that
/// both sides change in different ways is a conflict.
package struct VersionMerge {
  /// A part that both sides change in different ways.
  package struct Conflict: Sendable, Hashable {
    /// The place in the model, such as `Item.price`.
    package let place: String
    /// The two changes in words.
    package let what: String

    package init(place: String, what: String) { (self.place, self.what) = (place, what) }
  }

  /// The merged model as the text of a `contents` file.
  package let contents: String
  package let conflicts: [Conflict]
  /// Both sides with the renames of the other.
  private let sides: [MarkupElement]
  private let merged: MarkupElement

  /// - Parameters:
  ///   - parent: the version that both sides grew from.
  ///   - first: one side; its layout and order are kept.
  ///   - second: the other side.
  /// - Throws: ``PersistenceError/Code/invalidRequest`` for versions that aren't `.xcdatamodel`s, and the errors of
  ///   reading.
  package init(parent: ModelVersion, first: ModelVersion, second: ModelVersion) throws {
    var base = try Self.root(of: parent)
    var left = try Self.root(of: first)
    var right = try Self.root(of: second)
    let (ours, theirs) = (ModelRenames(from: base, to: left), ModelRenames(from: base, to: right))
    var pass = ElementMerge(firstName: first.name, secondName: second.name)
    pass.conflicts = ours.conflicts(with: theirs).map {
      Conflict(place: $0.place, what: "'\(first.name)' renames it to \($0.first), '\(second.name)' to \($0.second).")
    }
    left = RenamePass.applying(theirs, after: ours, to: left)
    right = RenamePass.applying(ours, after: theirs, to: right)
    base = RenamePass.applying(ours, after: nil, to: base)
    base = RenamePass.applying(theirs, after: ours, to: base)
    sides = [left, right]
    merged = pass.merge(base, with: left, and: right, place: "")
    contents = #"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"# + "\n" + merged.lines().joined()
    conflicts = pass.conflicts
  }

  /// The merged model.
  ///
  /// - Throws: ``PersistenceError/Code/invalidModel`` if a part of one side needs one that the other side removes.
  package var model: ManagedObjectModel {
    get throws { try ManagedObjectModel(XMLModelReader.model(from: merged, file: nil)) }
  }

  /// The flaws of either side, with the names that the renames give to the parts.
  package var flaws: [PersistenceError] {
    sides.flatMap { side in
      (try? ManagedObjectModel(XMLModelReader.model(from: side, file: nil)))?.flaws ?? []
    }
  }

  private static func root(of version: ModelVersion) throws -> MarkupElement {
    guard let url = version.url, url.pathExtension.lowercased() == "xcdatamodel" else {
      throw PersistenceError(
        .invalidRequest, at: PersistenceError.Place(file: version.url),
        "'\(version.name)' isn't an .xcdatamodel; only these can be merged.",
        fix: "Make the changes of one side in a new version by hand, after those of the other.")
    }
    return try MarkupReader.root(of: url.appendingPathComponent("contents"))
  }
}

/// Merges elements that correspond to each other.
private struct ElementMerge {
  let firstName: String
  let secondName: String
  var conflicts: [VersionMerge.Conflict] = []

  /// Settings of the editor, and the version identifier, which a new version doesn't share.
  private static let ignored: Set<String> = [
    "lastSavedToolsVersion", "systemVersion", "minimumToolsVersion", "userDefinedModelVersionIdentifier", "positionX",
    "positionY", "width", "height",
  ]

  init(firstName: String, secondName: String) {
    self.firstName = firstName
    self.secondName = secondName
  }

  /// - Parameter base: the parent's element; nil if both sides have added it.
  mutating func merge(
    _ base: MarkupElement?, with first: MarkupElement, and second: MarkupElement, place: String
  ) -> MarkupElement {
    var attributes: [String: String] = [:]
    for key in Set(first.attributes.keys).union(second.attributes.keys) {
      let (old, left, right) = (base?.attributes[key], first.attributes[key], second.attributes[key])
      if left == right || right == old || Self.ignored.contains(key) {
        attributes[key] = left
      } else if left == old {
        attributes[key] = right
      } else {
        attributes[key] = left
        conflict(
          place, "'\(firstName)' has \(words(key, left)), '\(secondName)' has \(words(key, right)).")
      }
    }
    var merged = MarkupElement(name: first.name, attributes: attributes, line: first.line)
    merged.text = first.text == base?.text ? second.text : first.text
    merged.children = children(base?.children ?? [], with: first.children, and: second.children, place: place)
    return merged
  }

  private func words(_ key: String, _ value: String?) -> String { value.map { "\(key) \"\($0)\"" } ?? "no \(key)" }

  private mutating func conflict(_ place: String, _ what: String) {
    conflicts.append(VersionMerge.Conflict(place: place.isEmpty ? "the model" : place, what: what))
  }

  private mutating func children(
    _ base: [MarkupElement], with first: [MarkupElement], and second: [MarkupElement], place: String
  ) -> [MarkupElement] {
    let keys = SiblingKeys(base, first, second)
    let (old, left, right) = (keys.byKey(base), keys.byKey(first), keys.byKey(second))
    for (side, siblings) in [(firstName, first), (secondName, second)] {
      for (key, elements) in Dictionary(grouping: siblings, by: keys.key) where elements.count > 1 && key.isNamed {
        conflict(self.place(place, elements[0]), "After the renames, '\(side)' has it twice.")
      }
    }
    var merged: [MarkupElement] = []
    for element in first {
      let key = keys.key(element)
      let inner = self.place(place, element)
      switch (old[key], right[key]) {
      case (let old, let other?): merged.append(merge(old, with: element, and: other, place: inner))
      case (nil, nil): merged.append(element)
      case (let old?, nil):
        guard old.markup != element.markup else { continue }
        merged.append(element)
        conflict(inner, "'\(firstName)' changes it, and '\(secondName)' removes it.")
      }
    }
    for element in second where left[keys.key(element)] == nil {
      if let old = old[keys.key(element)] {
        guard old.markup != element.markup else { continue }
        conflict(self.place(place, element), "'\(firstName)' removes it, and '\(secondName)' changes it.")
      }
      let index = merged.lastIndex { $0.name == element.name }.map { $0 + 1 } ?? merged.count
      merged.insert(element, at: index)
    }
    return merged
  }

  private func place(_ outer: String, _ element: MarkupElement) -> String {
    let name = element.attributes["name"] ?? element.attributes["key"] ?? element.name
    return outer.isEmpty ? name : "\(outer).\(name)"
  }
}

/// The identities of elements among their siblings.
private struct SiblingKeys {
  struct Key: Hashable {
    let element: String
    let identity: String
    /// Whether the identity is a name, which two siblings can't share.
    let isNamed: Bool
  }

  /// The names of elements that occur at most once on each side.
  private let single: Set<String>

  init(_ sides: [MarkupElement]...) {
    let names = Set(sides.joined().map(\.name))
    single = names.filter { name in sides.allSatisfy { side in side.count { $0.name == name } <= 1 } }
  }

  func key(_ element: MarkupElement) -> Key {
    let name = element.attributes["name"] ?? element.attributes["key"]
    // Properties of all kinds share their names.
    let kinds = ["attribute", "relationship", "fetchedProperty"]
    let kind = kinds.contains(element.name) ? "property" : element.name
    if let name { return Key(element: kind, identity: name, isNamed: true) }
    return Key(element: kind, identity: single.contains(element.name) ? "" : element.markup, isNamed: false)
  }

  func byKey(_ elements: [MarkupElement]) -> [Key: MarkupElement] {
    Dictionary(elements.map { (key($0), $0) }, uniquingKeysWith: { first, _ in first })
  }
}

extension MarkupElement {
  /// The element on lines with Xcode's indentation; `name` is the first attribute.
  fileprivate func lines(indent: String = "") -> [String] {
    let names = attributes.keys.sorted { $0 == "name" || ($1 != "name" && $0 < $1) }
    let start = indent + "<\(name)" + names.map { " \($0)=\"\((attributes[$0] ?? "").escapedForMarkup)\"" }.joined()
    let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
    guard !children.isEmpty else {
      return [text.isEmpty ? start + "/>\n" : start + ">\(text.escapedForMarkup)</\(name)>\n"]
    }
    return [start + ">\n"] + children.flatMap { $0.lines(indent: indent + "    ") } + ["\(indent)</\(name)>\n"]
  }
}
