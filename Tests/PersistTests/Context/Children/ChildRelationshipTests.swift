import Foundation
import Testing

@testable import Persist
@testable import PersistCore

@Suite("Relationships between contexts and their children")
struct ChildRelationshipTests {
  private struct Nodes {
    let parent: ManagedObjectContext
    let child: ManagedObjectContext
    /// The parent's, saved.
    let nodes: [ManagedObject]

    init(_ stack: TestStack, count: Int) throws {
      parent = stack.context()
      let parent = parent
      nodes = try (0..<count).map { try parent.make("Node", ["name": "\($0)"]) }
      try parent.save()
      child = ManagedObjectContext(parent: parent)
    }

    /// The child's object for one of the parent's.
    func hers(_ index: Int) -> ManagedObject { child.object(with: nodes[index].objectID) }
  }

  @Test("An order set in a child becomes the parent's; members unknown to the child keep their positions")
  func ordered() throws {
    try withStack(SampleModels.shapes) { stack in
      let all = try Nodes(stack, count: 6)
      all.nodes[0]["children"] = [all.nodes[1], all.nodes[2], all.nodes[3]]
      try all.parent.save()
      let hers = all.hers(0)
      try hers.many("children").insert(all.hers(3), at: 0)
      try hers.many("children").insert(all.hers(4))
      try all.nodes[0].many("children").insert(all.nodes[5], at: 1)
      try all.child.save()
      #expect(try all.nodes[0].names("children") == ["3", "5", "1", "2", "4"])
      #expect(all.nodes[4].one("parent") === all.nodes[0])
      try all.parent.save()
      let reader = try stack.reopened().context()
      #expect(try reader.named("Node", "0").names("children") == ["3", "5", "1", "2", "4"])
    }
  }

  @Test("Both sides agree in the parent after every kind of change in a child", arguments: ["tags", "ranked"])
  func manyToMany(relationship: String) throws {
    try withStack(SampleModels.shapes) { stack in
      let all = try Nodes(stack, count: 2)
      let child = all.child
      let (red, blue) = (try child.make("Tag", ["label": "red"]), try child.make("Tag", ["label": "blue"]))
      try all.hers(0).many(relationship).insert(contentsOf: [red, blue])
      try all.hers(1).many(relationship).insert(red)
      try child.save()
      let back = relationship == "tags" ? "nodes" : "rankers"
      let parents = try #require(all.parent.registeredObject(for: red.objectID))
      #expect(try parents.names(back) == ["0", "1"] && red.objectID.isTemporaryID)
      #expect(try all.nodes[0].names(relationship, by: "label").sorted() == ["blue", "red"])
      try all.hers(0).many(relationship).remove(red)
      child.delete(blue)
      try child.save()
      #expect(try parents.names(back) == ["1"] && all.nodes[0].many(relationship).isEmpty)
      try all.parent.save()
      #expect(try red.names(back) == ["1"] && all.hers(1).many(relationship).contains(red))
      let reader = try stack.reopened().context()
      #expect(try reader.named("Tag", "red", by: "label").names(back) == ["1"])
      #expect(try reader.count(for: FetchRequest("Tag")) == 1)
    }
  }

  @Test("One-to-one partners are exchanged in a child, and in the parent by its save")
  func oneToOne() throws {
    try withStack(SampleModels.shapes) { stack in
      let all = try Nodes(stack, count: 4)
      all.nodes[0]["spouse"] = all.nodes[1]
      all.nodes[2]["spouse"] = all.nodes[3]
      try all.parent.save()
      all.hers(0)["spouse"] = all.hers(3)
      all.hers(2)["spouse"] = all.hers(1)
      try all.child.save()
      #expect(all.nodes[0].one("spouse") === all.nodes[3] && all.nodes[3].one("spouse") === all.nodes[0])
      #expect(all.nodes[2].one("spouse") === all.nodes[1] && all.nodes[1].one("spouse") === all.nodes[2])
      try all.parent.save()
      let reader = try stack.reopened().context()
      #expect(try reader.named("Node", "1").one("spouse")?["name"] as? String == "2")
    }
  }

