import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore

@Suite("Law of object lifetimes")
struct HoldingLawTests {
  @Test(
    "The live objects are exactly those the program holds, the changed ones, and those reached from them",
    .law("holding", short: 300, long: 6000))
  func holding() throws {
    let model = try ManagedObjectModel(HeldNode.model)
    forEachSeed { seed in
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.addInMemoryStore()
      var run = HoldingRun(ManagedObjectContext(coordinator, classes: HeldNode.classes), seed: seed)
      try run.start()
      for step in 0..<60 { try run.step("seed \(seed), step \(step)") }
    }
  }
}

/// A program that walks through and changes a graph, with a model of which objects must be alive.
///
/// The model contains relationships as values, and for each object the ends that it retains, independent of the
/// implementation.
private struct HoldingRun {
  private struct Truth {
    var nodes: Set<Int> = []
    var next: [Int: Int] = [:]
    var friends: [Int: Set<Int>] = [:]

    func members(_ name: String, of node: Int) -> Set<Int> {
      name == "friends" ? friends[node] ?? [] : Set(next.filter { $0.value == node }.keys)
    }
  }

  private struct Holds {
    var ends: Set<Int> = []
    var members: [String: (objects: Set<Int>, areWhole: Bool)] = [:]
    var all: Set<Int> { members.values.reduce(ends) { $0.union($1.objects) } }

    mutating func letGo(of member: Int, _ name: String) { members[name]?.objects.remove(member) }
  }

  private let context: ManagedObjectContext
  private var random: SeededRandom
  private var (saved, now) = (Truth(), Truth())
  private var holds: [Int: Holds] = [:]
  /// The program's variables.
  private var held: [Int: HeldNode] = [:]
  private var ids: [Int: ManagedObjectID] = [:]
  /// Nodes with an unsaved value of `next`.
  private var unsavedNext: Set<Int> = []
  private var alive: Set<Int> = []
  private var count = 0
  private var trail: [String] = []

  init(_ context: ManagedObjectContext, seed: UInt64) {
    self.context = context
    random = SeededRandom(seed: seed)
  }

  mutating func start() throws {
    for _ in 0..<8 { try make() }
    for node in now.nodes.sorted() where Bool.random(using: &random) {
      try setNext(of: node, to: now.nodes.sorted().randomElement(using: &random))
    }
    try save()
    try check("start")
  }

  mutating func step(_ place: String) throws {
    let node = held.keys.sorted().randomElement(using: &random)
    let name = Bool.random(using: &random) ? "friends" : "previous"
    switch Int.random(in: 0..<24, using: &random) {
    case 0: try make()
    case 1, 2, 3, 4: if let node { note("read \(node).next"); try readNext(of: node) }
    case 5, 6, 7, 8: if let node { note("walk \(node).\(name)"); try walk(node, name) }
    case 9, 10:
      if let node {
        let other = Int.random(in: 0..<4, using: &random) == 0 ? nil : held.keys.sorted().randomElement(using: &random)
        note("\(node).next = \(other.map(String.init) ?? "nil")")
        try setNext(of: node, to: other)
      }
    case 11, 12, 13:
      if let node, let other = held.keys.sorted().randomElement(using: &random) {
        note("\(node).\(name) += \(other)")
        try insert(other, in: node, name)
      }
    case 14:
      if let node, let other = now.members("friends", of: node).intersection(held.keys).sorted().first {
        note("\(node).friends -= \(other)")
        try removeFriend(other, of: node)
      }
    case 15, 16, 17: if let node { note("let go of \(node)"); held[node] = nil }
    case 18:
      if let node = now.nodes.sorted().randomElement(using: &random) { note("take \(node)"); try take(node) }
    case 19: if let node, now.nodes.count > 5 { note("delete \(node)"); delete(node) }
    case 20: if context.hasChanges { note("roll back"); rollBack() }
    case 21: if let node { note("refresh \(node)"); refresh(node) }
    default: note("save"); try save()
    }
    try check(place)
  }

