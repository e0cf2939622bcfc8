import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

/// Core Data's observed results over relationships, of unsaved and saved objects.
@Suite("Predicates over relationships, as observed")
struct ObservedPredicateTests {
  private static let model = ModelDescription(entities: [
    EntityDescription(
      "Parent", attributes: [AttributeDescription("name", .string)],
      relationships: [RelationshipDescription("children", toMany: "Child", inverse: "parent")]),
    EntityDescription(
      "Child",
      attributes: [
        AttributeDescription("state", .string), AttributeDescription("marked", .date),
        AttributeDescription("tag", .string),
      ],
      relationships: [RelationshipDescription("parent", to: "Parent", inverse: "children")]),
  ])

  /// Parents with the states of their children.
  private static let families = [
    "mixed": ["ready", "pending"], "all-ready": ["ready", "ready"], "three": ["ready", "ready", "ready"], "empty": [],
  ]

  private func find(_ format: String, _ names: Set<String>, sourceLocation: SourceLocation = #_sourceLocation) throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      for (name, states) in Self.families {
        let parent = try context.make("Parent", ["name": name])
        for state in states { try context.make("Child", ["state": state, "parent": parent]) }
      }
      let request = try FetchRequest("Parent", where: format)
      func found(_ context: ManagedObjectContext) throws -> Set<String> {
        Set(try context.fetch(request).compactMap { $0["name"] as? String })
      }
      #expect(try found(context) == names, "unsaved", sourceLocation: sourceLocation)
      try context.save()
      #expect(try found(context) == names, "saved", sourceLocation: sourceLocation)
      #expect(try found(stack.context()) == names, "read anew", sourceLocation: sourceLocation)
      let fresh = stack.context()
      let kept = try fresh.fetch(FetchRequest("Parent")).filter { try request.predicate?.evaluate(with: $0) == true }
      #expect(Set(kept.compactMap { $0["name"] as? String }) == names, "in memory", sourceLocation: sourceLocation)
    }
  }

  @Test("PRE-10: ANY is true if at least one member matches")
  func any() throws { try find("ANY children.state == 'ready'", ["mixed", "all-ready", "three"]) }

  @Test("PRE-11: ALL is also true without members")
  func all() throws {
    try find("ALL children.state == 'ready'", ["all-ready", "three", "empty"])
    try find("NONE children.state == 'ready'", ["empty"])
  }

  @Test("PRE-13: SUBQUERY on unsaved objects agrees with counting")
  func subquery() throws {
    try find("SUBQUERY(children, $c, $c.state == 'ready').@count > 1", ["all-ready", "three"])
    try find("SUBQUERY(children, $c, $c.state == 'ready').@count > 2", ["three"])
    try find("SUBQUERY(children, $c, $c.state == 'pending' AND $c.parent.name == name).@count == 1", ["mixed"])
  }

  @Test("PRE-20: a to-many relationship can be counted")
  func counts() throws {
    try find("children.@count > 0", ["mixed", "all-ready", "three"])
    try find("children.@count == 0", ["empty"])
    try find("children.@count >= 3", ["three"])
  }

  @Test("PRE-14: only null equals nil, also once a save has set it")
  func noValue() throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      try context.make("Child", ["tag": "a", "state": "alpha"])
      try context.make("Child", ["state": "orphan"])
      try context.save()
      func states(_ format: String, _ arguments: (any FetchArgument)?...) throws -> Set<String> {
        var request = FetchRequest("Child")
        request.predicate = try FetchPredicate(format, arguments: arguments)
        return Set(try stack.context().fetch(request).compactMap { $0["state"] as? String })
      }
      #expect(try states("tag == %@", "a") == ["alpha"])
      #expect(try states("tag == nil") == ["orphan"])
      #expect(try states("marked == NULL") == ["alpha", "orphan"])
      for child in try context.fetch(FetchRequest("Child", where: "tag == nil")) {
        child["marked"] = Date(timeIntervalSinceReferenceDate: 0)
      }
      try context.save()
      #expect(try states("marked == NULL") == ["alpha"])
      #expect(try states("marked != NULL") == ["orphan"])
    }
  }
}
