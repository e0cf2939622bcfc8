import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// One run of random steps over a context, its child and its grandchild.
///
/// A context is changed only while those below it have no changes of their own, so that the expected state of each is
/// simple.
struct ChildRun {
  private let stack: TestStack
  /// The outermost context first.
  let levels: [ManagedObjectContext]
  /// A coordinator of the same store.
  private let other: ManagedObjectContext
  private let follows: Bool
  /// The contents of the store, and the expected state of each level.
  private var stored = DraftGraph()
  private var graphs: [DraftGraph]
  private var controllers: [[FetchedResultsController<ManagedObject>]] = []
  var random: SeededRandom
  private var count = 0
  private(set) var log: [String] = []
  /// Objects that the program retains.
  private var held: [ManagedObject] = []
  /// The identifiers that objects had when they were created, by name, and predicates created with the objects.
  private var formerIDs: [(name: String, id: ManagedObjectID, isSame: FetchPredicate, isOther: FetchPredicate)] = []

  init(_ stack: TestStack, seed: UInt64) throws {
    self.stack = stack
    random = SeededRandom(seed: seed)
    let root = stack.context()
    let child = ManagedObjectContext(parent: root)
    levels = [root, child, ManagedObjectContext(parent: child)]
    other = stack.context()
    follows = Bool.random(using: &random)
    graphs = Array(repeating: DraftGraph(), count: 3)
    for context in levels where follows { context.automaticallyMergesChangesFromParent = true }
    other.automaticallyMergesChangesFromParent = true
    for context in levels { controllers.append(try Self.controllers(context)) }
  }

