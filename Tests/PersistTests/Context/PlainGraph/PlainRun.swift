import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore

/// Random steps of one context and of children that it has for a while, beside the plain graph. Undo is tried against
/// copies of the plain graph.
struct PlainRun: PlainTrial {
  static let model = PlainSchema.model

  private let stack: TestStack
  private let context: ManagedObjectContext
  private let undoManager = ManagedObjectContext.UndoManager()
  private var objects: PlainObjects
  private var plain = PlainGraph()
  private var stored = PlainGraph()
  /// The graphs that undo and redo lead through, and which of them is the present one.
  private var history = [PlainGraph()]
  private var position = 0
  var edits: PlainEdits
  private var log: [String] = []
  private(set) var steps = 0

  init(_ stack: TestStack, _ edits: PlainEdits) {
    self.stack = stack
    context = stack.context()
    context.undoManager = undoManager
    objects = PlainObjects(context)
    self.edits = edits
  }

  mutating func step() throws {
    steps += 1
    switch Int.random(in: 0..<60, using: &edits.random) {
    case 0...27: try event()
    case 28...30: try group()
    case 31...38: try undo()
    case 39...42: try redo()
    case 43...46: try save()
    case 47: try rollBack()
    case 48...49: try refresh()
    case 50: try refreshAll()
    case 51: try discard()
    case 52: try obtainIDs()
    case 53...54: try forget()
    case 55: if edits.chance(4) { try reset() }
    default: try child()
    }
    // A look reads everything: faults and unread members are met only where there is none.
    if edits.chance(3) { try look() }
  }

  mutating func end() throws {
    while position > 0 { try undo() }
    try look()
    if !plain.isDenied { try save() }
    context.rollback()
    let reopened = try stack.reopened()
    try expect(PlainObjects(fetching: reopened.context()).state(), stored.state, "after reopening")
  }

  // MARK: Steps

  private mutating func event() throws {
    try recorded { run in
      for _ in 0..<Int.random(in: 1...3, using: &run.edits.random) { try run.edit() }
      run.context.processPendingChanges()
    }
  }

  /// A group of edits, saves, children and inner groups, which are undone together.
  private mutating func group() throws {
    try recorded { run in
      run.undoManager.beginUndoGrouping()
      for _ in 0..<Int.random(in: 1...4, using: &run.edits.random) {
        switch Int.random(in: 0..<12, using: &run.edits.random) {
        case 0: try run.save()
        case 1: try run.childWork(savesAgain: true)
        case 2:
          run.undoManager.beginUndoGrouping()
          try run.edit()
          run.undoManager.endUndoGrouping()
        case 3: run.context.refreshAllObjects()
        default:
          try run.edit()
          if run.edits.chance(2) { run.context.processPendingChanges() }
        }
      }
      run.undoManager.endUndoGrouping()
    }
  }

  private mutating func edit() throws {
    guard let edit = edits.edit(of: plain) else { return }
    log.append("\(edit)")
    plain.apply(edit)
    try objects.apply(edit)
  }

  /// Runs what is one group of undo, or none where it changed nothing.
  private mutating func recorded(_ body: (inout PlainRun) throws -> Void) throws {
    let count = undoManager.undoCount
    try body(&self)
    guard undoManager.undoCount > count else {
      return try expect(plain.state, history[position].state, "a change without undo")
    }
    history.removeSubrange((position + 1)...)
    history.append(plain)
    position += 1
  }

  private mutating func undo() throws {
    guard position > 0 else { return }
    log.append("undo")
    context.undo()
    position -= 1
    plain = history[position].restored(over: stored)
  }

  private mutating func redo() throws {
    guard position < history.count - 1 else { return }
    log.append("redo")
    context.redo()
    position += 1
    plain = history[position].restored(over: stored)
  }

  private mutating func save() throws {
    log.append("save")
    if plain.isDenied {
      let error = persistError { try context.save() }
      try demand(error?.code == .validationDeleteDenied || error?.code == .validationMultiple, "a denied deletion")
      return
    }
    let error = persistError { try context.save() }
    try demand(error == nil, error?.description ?? "")
    plain.save()
    stored = plain
    let left = context.updatedObjects.map { "\($0["name"] ?? "") \($0.changedValues())" }
    try demand(!context.hasChanges, "changes are left after a save: \(left)")
    try expect(PlainObjects(fetching: stack.context()).state(), stored.state, "the store")
    if edits.chance(2) { try look() }
    let strays = try objects.strays()
    try demand(strays == [], "\(strays)")
  }

  private mutating func rollBack() throws {
    log.append("roll back")
    context.rollback()
    plain = stored
    forgetHistory()
  }

  private mutating func refresh() throws {
    guard let id = plain.alive.randomElement(using: &edits.random) else { return }
    log.append("refresh \(id)")
    context.refresh(try objects[id], mergeChanges: true)
  }

  private mutating func refreshAll() throws {
    log.append("refresh all")
    context.refreshAllObjects()
  }

  /// A refresh that discards an object's changes. What was undoable before may lead elsewhere now.
  private mutating func discard() throws {
    guard let id = plain.alive.filter({ stored.objects[$0] != nil }).randomElement(using: &edits.random) else { return }
    let object = try objects[id]
    guard !object.isInserted else { return }
    log.append("discard \(id)")
    context.refresh(object, mergeChanges: false)
    plain.refresh(id, from: stored)
    undoManager.removeAllActions()
    forgetHistory()
  }

  private mutating func obtainIDs() throws {
    log.append("obtain identifiers")
    let some = try plain.alive.map { try objects[$0] }.filter { _ in edits.chance(2) }
    try context.obtainPermanentIDs(for: some)
  }

  private mutating func forget() throws {
    guard !context.hasChanges else { return }
    log.append("forget")
    context.refreshAllObjects()
    try objects.forget(prefetching: edits.chance(2))
  }

  private mutating func reset() throws {
    log.append("reset")
    context.reset()
    plain = stored
    forgetHistory()
    try objects.forget(prefetching: edits.chance(2))
  }

  private mutating func child() throws { try recorded { run in try run.childWork(savesAgain: false) } }

  private mutating func childWork(savesAgain: Bool) throws {
    var child = PlainChild(of: objects, showing: plain)
    try child.work(&edits, &log)
    try child.save(to: &objects, &plain, &edits, &log, again: savesAgain)
  }

  private mutating func forgetHistory() { (history, position) = ([plain], 0) }

  // MARK: Looking

  private func look() throws { try expect(objects.state(), plain.state, "the context") }

  var trace: String { "after \(steps) steps:\n" + log.suffix(60).joined(separator: "\n") }

}