  @Test("A relationship that is its own inverse stays symmetric when saved to the parent")
  func ownInverse() throws {
    try withStack(SampleModels.shapes) { stack in
      let all = try Nodes(stack, count: 2)
      let new = try all.child.make("Leaf", ["name": "leaf", "colour": "green"])
      try all.hers(0).many("friends").insert(contentsOf: [all.hers(1), new])
      try all.child.save()
      #expect(try all.nodes[0].names("friends") == ["1", "leaf"] && all.nodes[1].names("friends") == ["0"])
      try all.parent.save()
      #expect(try new.names("friends") == ["0"] && all.hers(0).many("friends").contains(new))
      let reader = try stack.reopened().context()
      #expect(try reader.named("Node", "leaf").names("friends") == ["0"])
    }
  }

  @Test("A relationship without an inverse to a new object of the parent can be read, and remains when it is saved")
  func oneWay() throws {
    try withStack(SampleModels.shapes) { stack in
      let all = try Nodes(stack, count: 1)
      let tag = try all.parent.make("Tag", ["label": "red"])
      all.nodes[0]["favourite"] = tag
      let hers = all.hers(0)
      #expect(hers.one("favourite")?.objectID == tag.objectID)
      let other = try all.child.make("Node", ["name": "other", "favourite": hers.one("favourite")])
      try all.parent.save()
      #expect(hers.one("favourite")?.objectID == tag.objectID && !tag.objectID.isTemporaryID)
      #expect(other.one("favourite")?.objectID == tag.objectID && other.isInserted)
      try all.child.save()
      try all.parent.save()
      #expect(other.one("favourite")?["label"] as? String == "red")
      let reader = try stack.reopened().context()
      #expect(try reader.named("Node", "other").one("favourite")?["label"] as? String == "red")
    }
  }

  @Test("A child's new object keeps its relationships to objects that the parent saves in the meantime")
  func savedMeanwhile() throws {
    try withStack(SampleModels.shapes) { stack in
      let all = try Nodes(stack, count: 1)
      let top = try all.parent.make("Node", ["name": "top"])
      let hers = all.child.object(with: top.objectID)
      let new = try all.child.make("Node", ["name": "new", "parent": hers])
      try hers.many("friends").insert(new)
      try all.parent.save()
      #expect(hers.objectID == top.objectID && !top.objectID.isTemporaryID)
      #expect(all.child.registeredObject(for: top.objectID) === hers && new.one("parent") === hers)
      try all.child.save()
      try all.parent.save()
      let reader = try stack.reopened().context()
      let saved = try reader.existingObject(with: top.objectID)
      #expect(try saved.names("children") == ["new"] && saved.names("friends") == ["new"])
    }
  }

  @Test("Values of every type pass to a child and back unchanged")
  func everyType() throws {
    try withStack(SampleModels.types) { stack in
      let parent = stack.context()
      let child = ManagedObjectContext(parent: parent)
      let big = Data(repeating: 7, count: 300_000)
      let sample = try child.make(
        "Sample",
        [
          "int16": 1, "int32": 2, "int64": 3, "decimal": Decimal(string: "1.25"), "double": 1.5, "float": 2.5,
          "string": "text", "boolean": true, "date": Date(timeIntervalSinceReferenceDate: 7), "binary": Data([1, 2]),
          "external": big, "uuid": UUID(), "uri": URL(string: "https://example.org/a"),
          "transformable": Data([3]), "location": ["x": 1.0, "y": 2.0], "memory": "here",
        ])
      func values(_ object: ManagedObject) -> [StoredValue] { (0..<16).map { object.attributeValue(at: $0) } }
      let given = values(sample)
      try child.save()
      let parents = try #require(parent.registeredObject(for: sample.objectID))
      #expect(values(parents) == given && values(sample) == given)
      let second = ManagedObjectContext(parent: parent)
      #expect(values(second.object(with: sample.objectID)) == given)
      try parent.save()
      let third = ManagedObjectContext(parent: stack.context())
      let read = third.object(with: sample.objectID)
      #expect(read["external"] as? Data == big && read["string"] as? String == "text")
      #expect((read["location"] as? [String: Any?])?["y"] as? Double == 2)
    }
  }
}