  private static func controllers(_ context: ManagedObjectContext) throws -> [FetchedResultsController<ManagedObject>] {
    var window = FetchRequest<ManagedObject>("Node", sortedBy: "value")
    (window.fetchLimit, window.fetchOffset) = (3, 1)
    let requests: [(FetchRequest<ManagedObject>, String?)] = [
      (FetchRequest("Node", sortedBy: "value"), nil),
      (try FetchRequest("Node", where: "value > 1", sortedBy: [.init("note")]), "note"),
      (FetchRequest("Node", sortedBy: "box.value"), nil),
      (FetchRequest("Leaf"), nil),
      (window, nil),
    ]
    return try requests.map { request, sections in
      let controller = FetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sections)
      try controller.performFetch()
      return controller
    }
  }

  /// Contexts below a level with unsaved changes.
  private func isClean(below level: Int) -> Bool { levels[(level + 1)...].allSatisfy { !$0.hasChanges } }

  mutating func step() throws {
    let level = Int.random(in: 0..<3, using: &random)
    switch Int.random(in: 0..<24, using: &random) {
    case 0...11: try edit(level)
    case 12...15: try save(level)
    case 16...17: try saveDraft(level)
    case 18: try saveElsewhere()
    case 19: try rollBack(level)
    case 20:
      log.append("refresh \(level)")
      levels[level].refreshAllObjects()
    case 21:
      log.append("identifiers \(level)")
      let new = levels[level].insertedObjects.sorted { $0.label < $1.label }
      try levels[level].obtainPermanentIDs(for: new.filter { _ in Bool.random(using: &random) })
    default:
      log.append("let go")
      held = held.filter { _ in Bool.random(using: &random) }
    }
    for context in levels { context.processPendingChanges() }
    for level in levels.indices { try check(level) }
  }

  mutating func saveEverything() throws {
    for level in [2, 1, 0] { try save(level) }
  }

  // MARK: Steps

  private mutating func edit(_ level: Int) throws {
    guard isClean(below: level) else { return }
    log.append("edit \(level)")
    for _ in 0..<Int.random(in: 1...3, using: &random) { graphs[level] = try change(levels[level], graphs[level]) }
    levels[level].processPendingChanges()
    try follow(level, isTold: false)
  }

  private mutating func save(_ level: Int) throws {
    log.append("save \(level)")
    try levels[level].save()
    if level == 0 { stored = graphs[0] } else { graphs[level - 1] = graphs[level] }
  }

  /// A short-lived child of a level.
  private mutating func saveDraft(_ level: Int) throws {
    guard isClean(below: level) else { return }
    log.append("draft of \(level)")
    let draft = ManagedObjectContext(parent: levels[level])
    graphs[level] = try change(draft, graphs[level])
    try draft.save()
    try follow(level, isTold: follows)
  }

  private mutating func saveElsewhere() throws {
    guard isClean(below: -1) else { return }
    log.append("other")
    stored = try change(other, stored)
    try other.save()
    graphs[0] = stored
    if !follows { levels[0].refreshAllObjects() }
    if !follows { for controller in controllers[0] { try controller.performFetch() } }
    levels[0].processPendingChanges()
    try follow(0, isTold: follows)
  }

  private mutating func rollBack(_ level: Int) throws {
    guard isClean(below: level) else { return }
    log.append("roll back \(level)")
    levels[level].rollback()
    graphs[level] = level == 0 ? stored : graphs[level - 1]
    try follow(level, isTold: follows)
  }

  /// Updates the contexts below a level to its current state: automatically if they merge by themselves, otherwise as a
  /// program would.
  private mutating func follow(_ level: Int, isTold: Bool) throws {
    for below in levels.indices where below > level {
      graphs[below] = graphs[level]
      if isTold { levels[below].processPendingChanges() } else { levels[below].refreshAllObjects() }
      if !isTold { for controller in controllers[below] { try controller.performFetch() } }
    }
  }

  // MARK: Changes

  /// One random change of a context, and the resulting expected state.
  private mutating func change(_ context: ManagedObjectContext, _ graph: DraftGraph) throws -> DraftGraph {
    var graph = graph
    func pick(_ entity: String) -> String? { graph.names(of: entity).randomElement(using: &random) }
    let node = pick("Node")
    switch Int.random(in: 0..<12, using: &random) {
    case 0...2:
      count += 1
      let entity = ["Node", "Node", "Leaf", "Tag", "Box"].randomElement(using: &random) ?? "Node"
      let name = "\(entity) \(count)"
      let object = try context.make(entity, ["name": name])
      graph.make(name, entity)
      let isOther = try FetchPredicate("NOT (SELF IN %@)", [object])
      formerIDs.append((name, object.objectID, try FetchPredicate("SELF == %@", object), isOther))
      if Bool.random(using: &random) { held.append(object) }
    case 3...4:
      guard let name = node ?? pick("Box") else { break }
      let value = [nil, 1, 2, 3].randomElement(using: &random) ?? nil
      try find(name, graph, context)["value"] = value
      graph.setValue(value, of: name)
    case 5:
      guard let node else { break }
      let note = [nil, "a", "b"].randomElement(using: &random) ?? nil
      try find(node, graph, context)["note"] = note
      graph.setNote(note, of: node)
    case 6...7:
      guard let node else { break }
      let parent = Bool.random(using: &random) ? pick("Node") : nil
      let object = try find(node, graph, context)
      // The position of a member that was removed and added again is tested by another law.
      _ = try object.one("parent")?.many("children").map(\.label)
      let other = try parent.map { try find($0, graph, context) }
      _ = try other?.many("children").map(\.label)
      object["parent"] = other
      graph.setParent(parent, of: node)
    case 8:
      guard let node else { break }
      let box = pick("Box")
      try find(node, graph, context)["box"] = try box.map { try find($0, graph, context) }
      graph.setBox(box, of: node)
    case 9:
      guard let node, let tag = pick("Tag") else { break }
      let (owner, member) = (try find(node, graph, context), try find(tag, graph, context))
      let isSet = Bool.random(using: &random)
      // From either side.
      let (set, other) =
        Bool.random(using: &random) ? (try owner.many("tags"), member) : (try member.many("nodes"), owner)
      if isSet { set.insert(other) } else { set.remove(other) }
      graph.setTag(tag, of: node, isSet: isSet)
    case 10:
      guard let node, let children = graph[node]?.children, children.count > 1 else { break }
      let order = children.shuffled(using: &random)
      let objects = try order.map { try find($0, graph, context) }
      try find(node, graph, context).many("children").replace(with: objects)
      graph.setChildren(order, of: node)
    default:
      guard let name = pick(["Node", "Tag", "Box"].randomElement(using: &random) ?? "Node") else { break }
      context.delete(try find(name, graph, context))
      graph.delete(name)
    }
    return graph
  }

  /// Returns an object by name, found in a random way.
  private mutating func find(
    _ name: String, _ graph: DraftGraph, _ context: ManagedObjectContext
  ) throws -> ManagedObject {
    let entity = graph[name]?.entity ?? ""
    let found: ManagedObject?
    switch Int.random(in: 0..<5, using: &random) {
    case 0: found = try context.fetch(FetchRequest(entity)).first { $0.label == name }
    case 1: found = try context.fetch(FetchRequest(entity, sortedBy: "value")).first { $0.label == name }
    case 2: found = try context.fetch(FetchRequest(entity, where: "name == %@", name)).first
    case 3:
      let id = formerIDs.last { $0.name == name }?.id
      found = id.flatMap { try? context.existingObject(with: $0) }
    default:
      var request = FetchRequest<ManagedObject>(entity)
      request.relationshipKeyPathsForPrefetching = entity == "Tag" ? ["nodes"] : entity == "Box" ? ["things"] : ["box"]
      found = try context.fetch(request).first { $0.label == name }
    }
    let object = try #require(found, "\(name) wasn't found: \(log.suffix(8))")
    if Int.random(in: 0..<3, using: &random) == 0 { held.append(object) }
    return object
  }

  // MARK: Checks

  private func check(_ level: Int) throws {
    try check(levels[level], shows: level, "level \(level)")
    try check(ManagedObjectContext(parent: levels[level]), shows: level, "a new child of level \(level)")
    for object in held where object.managedObjectContext === levels[level] {
      let name = object.label
      // A deleted row is noticed on first access.
      guard !object.isDeleted else { continue }
      try expect(object.draftDescription(), graphs[level].description(of: name), "\(name), level \(level)")
    }
    for (index, controller) in controllers[level].enumerated() {
      let fresh = try levels[level].fetch(controller.fetchRequest)
      let shown = controller.fetchedObjects ?? []
      if controller.sectionNameKeyPath == nil {
        try expect(shown.map(\.label), fresh.map(\.label), "controller \(index) of level \(level)")
      } else {
        try expect(shown.map(\.label).sorted(), fresh.map(\.label).sorted(), "controller \(index) of level \(level)")
        for section in controller.sections ?? [] {
          let expected = fresh.filter { ($0["note"] as? String ?? "") == section.name }
          try expect(section.objects.map(\.label), expected.map(\.label), "section \(section.name) of level \(level)")
        }
      }
      for section in (controller.sections ?? []).indices {
        for (row, object) in (controller.sections?[section].objects ?? []).enumerated() {
          let path = ResultIndexPath(section: section, row: row)
          try expect(controller.indexPath(forObject: object), path, "place in controller \(index) of level \(level)")
        }
      }
    }
  }

  /// Checks that a context shows the expected state of a level, in every form of fetch.
  func check(_ context: ManagedObjectContext, shows level: Int, _ what: String) throws {
    let graph = graphs[level]
    for entity in ["Node", "Tag", "Box"] {
      let names = graph.names(of: entity)
      let plain = try context.fetch(FetchRequest(entity))
      try expect(plain.map(\.label).sorted(), names, "\(what): \(entity)")
      for object in plain {
        try expect(object.draftDescription(), graph.description(of: object.label), "\(what): \(object.label)")
      }
      try expect(context.count(for: FetchRequest(entity)), names.count, "\(what): count of \(entity)")
      let ids = try context.fetchObjectIDs(FetchRequest(entity))
      try expect(ids.compactMap { context.registeredObject(for: $0)?.label }.sorted(), names, "\(what): identifiers")
      try checkForms(entity, plain, context, graph, what)
    }
    try checkMade(in: context, graph, what)
    guard context.parent != nil || level == 0 else { return }
    try checkRows(context, context.parent == nil ? stored : above(context, level), what)
  }

  /// The saved state for a context: that of its parent context.
  private func above(_ context: ManagedObjectContext, _ level: Int) -> DraftGraph {
    context === levels[level] ? graphs[level - 1] : graphs[level]
  }

  private func checkForms(
    _ entity: String, _ objects: [ManagedObject], _ context: ManagedObjectContext, _ graph: DraftGraph, _ what: String
  ) throws {
    // Equal values are ordered by key, those without one by number.
    let order = objects.sorted { left, right in
      let values = [left, right].map { $0["value"] as? Int ?? .min }
      if values[0] != values[1] { return values[0] < values[1] }
      let ids = [left.objectID, right.objectID]
      if ids[0].isTemporaryID != ids[1].isTemporaryID { return ids[1].isTemporaryID }
      return ids[0].rowKey.magnitude < ids[1].rowKey.magnitude
    }.map(\.label)
    var request = FetchRequest<ManagedObject>(entity, sortedBy: "value")
    try expect(context.fetch(request).map(\.label), order, "\(what): \(entity) sorted")
    try expect(context.fetchBatched(request).map(\.label), order, "\(what): \(entity) in batches")
    var walked: [String] = []
    try context.forEachBatch(of: FetchRequest<ManagedObject>(entity), size: 2) { walked += $0.map(\.label) }
    try expect(walked.sorted(), graph.names(of: entity), "\(what): \(entity) walked through")
    (request.fetchLimit, request.fetchOffset) = (3, 1)
    let window = Array(order.dropFirst().prefix(3))
    try expect(context.fetch(request).map(\.label), window, "\(what): a window of \(entity)")
    let some = FetchRequest<ManagedObject>(entity, objectIDs: objects.prefix(2).map(\.objectID))
    try expect(
      context.fetch(some).map(\.label).sorted(), objects.prefix(2).map(\.label).sorted(), "\(what): by identifiers")
    let high = try FetchRequest<ManagedObject>(entity, where: "value > 1")
    let names = graph.names(of: entity).filter { graph[$0]?.value ?? 0 > 1 }
    try expect(context.fetch(high).map(\.label).sorted(), names, "\(what): \(entity) with a predicate")
    try expect(
      context.count(for: high), names.count,
      "\(what): count of \(entity) with a predicate")
    let (key, inverse) =
      entity == "Tag" ? ("nodes", "ANY tags") : entity == "Box" ? ("things", "box") : ("children", "parent")
    var reading = FetchRequest<ManagedObject>(entity)
    reading.relationshipKeyPathsForPrefetching = entity == "Node" ? ["box", "tags", "children.parent"] : [key]
    for object in try context.fetch(reading) {
      try expect(object.draftDescription(), graph.description(of: object.label), "\(what): \(object.label) prefetched")
    }
    for object in objects.prefix(2) {
      let members = try FetchRequest<ManagedObject>("Node", where: "\(inverse) == %@", object)
      try expect(
        context.fetch(members).map(\.label).sorted(), object.many(key).map(\.label).sorted(),
        "\(what): those whose \(inverse) is \(object.label)")
    }
  }

  /// Identifiers remembered from before the save still lead to their objects.
  private func checkMade(in context: ManagedObjectContext, _ graph: DraftGraph, _ what: String) throws {
    for (name, id, isSame, isOther) in formerIDs.suffix(12) {
      let entity = graph[name]?.entity ?? String(name.prefix { $0 != " " })
      let isThere = graph[name] != nil
      var request = FetchRequest<ManagedObject>(entity)
      request.predicate = isSame
      try expect(context.fetch(request).map(\.label), isThere ? [name] : [], "\(what): SELF == \(name)")
      request.predicate = isOther
      let others = graph.names(of: entity).filter { $0 != name }
      try expect(context.fetch(request).map(\.label).sorted(), others, "\(what): NOT SELF IN {\(name)}")
      guard isThere else { continue }
      let object = try? context.existingObject(with: id)
      try expect(object?.label, name, "\(what): the object of a former identifier \(id), current \(id.current)")
      try expect(context.registeredObject(for: id) === object, true, "\(what): the registered object of one")
    }
  }

  /// Values fetched without objects are those saved.
  private func checkRows(_ context: ManagedObjectContext, _ graph: DraftGraph, _ what: String) throws {
    var request = FetchRequest<FetchedRow>("Node", sortedBy: "name")
    request.propertiesToFetch = ["name", "value", "box.value"]
    let rows = try context.fetch(request).map { row in
      "\(row["name"] ?? "-") \(row["value"] ?? "-") \(row["box.value"] ?? "-")"
    }
    func text(_ value: Int?) -> String { value.map(String.init) ?? "-" }
    let expected = graph.names(of: "Node").map { name in
      "\(name) \(text(graph[name]?.value)) \(text(graph[name]?.box.flatMap { graph[$0]?.value }))"
    }
    try expect(rows.sorted(), expected.sorted(), "\(what): rows")
  }

  private func expect<Value: Equatable>(_ value: Value, _ wanted: Value, _ what: String) throws {
    try #require(value == wanted, "\(what) after \(log.count) steps, the last being \(log.suffix(10))")
  }
}
