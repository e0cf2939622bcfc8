import Foundation
import PersistTestSupport

@testable import Persist
@testable import PersistModel

/// Objects as plain dictionaries, and the same objects in a context.
///
/// Only one side of each relationship is stored: `team` and `boss` of people, `tags` of people, `parent` of teams. The
/// other sides are searched for.
struct PlainWorld {
  struct Object {
    let entity: String
    var values: [String: PlainValue] = [:]
    var tags: Set<Int> = []
  }

  private(set) var objects: [Int: Object] = [:]
  private var next = 0

  static let model = ModelDescription(entities: [
    EntityDescription(
      "Person",
      attributes: [
        AttributeDescription("name", .string), AttributeDescription("nick", .string),
        AttributeDescription("age", .int32),
        AttributeDescription("big", .int64), AttributeDescription("score", .double),
        AttributeDescription("money", .decimal), AttributeDescription("born", .date),
        AttributeDescription("code", .uuid),
      ],
      relationships: [
        RelationshipDescription("team", to: "Team", inverse: "people"),
        RelationshipDescription("boss", to: "Person", inverse: "reports"),
        RelationshipDescription("reports", toMany: "Person", inverse: "boss"),
        RelationshipDescription("tags", toMany: "Tag", inverse: "people"),
      ]),
    EntityDescription(
      "Team",
      attributes: [AttributeDescription("title", .string), AttributeDescription("size", .int16)],
      relationships: [
        RelationshipDescription("people", toMany: "Person", inverse: "team", isOrdered: true),
        RelationshipDescription("parent", to: "Team", inverse: "children"),
        RelationshipDescription("children", toMany: "Team", inverse: "parent"),
      ]),
    EntityDescription(
      "Tag",
      attributes: [AttributeDescription("label", .string), AttributeDescription("rank", .int16)],
      relationships: [RelationshipDescription("people", toMany: "Person", inverse: "tags")]),
  ])

  enum Kind { case text, whole, fraction, decimal, date, uuid }

  static let attributes: [String: [(name: String, kind: Kind)]] = [
    "Person": [
      ("name", .text), ("nick", .text), ("age", .whole), ("big", .whole), ("score", .fraction),
      ("money", .decimal),
      ("born", .date), ("code", .uuid),
    ],
    "Team": [("title", .text), ("size", .whole)], "Tag": [("label", .text), ("rank", .whole)],
  ]
  static let toOnes: [String: [(name: String, entity: String)]] = [
    "Person": [("team", "Team"), ("boss", "Person")], "Team": [("parent", "Team")], "Tag": [],
  ]
  static let toManys: [String: [(name: String, entity: String)]] = [
    "Person": [("reports", "Person"), ("tags", "Tag")],
    "Team": [("people", "Person"), ("children", "Team")],
    "Tag": [("people", "Person")],
  ]

  func ids(_ entity: String) -> [Int] { objects.filter { $0.value.entity == entity }.keys.sorted() }

  func value(_ key: String, of id: Int) -> PlainValue {
    guard let object = objects[id] else { return .null }
    func holders(_ entity: String, _ holds: (Object) -> Bool) -> PlainValue {
      .list(
        objects.filter { $0.value.entity == entity && holds($0.value) }.keys.sorted().map(
          PlainValue.object))
    }
    switch (object.entity, key) {
    case ("Person", "tags"): return .list(object.tags.sorted().map(PlainValue.object))
    case ("Person", "reports"): return holders("Person") { $0.values["boss"] == .object(id) }
    case ("Team", "people"): return holders("Person") { $0.values["team"] == .object(id) }
    case ("Team", "children"): return holders("Team") { $0.values["parent"] == .object(id) }
    case ("Tag", "people"): return holders("Person") { $0.tags.contains(id) }
    default: return object.values[key] ?? .null
    }
  }

  // MARK: Changes, in the world and in a context at once

  mutating func insert(_ entity: String, _ graph: inout WorldInContext) throws -> Int {
    next += 1
    objects[next] = Object(entity: entity)
    graph.objects[next] = try graph.context.create(entity)
    return next
  }

  mutating func delete(_ id: Int, _ graph: inout WorldInContext) {
    objects[id] = nil
    for other in objects.keys {
      objects[other]?.tags.remove(id)
      for key in ["team", "boss", "parent"] where objects[other]?.values[key] == .object(id) {
        objects[other]?.values[key] = .null
      }
    }
    if let object = graph.objects.removeValue(forKey: id) { graph.context.delete(object) }
  }

  mutating func set(_ key: String, of id: Int, to value: PlainValue, _ graph: WorldInContext) {
    objects[id]?.values[key] = value
    graph.objects[id]?[key] = graph.stored(value, key)
  }

  mutating func toggle(_ tag: Int, of id: Int, _ graph: WorldInContext) {
    objects[id]?.tags.formSymmetricDifference([tag])
    let tags = Set((objects[id]?.tags ?? []).compactMap { graph.objects[$0] })
    graph.objects[id]?["tags"] = tags
  }
}

/// The objects of a world in a context.
struct WorldInContext {
  let context: ManagedObjectContext
  var objects: [Int: ManagedObject] = [:]

  /// The same objects in another context.
  func moved(to context: ManagedObjectContext) -> WorldInContext {
    WorldInContext(context: context, objects: objects.mapValues { context.object(with: $0.objectID) })
  }

  func stored(_ value: PlainValue, _ key: String) -> Any? {
    switch value {
    case .null: nil
    case .number(let number, _):
      switch key {
      case "money": number
      case "score": NSDecimalNumber(decimal: number).doubleValue
      default: Int(NSDecimalNumber(decimal: number).int64Value)
      }
    case .text(let text): text
    case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
    case .uuid(let value): value
    case .object(let id): objects[id]
    case .list: nil
    }
  }

  /// The numbers in the world of some objects; unknown ones are omitted.
  func ids(of found: [ManagedObject]) -> Set<Int> {
    let byIdentity = Dictionary(
      objects.map { (ObjectIdentifier($0.value), $0.key) }, uniquingKeysWith: { a, _ in a })
    return Set(found.map { byIdentity[ObjectIdentifier($0)] ?? -1 })
  }
}
