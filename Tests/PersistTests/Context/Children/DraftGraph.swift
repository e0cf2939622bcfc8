import PersistTestSupport

@testable import Persist
@testable import PersistModel

/// The expected state of one context, as plain values: nodes in boxes and in ordered trees, with tags.
struct DraftGraph: Equatable {
  static let model = ModelDescription(entities: [
    EntityDescription(
      "Node",
      attributes: [
        AttributeDescription("name", .string), AttributeDescription("value", .int64),
        AttributeDescription("note", .string),
      ],
      relationships: [
        RelationshipDescription("parent", to: "Node", inverse: "children"),
        RelationshipDescription("children", toMany: "Node", inverse: "parent", isOrdered: true),
        RelationshipDescription("tags", toMany: "Tag", inverse: "nodes"),
        RelationshipDescription("box", to: "Box", inverse: "things"),
      ]),
    EntityDescription("Leaf", parent: "Node"),
    EntityDescription(
      "Tag", attributes: [AttributeDescription("name", .string), AttributeDescription("value", .int64)],
      relationships: [RelationshipDescription("nodes", toMany: "Node", inverse: "tags")]),
    EntityDescription(
      "Box", attributes: [AttributeDescription("name", .string), AttributeDescription("value", .int64)],
      relationships: [RelationshipDescription("things", toMany: "Node", inverse: "box", deleteRule: .cascade)]),
  ])

  struct Record: Equatable {
    let entity: String
    var value: Int?
    var note: String?
    var parent: String?
    var box: String?
    var children: [String] = []
    var tags: Set<String> = []
  }

  /// By name.
  private(set) var records: [String: Record] = [:]

  subscript(name: String) -> Record? { records[name] }

  func names(of entity: String) -> [String] {
    records.filter { $0.value.entity == entity || (entity == "Node" && $0.value.entity == "Leaf") }.keys.sorted()
  }

  mutating func make(_ name: String, _ entity: String) { records[name] = Record(entity: entity) }
  mutating func setValue(_ value: Int?, of name: String) { records[name]?.value = value }
  mutating func setNote(_ note: String?, of name: String) { records[name]?.note = note }
  mutating func setBox(_ box: String?, of name: String) { records[name]?.box = box }

  mutating func setParent(_ parent: String?, of name: String) {
    guard let old = records[name], old.parent != parent else { return }
    if let parent = old.parent { records[parent]?.children.removeAll { $0 == name } }
    records[name]?.parent = parent
    if let parent { records[parent]?.children.append(name) }
  }

  mutating func setChildren(_ children: [String], of name: String) {
    for child in records[name]?.children ?? [] where !children.contains(child) { setParent(nil, of: child) }
    for child in children { setParent(name, of: child) }
    records[name]?.children = children
  }

  mutating func setTag(_ tag: String, of name: String, isSet: Bool) {
    if isSet { records[name]?.tags.insert(tag) } else { records[name]?.tags.remove(tag) }
  }

  mutating func delete(_ name: String) {
    guard let record = records[name] else { return }
    setParent(nil, of: name)
    for child in record.children { records[child]?.parent = nil }
    records[name] = nil
    for other in records.keys {
      records[other]?.tags.remove(name)
      if records[other]?.box == name { delete(other) }
    }
  }

  /// All values of an object as a context shows them, as text.
  func description(of name: String) -> String {
    guard let record = records[name] else { return "nothing" }
    let things = records.filter { $0.value.box == name }.keys.sorted()
    let nodes = records.filter { $0.value.tags.contains(name) }.keys.sorted()
    let texts = [record.note ?? "-", record.parent ?? "-", record.box ?? "-"]
    return Self.text(
      record.entity, record.value, texts, [record.children, record.tags.sorted(), things, nodes])
  }

  fileprivate static func text(_ entity: String, _ value: Int?, _ texts: [String], _ lists: [[String]]) -> String {
    "\(entity) \(value.map(String.init) ?? "-") \(texts) \(lists)"
  }
}

extension ManagedObject {
  var label: String { self["name"] as? String ?? "?" }

  /// As ``DraftGraph/description(of:)``.
  func draftDescription() throws -> String {
    let isNode = ["Node", "Leaf"].contains(entity.name)
    let texts = isNode ? [self["note"] as? String, one("parent")?.label, one("box")?.label] : [nil, nil, nil]
    let lists = try ["children", "tags", "things", "nodes"].map { key in
      guard entity.relationship(named: key) != nil else { return [String]() }
      let names = try many(key).map(\.label)
      return key == "children" ? names : names.sorted()
    }
    return DraftGraph.text(entity.name, self["value"] as? Int, texts.map { $0 ?? "-" }, lists)
  }
}
