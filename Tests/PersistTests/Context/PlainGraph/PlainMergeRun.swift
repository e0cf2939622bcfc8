import PersistTestSupport
import Testing

@testable import Persist

/// Random changes in several contexts, each of which merges at once what another saves, beside plain graphs. Every
/// change is undone and redone now and then, also after others' changes were merged.
struct PlainMergeRun: PlainTrial {
  static let model = PlainSchema.model

  /// One context with the graph that it should show, and what it has last seen of the store.
  private struct Side {
    let context: ManagedObjectContext
    let saves: SaveListener
    var objects: PlainObjects
    var plain = PlainGraph()
    var seen = PlainGraph()
    let undoManager = ManagedObjectContext.UndoManager()
    var undos: [PlainStep] = []
    var redos: [PlainStep] = []
    /// Objects whose rows others have deleted, and not brought back since.
    var lost: Set<Int> = []
  }

  /// Keeps what a context told of its last save.
  private final class SaveListener {
    var last = SavedChanges()
    private var observation: ContextObservation?

    init(_ context: ManagedObjectContext) {
      observation = context.observe { [weak self] event in
        if case .didSave(let saved) = event { self?.last = saved.savedChanges }
      }
    }
  }

  private let stack: TestStack
  private var sides: [Side]
  private var stored = PlainGraph()
  var edits: PlainEdits
  private var log: [String] = []

  init(_ stack: TestStack, _ edits: PlainEdits) {
    self.stack = stack
    sides = (0..<3).map { _ in
      let context = stack.context()
      let side = Side(context: context, saves: SaveListener(context), objects: PlainObjects(context))
      context.undoManager = side.undoManager
      return side
    }
    self.edits = edits
  }

  mutating func step() throws {
    let who = Int.random(in: 0..<sides.count, using: &edits.random)
    switch Int.random(in: 0..<26, using: &edits.random) {
    case 0...14: try edit(who)
    case 15...17: try save(who)
    case 18: rollBack(who)
    case 19...22: try undo(who)
    case 23...24: try redo(who)
    default:
      log.append("\(who) refreshes all")
      sides[who].context.refreshAllObjects()
    }
    if edits.chance(3) { try look(who) }
  }

  mutating func end() throws {
    for who in sides.indices {
      try look(who)
      sides[who].context.rollback()
    }
    let context = try stack.reopened().context()
    try expect(PlainObjects(fetching: context).state(), stored.state, "after reopening")
  }

  private mutating func edit(_ who: Int) throws {
    let before = sides[who].plain
    let count = sides[who].undoManager.undoCount
    for _ in 0..<Int.random(in: 1...2, using: &edits.random) {
      guard let edit = edits.edit(of: sides[who].plain) else { continue }
      log.append("\(who) \(edit)")
      sides[who].plain.apply(edit)
      try sides[who].objects.apply(edit)
    }
    sides[who].context.processPendingChanges()
    let plain = sides[who].plain
    guard sides[who].undoManager.undoCount > count else {
      return try expect(plain.state, before.state, "a change without undo")
    }
    sides[who].undos.append(PlainStep(before: before, after: plain, seen: sides[who].seen))
    sides[who].redos = []
  }

  private mutating func undo(_ who: Int) throws {
    guard let step = sides[who].undos.popLast() else { return }
    log.append("\(who) undoes")
    let count = sides[who].undoManager.redoCount
    sides[who].context.undo()
    let inverse = takeBack(step, who)
    if sides[who].undoManager.redoCount > count { sides[who].redos.append(inverse) }
  }

  private mutating func redo(_ who: Int) throws {
    guard let step = sides[who].redos.popLast() else { return }
    log.append("\(who) redoes")
    let count = sides[who].undoManager.undoCount
    sides[who].context.redo()
    let inverse = takeBack(step, who)
    if sides[who].undoManager.undoCount > count { sides[who].undos.append(inverse) }
  }

  private mutating func takeBack(_ step: PlainStep, _ who: Int) -> PlainStep {
    let side = sides[who]
    let result = side.plain.taking(back: step, over: side.seen, lost: side.lost)
    sides[who].plain = result
    return PlainStep(before: side.plain, after: result, seen: side.seen)
  }

  private mutating func rollBack(_ who: Int) {
    log.append("\(who) rolls back")
    sides[who].context.rollback()
    sides[who].plain = sides[who].seen
    (sides[who].undos, sides[who].redos) = ([], [])
  }

  private mutating func save(_ who: Int) throws {
    log.append("\(who) saves")
    guard !sides[who].plain.isDenied else {
      try demand(persistError { try sides[who].context.save() } != nil, "a denied deletion was saved \(trace)")
      return rollBack(who)
    }
    let error = persistError { try sides[who].context.save() }
    try demand(error == nil, "\(error?.description ?? "") \(trace)")
    sides[who].plain.save()
    stored = sides[who].plain
    sides[who].seen = stored
    try expect(PlainObjects(fetching: stack.context()).state(), stored.state, "the store")
    for other in sides.indices where other != who {
      let side = sides[other]
      side.context.mergeChanges(from: sides[who].saves.last)
      let gone = side.plain.objects.keys.filter { side.seen.objects[$0] != nil && stored.objects[$0] == nil }
      sides[other].lost.formUnion(gone)
      // An undone deletion inserts the row again, also for those that had lost it.
      sides[other].lost.subtract(stored.alive)
      sides[other].plain = side.plain.rebased(from: side.seen, onto: stored)
      sides[other].seen = stored
      for id in stored.alive where side.objects.byNumber[id] == nil {
        sides[other].objects.byNumber[id] = side.context.object(with: try sides[who].objects[id].objectID)
      }
      if edits.chance(2) { try look(other) }
    }
  }

  private func look(_ who: Int) throws {
    try expect(sides[who].objects.state(), sides[who].plain.state, "context \(who)")
  }

  var trace: String { "after:\n" + log.suffix(40).joined(separator: "\n") }

  private func expect(_ state: PlainState, _ wanted: PlainState, _ what: String) throws {
    let differences = state.differences(from: wanted)
    try demand(differences == [], "\(what): \(differences.prefix(8).joined(separator: "; "))\n\(trace)")
  }
}
