import PersistTestSupport

@testable import Persist
@testable import PersistCore

/// A child context for a while, with the graph that it should show. It edits, undoes, and has children of its own.
struct PlainChild {
  private let context: ManagedObjectContext
  private let undoManager = ManagedObjectContext.UndoManager()
  private var objects: PlainObjects
  private var plain: PlainGraph
  /// The graphs that undo leads through, the present one last.
  private var history: [PlainGraph] = []
  private let depth: Int

  init(of parent: PlainObjects, showing graph: PlainGraph, depth: Int = 1) {
    context = ManagedObjectContext(parent: parent.context)
    context.undoManager = undoManager
    objects = PlainObjects(context)
    objects.add(faultsOf: parent)
    self.depth = depth
    plain = graph.asRows
    history = [plain]
  }

  mutating func work(_ edits: inout PlainEdits, _ log: inout [String]) throws {
    log.append("child begins")
    for _ in 0..<Int.random(in: 1...6, using: &edits.random) {
      let count = undoManager.undoCount
      if depth < 3, edits.chance(10) {
        var child = PlainChild(of: objects, showing: plain, depth: depth + 1)
        try child.work(&edits, &log)
        try child.save(to: &objects, &plain, &edits, &log, again: false)
      } else if history.count > 1, edits.chance(6) {
        log.append("  undo in the child")
        try undo()
        continue
      } else {
        guard let edit = edits.edit(of: plain) else { continue }
        log.append("  \(edit)")
        plain.apply(edit)
        try objects.apply(edit)
      }
      context.processPendingChanges()
      if undoManager.undoCount > count { history.append(plain) }
      if edits.chance(6) { try look("the child") }
    }
  }

  private mutating func undo() throws {
    let present = plain
    history.removeLast()
    context.undo()
    plain = try demand(history.last).restored(over: present.withRowsOfParent)
  }

  /// Saves the child's changes to its parent or drops them.
  ///
  /// - Parameter again: Whether they may be undone afterwards and saved again.
  func save(
    to parent: inout PlainObjects, _ graph: inout PlainGraph, _ edits: inout PlainEdits, _ log: inout [String],
    again: Bool
  ) throws {
    guard !edits.chance(4) else { return log.append("child is dropped") }
    var child = self
    guard try child.save(to: &parent, &graph, &log), again, edits.chance(2) else { return }
    log.append("child undoes what it saved")
    let count = Int.random(in: 0..<history.count, using: &edits.random)
    for _ in 0..<count { try child.undo() }
    try child.look("the child after undoing what it saved")
    _ = try child.save(to: &parent, &graph, &log)
  }

  /// - Returns: False for a deletion that is denied.
  private mutating func save(
    to parent: inout PlainObjects, _ graph: inout PlainGraph, _ log: inout [String]
  ) throws -> Bool {
    let error = persistError { try context.save() }
    if plain.isDenied {
      let isRight = error?.code == .validationDeleteDenied || error?.code == .validationMultiple
      try demand(isRight, "a denied deletion in a child: \(error?.description ?? "saved")")
      log.append("child is denied")
      return false
    }
    log.append("child saves")
    try demand(error == nil, error?.description ?? "")
    try demand(!context.hasChanges, "changes are left after a child's save")
    graph = plain.asChanges(of: graph)
    plain.save()
    plain.takeDrafts(of: graph)
    parent.add(contentsOf: objects)
    try look("the child after its save")
    return true
  }

  private func look(_ what: String) throws { try demand(objects.state(), is: plain.state, what) }
}

extension PlainObjects {
  /// The objects of a parent context that are alive there, as those of this one, unread.
  fileprivate mutating func add(faultsOf parent: PlainObjects) {
    for (number, object) in parent.byNumber where object.managedObjectContext === parent.context && !object.isDeleted {
      byNumber[number] = context.object(with: object.objectID)
    }
  }
}

extension PlainGraph {
  /// The objects that the parent of a child context has: all that are saved here, or were deleted since.
  fileprivate var withRowsOfParent: PlainGraph {
    var graph = self
    graph.objects = objects.filter { $0.value.isSaved }
    return graph
  }

  /// A child's view of its parent: for it everything is saved, and deleted objects don't exist. To-one
  /// relationships may refer to it still.
  fileprivate var asRows: PlainGraph {
    var graph = self
    graph.objects = objects.filter { !$0.value.isDeleted }
    for id in graph.alive {
      graph.objects[id]?.isSaved = true
      graph.objects[id]?.isDraft = isDraft(id)
      graph.objects[id]?.many = objects[id]?.many.mapValues { $0.filter(isAlive) } ?? [:]
    }
    return graph
  }

  private func isDraft(_ id: Int) -> Bool { objects[id]?.isSaved == false || objects[id]?.isDraft == true }

  /// The graph of a child that was saved to this parent's.
  fileprivate mutating func takeDrafts(of parent: PlainGraph) {
    for id in objects.keys { objects[id]?.isDraft = parent.isDraft(id) }
  }

  /// The effect of a child's save on its parent: its deletions are the parent's, unsaved.
  fileprivate func asChanges(of parent: PlainGraph) -> PlainGraph {
    var graph = self
    for (id, object) in parent.objects {
      // The child doesn't know what is deleted here, nor the members that rules of deletions left.
      if object.isDeleted, graph.objects[id] == nil { graph.objects[id] = object }
      graph.objects[id]?.isSaved = object.isSaved
      graph.objects[id]?.isDraft = object.isDraft
      for (name, members) in object.many {
        let present = graph.many(id, name)
        graph.objects[id]?.many[name, default: []] += members.filter {
          objects[$0] == nil && !parent.isAlive($0) && !present.contains($0)
        }
      }
    }
    for id in objects.keys where parent.objects[id] == nil {
      graph.objects[id]?.isSaved = false
      graph.objects[id]?.isDraft = false
    }
    // An object that was never saved leaves no trace, whatever its rules.
    graph.delete(objects.keys.filter { !isAlive($0) && graph.objects[$0]?.isSaved == false })
    return graph
  }
}