  private mutating func note(_ line: String) { trail.append(line) }

  private mutating func make() throws {
    let node = count
    count += 1
    note("make \(node)")
    let object = try context.makeNode(node)
    object.tag = node + 1
    (held[node], ids[node]) = (object, object.objectID)
    now.nodes.insert(node)
    unsavedNext.insert(node)
    holds[node] = Holds()
  }

  private func object(_ node: Int) throws -> HeldNode { try #require(held[node]) }

  /// Accesses an object that the program reached: one that was alive still has its tag, any other is assigned one.
  private mutating func reach(_ object: HeldNode) throws -> Int {
    let node = try #require(object["number"] as? Int)
    if alive.contains(node) {
      try #require(object.tag == node + 1, "\(node) lost what it had beside its row: \(trail.suffix(30))")
    } else {
      object.tag = node + 1
      alive.insert(node)
    }
    return node
  }

  private mutating func holdEnd(_ end: Int, of node: Int) {
    guard end != node, holds[node]?.ends.contains(end) == false else { return }
    if !unsavedNext.contains(node) { holds[node]?.ends = [] }
    holds[node]?.ends.insert(end)
  }

  private mutating func readNext(of node: Int) throws {
    let end = try object(node).next
    #expect(end.flatMap { $0["number"] as? Int } == now.next[node], "\(trail.suffix(30))")
    guard let end else { return }
    holdEnd(try reach(end), of: node)
    if Bool.random(using: &random) { held[try reach(end)] = end }
  }

  private mutating func walk(_ node: Int, _ name: String) throws {
    var found: Set<Int> = []
    let members = try object(node).members(name)
    for member in members { found.insert(try reach(member)) }
    #expect(found == now.members(name, of: node), "\(trail.suffix(30))")
    var kept = holds[node]?.members[name]
    let others = found.subtracting([node])
    if !others.isEmpty || kept != nil {
      var value = kept ?? ([], false)
      value.objects.formUnion(others)
      if value.objects.count >= found.count {
        value.areWhole = true
        if value.objects.count > found.count { value.objects.formIntersection(found) }
      }
      kept = value
    }
    holds[node]?.members[name] = kept
    let numbered = members.sorted { $0.tag < $1.tag }
    if let member = numbered.randomElement(using: &random), Bool.random(using: &random) {
      held[try reach(member)] = member
    }
  }

  private mutating func gain(_ member: Int, in node: Int, _ name: String) {
    guard member != node, holds[node]?.members[name]?.areWhole == true else { return }
    holds[node]?.members[name]?.objects.insert(member)
  }

  private mutating func forget(_ member: Int, in node: Int, _ name: String) {
    if !saved.members(name, of: node).contains(member) { holds[node]?.letGo(of: member, name) }
  }

  private mutating func setNext(of node: Int, to other: Int?) throws {
    try object(node).next = try other.map { try object($0) }
    guard now.next[node] != other else { return }
    unsavedNext.insert(node)
    if let other { holdEnd(other, of: node) }
    if let old = now.next[node] { forget(node, in: old, "previous") }
    if let other { gain(node, in: other, "previous") }
    now.next[node] = other
  }

  private mutating func insert(_ member: Int, in node: Int, _ name: String) throws {
    try object(node).related(name).insert(try object(member))
    guard !now.members(name, of: node).contains(member) else { return }
    gain(member, in: node, name)
    if name == "friends" {
      if member != node { gain(node, in: member, name) }
      now.friends[node, default: []].insert(member)
      now.friends[member, default: []].insert(node)
    } else {
      if let old = now.next[member] { forget(member, in: old, name) }
      unsavedNext.insert(member)
      now.next[member] = node
    }
  }

  private mutating func removeFriend(_ member: Int, of node: Int) throws {
    try object(node).related("friends").remove(try object(member))
    forget(member, in: node, "friends")
    forget(node, in: member, "friends")
    now.friends[node]?.remove(member)
    now.friends[member]?.remove(node)
  }

  private mutating func take(_ node: Int) throws {
    guard let id = ids[node] else { return }
    let object = try #require(try context.existingObject(with: id) as? HeldNode)
    held[try reach(object)] = object
  }

  private mutating func delete(_ node: Int) {
    guard let object = held[node] else { return }
    context.delete(object)
    for member in now.members("previous", of: node) {
      // A rollback also reverts that it was ever a member.
      forget(member, in: node, "previous")
      now.next[member] = nil
      unsavedNext.insert(member)
    }
    for friend in now.members("friends", of: node) { forget(friend, in: node, "friends") }
    if let old = now.next[node] { forget(node, in: old, "previous") }
    for friend in now.friends[node] ?? [] where friend != node {
      forget(node, in: friend, "friends")
      now.friends[friend]?.remove(node)
    }
    now.next[node] = nil
    now.friends[node] = nil
    now.nodes.remove(node)
    // A deleted object retains until the save what it retained; the program doesn't use it until then.
    held[node] = nil
    // A new one leaves the context immediately; objects that retain it release it with the next save.
    if !saved.nodes.contains(node) {
      holds[node] = nil
      for holder in Array(holds.keys) {
        holds[holder]?.ends.remove(node)
        for name in ["friends", "previous"] { holds[holder]?.letGo(of: node, name) }
      }
    }
  }

  private mutating func save() throws {
    try context.save()
    for node in Array(holds.keys) {
      guard now.nodes.contains(node) else {
        holds[node] = nil
        continue
      }
      if unsavedNext.contains(node) || saved.next[node] != now.next[node] {
        holds[node]?.ends.formIntersection([now.next[node] ?? node])
      }
      for name in ["friends", "previous"] {
        let lost = saved.members(name, of: node).subtracting(now.members(name, of: node))
        for member in lost { holds[node]?.letGo(of: member, name) }
      }
    }
    (saved, unsavedNext) = (now, [])
  }

  private mutating func rollBack() {
    context.rollback()
    for node in Array(holds.keys) {
      guard saved.nodes.contains(node) else {
        holds[node] = nil
        continue
      }
      if unsavedNext.contains(node) { holds[node]?.ends.formIntersection([saved.next[node] ?? node]) }
      for name in ["friends", "previous"] {
        let gained = now.members(name, of: node).subtracting(saved.members(name, of: node))
        for member in gained { holds[node]?.letGo(of: member, name) }
      }
    }
    for node in held.keys where !saved.nodes.contains(node) { held[node] = nil }
    (now, unsavedNext) = (saved, [])
  }

  private mutating func refresh(_ node: Int) {
    guard !context.hasChanges, let object = held[node] else { return }
    context.refresh(object, mergeChanges: false)
    holds[node] = Holds()
  }

  /// Compares the live objects with the expected ones.
  private mutating func check(_ place: String) throws {
    let changed = context.insertedObjects.union(context.updatedObjects).union(context.deletedObjects)
    var found = Set(held.keys).union(changed.compactMap { ($0 as? HeldNode).map { $0.tag - 1 } })
    var waiting = Array(found)
    while let node = waiting.popLast() {
      for other in holds[node]?.all ?? [] where found.insert(other).inserted { waiting.append(other) }
    }
    alive = found
    for node in Array(holds.keys) where !alive.contains(node) { holds[node] = nil }
    for node in alive where holds[node] == nil { holds[node] = Holds() }
    let registered = Set(context.registeredObjects.compactMap { ($0 as? HeldNode).map { $0.tag - 1 } })
    let (missing, surplus) = (alive.subtracting(registered), registered.subtracting(alive))
    try #require(registered == alive, "\(place): missing \(missing), too many \(surplus); \(trail.suffix(40))")
  }
}
