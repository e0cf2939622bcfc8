import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Others' saved changes are merged beneath unsaved changes, and both sides of relationships agree.
@Suite("Relationships after merging")
struct MergedRelationshipTests {
  private static func model(ordered isOrdered: Bool, _ rule: DeleteRule = .nullify) -> ModelDescription {
    SampleModels.rows(ordered: isOrdered, rule, and: RelationshipDescription("spouse", to: "Row", inverse: "spouse"))
  }

  private static let scenes = [true, false].flatMap { isOrdered in
    [true, false].flatMap { isRead in
      [MergePolicy.mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump].map { (isOrdered, isRead, $0) }
    }
  }

  @Test("An unsaved owner prevails over the one saved by others, on both sides", arguments: scenes)
  func owners(isOrdered: Bool, isRead: Bool, policy: MergePolicy) throws {
    try withStack(Self.model(ordered: isOrdered)) { stack in
      let (context, other) = (stack.context(), stack.context())
      context.mergePolicy = policy
      let nodes = try ["a", "b"].map { try context.make("Node", ["name": $0]) }
      let row = try context.make("Row", ["name": "row"])
      try context.save()
      if isRead { for node in nodes { _ = try node.many("rows").count } } else { context.refreshAllObjects() }
      row["owner"] = nodes[1]
      let theirs = other.object(with: row.objectID)
      theirs["owner"] = other.object(with: nodes[0].objectID)
      try other.save()
      context.mergeChanges(from: SavedChanges(updated: [row.objectID, nodes[0].objectID]))
      func agree() throws {
        #expect(row.one("owner") === nodes[1])
        #expect(try nodes[0].names("rows") == [] && nodes[1].names("rows") == ["row"])
      }
      try agree()
      try context.save()
      try agree()
      context.refreshAllObjects()
      try agree()
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Row", "row").one("owner")?["name"] as? String == "b")
    }
  }

  @Test("A deletion reaches what others have related to the object, though it had been related to that here for a while")
  func cascade() throws {
    try withStack(PlainSchema.model) { stack in
      let (context, other) = (stack.context(), stack.context())
      let node = try context.make("Node", ["name": "node"])
      let host = try context.make("Host", ["name": "host"])
      try context.save()
      node["host"] = host
      try node.setValue(nil, forKey: "host")
      context.delete(node)
      let theirs = other.object(with: node.objectID)
      theirs["host"] = other.object(with: host.objectID)
      try other.save()
      context.mergeChanges(from: SavedChanges(updated: [node.objectID, host.objectID]))
      #expect(host.isDeleted)
      try context.save()
      #expect(try stack.reopened().context().names("Host").isEmpty)
    }
  }