@Suite("Permanent identifiers of a child's new objects")
struct ChildIdentifierTests {
  // CHD-05
  @Test("An identifier obtained in a child before saving is permanent, and finds the object at every level")
  func obtained() throws {
    try withStack(SampleModels.pets) { stack in
      let root = stack.context()
      let parent = ManagedObjectContext(parent: root)
      let child = ManagedObjectContext(parent: parent)
      let ann = try child.make("Person", ["name": "Ann"])
      try child.make("Pet", ["name": "Rex", "owner": ann])
      try child.obtainPermanentIDs(for: [ann])
      let id = ann.objectID
      #expect(!id.isTemporaryID)
      for context in [child, parent, root] { try context.save() }
      #expect(ann.objectID == id)
      for context in [child, parent, root] {
        try #expect(context.existingObject(with: id)["name"] as? String == "Ann")
        try #expect(context.existingObject(with: id).names("pets") == ["Rex"])
      }
      let reader = try stack.reopened().context()
      try #expect(reader.existingObject(with: id)["name"] as? String == "Ann")
    }
  }

  @Test(
    "What had left an object before a child deleted it isn't deleted with it in the parent",
    arguments: [("Node", "albums", "Album"), ("Node", "host", "Host"), ("Drawer", "scraps", "Tag")])
  func leftBeforeDeletion(entity: String, relationship: String, destination: String) throws {
    try withStack(PlainSchema.model) { stack in
      let context = stack.context()
      let owner = try context.make(entity, ["name": "owner"])
      let other = try context.make(destination, ["name": "other"])
      let isToMany = relationship != "host"
      if isToMany { try owner.many(relationship).insert(other) } else { owner[relationship] = other }
      try context.save()
      let child = ManagedObjectContext(parent: context)
      let hers = child.object(with: owner.objectID)
      if isToMany { try hers.many(relationship).removeAll() } else { try hers.setValue(nil, forKey: relationship) }
      child.delete(hers)
      try child.save()
      #expect(owner.isDeleted && !other.isDeleted)
      try context.save()
      #expect(try stack.reopened().context().names(destination) == ["other"])
    }
  }

  @Test(
    "Members of a deleted object don't refer to it after the save, reread before it or not", arguments: [true, false])
  func membersOfDeleted(isRefreshed: Bool) throws {
    try withStack(PlainSchema.model) { stack in
      let context = stack.context()
      let node = try context.make("Node", ["name": "node"])
      let place = try context.make("Place", ["name": "place"])
      try node.many("visits").insert(place)
      try context.save()
      let child = ManagedObjectContext(parent: context)
      child.delete(child.object(with: node.objectID))
      try child.save()
      if isRefreshed { context.refresh(place, mergeChanges: true) }
      _ = try place.names("visitors")
      try context.save()
      #expect(try place.many("visitors").count == 0)
    }
  }

  @Test(
    "An object that a child deletes leaves those that the parent had related to it since the child read it",
    arguments: [("tags", "Tag", "nodes"), ("parent", "Node", "children"), ("spouse", "Node", "spouse")])
  func relatedInParent(relationship: String, destination: String, inverse: String) throws {
    try withStack(RandomGraph.model) { stack in
      let parent = stack.context()
      let node = try parent.make("Node", ["name": "node"])
      let end = try parent.make(destination, ["name": "end"])
      try parent.save()
      let child = ManagedObjectContext(parent: parent)
      let hers = child.object(with: node.objectID)
      for entry in hers.layout.relationships where entry.isToMany { _ = try hers.many(entry.name).count }
      #expect(hers["name"] as? String == "node")
      if relationship == "tags" { try node.many("tags").insert(end) } else { node[relationship] = end }
      let hersOfEnd = child.object(with: end.objectID)
      func ends() throws -> [ManagedObject] {
        inverse == "spouse" ? hersOfEnd.one(inverse).map { [$0] } ?? [] : try Array(hersOfEnd.many(inverse))
      }
      #expect(try ends() == [hers])
      child.delete(hers)
      try child.save()
      #expect(try ends() == [])
      try parent.save()
      #expect(try ends() == [])
      #expect(try GraphState.disagreements(RandomGraph.everything(in: stack.reopened().context())) == [])
    }
  }

