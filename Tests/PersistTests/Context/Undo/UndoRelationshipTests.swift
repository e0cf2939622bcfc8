import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Relationships after undo")
struct UndoRelationshipTests {
  private static func model(ordered isOrdered: Bool, _ rule: DeleteRule) -> ModelDescription {
    SampleModels.rows(ordered: isOrdered, rule, and: RelationshipDescription("favourite", to: "Node"))
  }

  private static let scenes = [true, false].flatMap { isOrdered in
    [DeleteRule.cascade, .nullify].flatMap { rule in [true, false].map { (isOrdered, rule, $0) } }
  }

  @Test("Undoing a deletion restores unsaved members once, saved in the meantime or not", arguments: scenes)
  func unsavedMembers(isOrdered: Bool, rule: DeleteRule, saves: Bool) throws {
    try withStack(Self.model(ordered: isOrdered, rule)) { stack in
      let context = stack.context()
      context.undoManager = .init()
      let node = try context.make("Node")
      try context.save()
      let row = try context.make("Row", ["name": "row", "owner": node])
      context.processPendingChanges()
      context.delete(node)
      context.processPendingChanges()
      if saves { try context.save() }
      context.undo()
      #expect(Array(try node.many("rows")) == [row])
      #expect(row.one("owner") === node)
      try context.save()
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Row", "row").one("owner") != nil)
    }
  }

  @Test(
    "Undoing a member's deletion restores it to its owner, whether or not the members were read",
    arguments: [true, false], [true, false])
  func owners(areRead: Bool, saves: Bool) throws {
    try withStack(Self.model(ordered: false, .nullify)) { stack in
      let context = stack.context()
      context.undoManager = .init()
      let node = try context.make("Node")
      let row = try context.make("Row", ["name": "row"])
      try context.save()
      if areRead { _ = try node.many("rows").count } else { context.refreshAllObjects() }
      row["owner"] = node
      context.processPendingChanges()
      if saves { try context.save() }
      context.delete(row)
      context.processPendingChanges()
      context.undo()
      #expect(row.one("owner") === node)
      #expect(Array(try node.many("rows")) == [row])
      try context.save()
      let fresh = try stack.reopened().context()
      #expect(try fresh.fetch(FetchRequest("Node"))[0].many("rows").count == 1)
    }
  }

  @Test("An object whose saved deletion is undone keeps its identifier; relationships without an inverse lead to it")
  func identifiers() throws {
    try withStack(Self.model(ordered: false, .nullify)) { stack in
      let context = stack.context()
      context.undoManager = .init()
      let node = try context.make("Node", ["name": "node"])
      try context.make("Row", ["name": "row", "favourite": node])
      try context.save()
      let id = node.objectID
      context.delete(node)
      try context.save()
      context.undo()
      #expect(node.isInserted && node.objectID == id)
      try context.save()
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Row", "row").one("favourite")?["name"] as? String == "node")
    }
  }

  @Test("A member removed from an ordered relationship and added again is last, read or not", arguments: [true, false])
  func places(areRead: Bool) throws {
    try withStack(Self.model(ordered: true, .nullify)) { stack in
      let context = stack.context()
      let node = try context.make("Node")
      let rows = try ["a", "b", "c"].map { try context.make("Row", ["name": $0]) }
      node["rows"] = rows
      try context.save()
      if areRead { _ = try node.many("rows").count } else { context.refreshAllObjects() }
      rows[0]["owner"] = nil
      rows[0]["owner"] = node
      #expect(try node.names("rows") == ["b", "c", "a"])
      try context.save()
      let fresh = try stack.reopened().context()
      #expect(try fresh.fetch(FetchRequest("Node"))[0].names("rows") == ["b", "c", "a"])
    }
  }

  @Test("Discarding an object's changes restores no reference to an object that is deleted here")
  func discarding() throws {
    try withStack(Self.model(ordered: true, .nullify)) { stack in
      let context = stack.context()
      let node = try context.make("Node")
      let row = try context.make("Row", ["name": "row", "owner": node])
      try context.save()
      context.delete(node)
      context.refresh(row, mergeChanges: false)
      #expect(row.one("owner") == nil)
      try context.save()
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Row", "row").one("owner") == nil)
    }
  }

  @Test("Undoing the deletion of a row changed by others restores its unsaved members on both sides", arguments: [0, 1])
  func unsavedPairs(deleted: Int) throws {
    try withStack(PlainSchema.model) { stack in
      let (context, other) = (stack.context(), stack.context())
      context.undoManager = .init()
      let nodes = try ["a", "b"].map { try context.make("Node", ["name": $0]) }
      try context.save()
      try nodes[0].many("friends").insert(nodes[1])
      context.processPendingChanges()
      context.delete(nodes[deleted])
      context.processPendingChanges()
      other.object(with: nodes[deleted].objectID)["value"] = 1
      try other.save()
      context.mergeChanges(from: SavedChanges(updated: [nodes[deleted].objectID]))
      context.undo()
      let friends = try nodes.map { try $0.names("friends") }
      #expect(friends == [["b"], ["a"]])
      #expect(nodes[0].hasPersistentChangedValues && nodes[1].hasPersistentChangedValues)
      try context.save()
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Node", "a").names("friends") == ["b"])
    }
  }

  @Test("Undoing a deletion that others made too, and reverted, leaves the row as they saved it")
  func deletedTwice() throws {
    try withStack(PlainSchema.model) { stack in
      let (context, other) = (stack.context(), stack.context())
      (context.undoManager, other.undoManager) = (.init(), .init())
      let node = try context.make("Node", ["name": "node", "value": 1])
      try context.save()
      let theirs = other.object(with: node.objectID)
      context.delete(node)
      context.processPendingChanges()
      other.delete(theirs)
      try other.save()
      context.mergeChanges(from: SavedChanges(deleted: [node.objectID]))
      other.undo()
      theirs["value"] = 2
      try other.save()
      context.mergeChanges(from: SavedChanges(inserted: [node.objectID]))
      context.undo()
      #expect(!node.isDeleted && node["value"] as? Int == 2 && !context.hasChanges)
    }
  }

  @Test(
    "A change that finds the other end outdated can be undone as a whole, with what preceded it in the event",
    arguments: [true, false])
  func outdatedEnd(isDeletion: Bool) throws {
    try withStack(PlainSchema.model) { stack in
      let other = stack.context()
      let theirs = try ["a", "b"].map { try other.make("Node", ["name": $0, "value": 1]) }
      try other.save()
      let context = stack.context()
      context.undoManager = .init()
      let end = context.object(with: theirs[1].objectID)
      #expect(end["spouse"] == nil)
      theirs[0]["spouse"] = theirs[1]
      try other.save()
      let node = context.object(with: theirs[0].objectID)
      #expect(node["value"] as? Int == 1)

      node["value"] = 2
      if isDeletion { context.delete(node) } else { node["spouse"] = nil }
      context.undo()
      #expect(!node.isDeleted && node["value"] as? Int == 1)
      #expect(!node.hasPersistentChangedValues && !end.hasPersistentChangedValues)
      #expect(node.one("spouse") === end && end.one("spouse") === node)
    }
  }
}