  @Test("A member that has another owner here doesn't deny a deletion, whichever owner others have assigned to it")
  func denial() throws {
    try withStack(Self.model(ordered: false, .deny)) { stack in
      let (context, other) = (stack.context(), stack.context())
      let nodes = try ["a", "b", "c"].map { try context.make("Node", ["name": $0]) }
      let row = try context.make("Row", ["name": "row"])
      row["owner"] = nodes[0]
      try context.save()
      let saves = EventRecorder(other)
      context.delete(nodes[1])
      row["owner"] = nodes[2]
      other.object(with: row.objectID)["owner"] = other.object(with: nodes[1].objectID)
      try other.save()
      context.mergeChanges(from: try #require(saves.saves.last?.savedChanges))
      try context.save()
      let fresh = try stack.reopened().context()
      #expect(try fresh.names("Node") == ["a", "c"])
      #expect(try fresh.named("Row", "row").one("owner")?["name"] as? String == "c")
    }
  }

  @Test("New members reordered among themselves remain after those that others saved in the meantime")
  func movedNewMembers() throws {
    try withStack(Self.model(ordered: true)) { stack in
      let (context, other) = (stack.context(), stack.context())
      let node = try context.make("Node", ["name": "node"])
      let rows = try ["a", "b", "c", "d"].map { try context.make("Row", ["name": $0]) }
      try node.many("rows").insert(rows[0])
      try context.save()
      try node.many("rows").insert(rows[1])
      try node.many("rows").insert(rows[2], at: 1)
      #expect(try node.names("rows") == ["a", "c", "b"])
      try other.object(with: node.objectID).many("rows").insert(other.object(with: rows[3].objectID))
      try other.save()
      context.mergeChanges(from: SavedChanges(updated: [node.objectID, rows[3].objectID]))
      #expect(try node.names("rows") == ["a", "d", "c", "b"])
      try context.save()
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Node", "node").names("rows") == ["a", "d", "c", "b"])
    }
  }

  @Test("Members are in the order that others save once those have deleted the one that was put between them")
  func deletedMemberBetweenOthers() throws {
    try withStack(Self.model(ordered: true)) { stack in
      let (context, other) = (stack.context(), stack.context())
      let node = try context.make("Node", ["name": "node"])
      let rows = try ["a", "b", "c"].map { try context.make("Row", ["name": $0]) }
      try node.many("rows").replace(with: [rows[0], rows[1]])
      try context.save()
      try node.many("rows").insert(rows[2], at: 1)
      other.delete(other.object(with: rows[2].objectID))
      try other.save()
      context.mergeChanges(from: SavedChanges(deleted: [rows[2].objectID]))
      #expect(try node.names("rows") == ["a", "b"])
      let theirs = try other.named("Node", "node").many("rows")
      try theirs.replace(with: ["b", "a"].map { try other.named("Row", $0) })
      try other.save()
      context.mergeChanges(from: SavedChanges(updated: [node.objectID]))
      #expect(try node.names("rows") == ["b", "a"])
      try context.save()
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Node", "node").names("rows") == ["b", "a"])
    }
  }

  @Test("A copy of members records that the store may have some of the differences")
  func copies() {
    let members = ToManyMembers(isOrdered: true)
    members.insert(ManagedObjectID(entityName: "Row", storeIdentifier: "A", key: .permanent(1)))
    #expect(!ToManyMembers(copying: members).mayOverlapStored)
    members.forgetStored()
    #expect(members.mayOverlapStored && ToManyMembers(copying: members).mayOverlapStored)
  }

  @Test("A partner saved by others is replaced by an unsaved one")
  func partners() throws {
    try withStack(Self.model(ordered: false)) { stack in
      let (context, other) = (stack.context(), stack.context())
      let rows = try ["a", "b", "c"].map { try context.make("Row", ["name": $0]) }
      try context.save()
      rows[0]["spouse"] = rows[1]
      other.object(with: rows[0].objectID)["spouse"] = other.object(with: rows[2].objectID)
      try other.save()
      context.mergeChanges(from: SavedChanges(updated: [rows[0].objectID, rows[2].objectID]))
      #expect(rows[0].one("spouse") === rows[1] && rows[1].one("spouse") === rows[0] && rows[2].one("spouse") == nil)
      try context.save()
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Row", "b").one("spouse")?["name"] as? String == "a")
      #expect(try fresh.named("Row", "c").one("spouse") == nil)
    }
  }

  @Test(
    "Objects that others related to an object deleted here follow its delete rule",
    arguments: [DeleteRule.nullify, .cascade])
  func deleted(rule: DeleteRule) throws {
    try withStack(Self.model(ordered: false, rule)) { stack in
      let (context, other) = (stack.context(), stack.context())
      let node = try context.make("Node", ["name": "node"])
      let row = try context.make("Row", ["name": "row"])
      try context.save()
      context.delete(node)
      other.object(with: row.objectID)["owner"] = other.object(with: node.objectID)
      try other.save()
      context.mergeChanges(from: SavedChanges(updated: [row.objectID, node.objectID]))
      #expect(row.isDeleted == (rule == .cascade))
      if rule == .nullify { #expect(row.one("owner") == nil) }
      try context.save()
      let fresh = try stack.reopened().context()
      #expect(try fresh.fetch(FetchRequest("Row")).map { $0.one("owner") == nil } == (rule == .cascade ? [] : [true]))
    }
  }

  @Test("A merged deletion leaves a retained object registered and deleted, with its context")
  func mergedDeletion() throws {
    try withStack(Self.model(ordered: false)) { stack in
      let (context, other) = (stack.context(), stack.context())
      let row = try context.make("Row", ["name": "row"])
      try context.save()
      other.delete(other.object(with: row.objectID))
      try other.save()
      context.mergeChanges(from: SavedChanges(deleted: [row.objectID]))
      #expect(row.isDeleted && row.managedObjectContext === context && !context.hasChanges)
      #expect(context.registeredObject(for: row.objectID) === row && context.deletedObjects == [row])
      #expect(row["name"] as? String == "row")
      #expect(persistError { _ = try context.existingObject(with: row.objectID) }?.code == .objectNotFound)
      context.delete(row)
      try context.save()
      #expect(try context.fetch(FetchRequest("Row")).isEmpty)
    }
  }

  @Test("A refresh with merging discards values set without counting as changes")
  func primitiveValues() throws {
    try withStack(Self.model(ordered: false)) { stack in
      let context = stack.context()
      let row = try context.make("Row", ["name": "row"])
      try context.save()
      try row.setPrimitiveValue("other", forKey: "name")
      context.refresh(row, mergeChanges: true)
      #expect(row["name"] as? String == "row")
    }
  }

  @Test(
    "A pair that others formed too is no longer a change: it is removed when they remove it",
    arguments: ["tags", "ranked"])
  func samePair(relationship: String) throws {
    try withStack(PlainSchema.model) { stack in
      let (context, other) = (stack.context(), stack.context())
      let node = try context.make("Node", ["name": "node"])
      let tag = try context.make("Tag", ["name": "tag"])
      try context.save()
      let changes = SavedChanges(updated: [node.objectID, tag.objectID])
      try node.many(relationship).insert(tag)
      let theirs = try other.named("Node", "node")
      try theirs.many(relationship).insert(other.named("Tag", "tag"))
      try other.save()
      context.mergeChanges(from: changes)
      try theirs.many(relationship).removeAll()
      try other.save()
      context.mergeChanges(from: changes)
      #expect(try node.names(relationship) == [])
      #expect(try tag.names(relationship == "tags" ? "nodes" : "rankers") == [])
    }
  }

  @Test("A row restored under an owner that is deleted here is deleted with it")
  func cascadeToReturnedRow() throws {
    try withStack(PlainSchema.model) { stack in
      let (context, other) = (stack.context(), stack.context())
      other.undoManager = .init()
      let drawer = try context.make("Drawer", ["name": "drawer"])
      let node = try context.make("Node", ["name": "node"])
      try context.save()
      context.delete(drawer)
      let theirs = try other.named("Node", "node")
      theirs["drawer"] = try other.named("Drawer", "drawer")
      try other.save()
      other.processPendingChanges()
      other.delete(theirs)
      try other.save()
      context.mergeChanges(from: SavedChanges(updated: [drawer.objectID], deleted: [node.objectID]))
      other.undo()
      try other.save()
      context.mergeChanges(from: SavedChanges(inserted: [node.objectID], updated: [drawer.objectID]))
      #expect(node.isDeleted && context.deletedObjects.contains(node))
      try context.save()
      let fresh = try stack.reopened().context()
      #expect(try fresh.names("Node") == [])
    }
  }
}