  @Test(
    "What a child read of a parent's unsaved changes leads to the same objects when the parent's save drops them",
    arguments: [MergePolicy.rollback, .mergeByPropertyStoreTrump], [true, false])
  func droppedChanges(policy: MergePolicy, isDeletedByOthers: Bool) throws {
    try withStack(PlainSchema.model) { stack in
      let (parent, other) = (stack.context(), stack.context())
      parent.mergePolicy = policy
      let passport = try parent.make("Passport", ["name": "passport"])
      let spare = try parent.make("Node", ["name": "spare"])
      try parent.save()
      let node = try parent.make("Node", ["name": "node"])
      node["passport"] = passport
      let child = ManagedObjectContext(parent: parent)
      let copy = child.object(with: passport.objectID)
      let holder = try #require(copy.one("holder"))
      #expect(holder["name"] as? String == "node")
      let theirs = other.object(with: passport.objectID)
      if isDeletedByOthers { other.delete(theirs) } else { theirs["holder"] = other.object(with: spare.objectID) }
      try other.save()
      try parent.save()
      #expect(holder.objectID == node.objectID)
      #expect(copy.one("holder") === holder)
    }
  }

  @Test(
    "What a child read of changes that its parent discarded leads to the same objects after the parent's save",
    arguments: [1, 2], [true, false])
  func discardedChanges(depth: Int, isDeleted: Bool) throws {
    try withStack(PlainSchema.model) { stack in
      let parent = stack.context()
      let passport = try parent.make("Passport", ["name": "passport"])
      let tag = try parent.make("Tag", ["name": "tag"])
      try parent.save()
      let node = try parent.make("Node", ["name": "node"])
      node["passport"] = passport
      try node.many("tags").insert(tag)
      let contexts = sequence(first: ManagedObjectContext(parent: parent)) { ManagedObjectContext(parent: $0) }
      let child = try #require(Array(contexts.prefix(depth)).last)
      let copies = [child.object(with: passport.objectID), child.object(with: tag.objectID)]
      let holder = try #require(copies[0].one("holder"))
      #expect(try copies[1].names("nodes") == ["node"])
      if isDeleted { child.delete(copies[0]) }
      for object in [passport, tag] { parent.refresh(object, mergeChanges: false) }
      #expect(node.one("passport") == nil)
      try parent.save()
      #expect(holder.objectID == node.objectID)
      #expect(copies[0].one("holder") === holder)
      #expect(try Array(copies[1].many("nodes")) == [holder])
      #expect(parent.graph.formerlyChanged.isEmpty)
    }
  }

  @Test("What a child read of a new object that its parent then deleted leads to the same objects after the save")
  func deletedNewObject() throws {
    try withStack(PlainSchema.model) { stack in
      let parent = stack.context()
      let node = try parent.make("Node", ["name": "node"])
      let passport = try parent.make("Passport", ["name": "passport"])
      node["passport"] = passport
      let child = ManagedObjectContext(parent: parent)
      let copy = child.object(with: passport.objectID)
      let holder = try #require(copy.one("holder"))
      parent.delete(passport)
      try parent.save()
      #expect(holder.objectID == node.objectID)
      #expect(copy.one("holder") === holder)
      #expect(parent.graph.formerlyChanged.isEmpty)
    }
  }

  @Test(
    "What a grandchild read of changes that its parent discarded leads to the same objects after the topmost save",
    arguments: [true, false])
  func discardedByMiddle(isReset: Bool) throws {
    try withStack(PlainSchema.model) { stack in
      let top = stack.context()
      let saved = try top.make("Passport", ["name": "saved"])
      try top.save()
      let node = try top.make("Node", ["name": "node"])
      let middle = ManagedObjectContext(parent: top)
      let passport = middle.object(with: saved.objectID)
      passport["holder"] = middle.object(with: node.objectID)
      let tag = try middle.make("Tag", ["name": "tag"])
      try tag.many("nodes").insert(middle.object(with: node.objectID))
      let child = ManagedObjectContext(parent: middle)
      let copies = [child.object(with: passport.objectID), child.object(with: tag.objectID)]
      let holder = try #require(copies[0].one("holder"))
      #expect(try Array(copies[1].many("nodes")) == [holder])
      if isReset { middle.reset() } else { middle.rollback() }
      try top.save()
      #expect(holder.objectID == node.objectID)
      #expect(copies[0].one("holder") === holder)
      #expect(try Array(copies[1].many("nodes")) == [holder])
      #expect(middle.graph.formerlyChanged.isEmpty && top.graph.formerlyChanged.isEmpty)
    }
  }
}
