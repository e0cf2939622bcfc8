import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore

/// Random changes in several contexts, each of which merges at once what another saves, beside plain graphs. Every
/// change is undone and redone now and then, also after others' changes were merged.
///
/// They are told what to merge, or merge by themselves, also what is saved by another coordinator.
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
    /// The steps of each group, in order.
    var undos: [[PlainStep]] = []
    var redos: [[PlainStep]] = []
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

  private enum Merging: CaseIterable { case told, automatic, otherCoordinators }

  private let stack: TestStack
  private let merging: Merging
  private var sides: [Side]
  private var stored = PlainGraph()
  var edits: PlainEdits
  private var log: [String] = []

  init(_ stack: TestStack, _ edits: PlainEdits) throws {
    self.stack = stack
    let merging = edits.choice(of: Merging.allCases) ?? .told
    self.merging = merging
    sides = try (0..<3).map { _ in
      let context = merging == .otherCoordinators ? try Self.foreignContext(stack) : stack.context()
      context.automaticallyMergesChangesFromParent = merging != .told
      // Changes of the same property can still meet, as by a deletion that others' changes are related to.
      if merging != .told { context.mergePolicy = .mergeByPropertyObjectTrump }
      let side = Side(context: context, saves: SaveListener(context), objects: PlainObjects(context))
      context.undoManager = side.undoManager
      return side
    }
    self.edits = edits
  }

  /// A context of a coordinator of its own.
  private static func foreignContext(_ stack: TestStack) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(model: stack.model)
    try coordinator.add(openStore(at: stack.url, model: stack.model))
    return ManagedObjectContext(coordinator)
  }

  mutating func step() throws {
    let who = Int.random(in: 0..<sides.count, using: &edits.random)
    switch Int.random(in: 0..<32, using: &edits.random) {
    case 0...14: try event(who)
    case 15...17: try save(who)
    case 18: rollBack(who)
    case 19...22: try undo(who)
    case 23...24: try redo(who)
    case 25: try group(who)
    case 26: try child(who)
    case 27: try refresh(who)
    case 28: try discard(who)
    case 29: try letGo(who)
    case 30: try obtainIDs(who)
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

  // MARK: Changes

  /// Makes changes that are undone together.
  ///
  /// - Parameter body: Returns the graphs at the ends of events between the changes.
  private mutating func recorded(_ who: Int, _ body: (inout PlainMergeRun) throws -> [PlainGraph]) throws {
    let before = sides[who].plain
    let count = sides[who].undoManager.undoCount
    let between = try body(&self)
    sides[who].context.processPendingChanges()
    let plain = sides[who].plain
    guard sides[who].undoManager.undoCount > count else {
      return try expect(plain.state, before.state, "a change without undo")
    }
    sides[who].undos.append(
      zip([before] + between, between + [plain]).map { PlainStep(before: $0, after: $1, seen: sides[who].seen) })
    sides[who].redos = []
  }

  private mutating func event(_ who: Int) throws {
    try recorded(who) { run in
      for _ in 0..<Int.random(in: 1...2, using: &run.edits.random) { try run.edit(who) }
      return []
    }
  }

  private mutating func group(_ who: Int) throws {
    try recorded(who) { run in
      run.sides[who].undoManager.beginUndoGrouping()
      defer { run.sides[who].undoManager.endUndoGrouping() }
      var ends: [PlainGraph] = []
      for _ in 0..<Int.random(in: 1...4, using: &run.edits.random) {
        try run.edit(who)
        guard run.edits.chance(2) else { continue }
        run.sides[who].context.processPendingChanges()
        ends.append(run.sides[who].plain)
      }
      return ends
    }
  }

  private mutating func edit(_ who: Int) throws {
    guard let edit = edits.edit(of: sides[who].plain) else { return }
    var plain = sides[who].plain
    plain.apply(edit)
    guard mayMerge(plain, who) else { return }
    log.append("\(who) \(edit)")
    sides[who].plain = plain
    try sides[who].objects.apply(edit)
  }

  /// Whether no other context has an unsaved change of the same property: objects that meet others' changes of it
  /// aren't merged by themselves.
  private func mayMerge(_ plain: PlainGraph, _ who: Int) -> Bool {
    guard merging != .told else { return true }
    let mine = plain.changedRowProperties(since: sides[who].seen)
    return sides.indices.allSatisfy { other in
      other == who || sides[other].plain.changedRowProperties(since: sides[other].seen).isDisjoint(with: mine)
    }
  }

  private mutating func child(_ who: Int) throws {
    guard merging == .told else { return }
    try recorded(who) { run in
      var child = PlainChild(of: run.sides[who].objects, showing: run.sides[who].plain)
      try child.work(&run.edits, &run.log)
      var (objects, plain) = (run.sides[who].objects, run.sides[who].plain)
      defer { (run.sides[who].objects, run.sides[who].plain) = (objects, plain) }
      try child.save(to: &objects, &plain, &run.edits, &run.log, again: false)
      return []
    }
  }

  private func refresh(_ who: Int) throws {
    var random = edits.random
    guard let id = sides[who].plain.alive.randomElement(using: &random) else { return }
    sides[who].context.refresh(try sides[who].objects[id], mergeChanges: true)
  }

  /// A refresh that discards an object's changes. What was undoable before may lead elsewhere now.
  private mutating func discard(_ who: Int) throws {
    let (plain, seen) = (sides[who].plain, sides[who].seen)
    guard let id = plain.alive.filter({ seen.objects[$0] != nil }).randomElement(using: &edits.random) else { return }
    var refreshed = plain
    refreshed.refresh(id, from: seen)
    let object = try sides[who].objects[id]
    guard !object.isInserted, mayMerge(refreshed, who) else { return }
    log.append("\(who) discards \(id)")
    sides[who].context.refresh(object, mergeChanges: false)
    sides[who].plain = refreshed
    sides[who].undoManager.removeAllActions()
    (sides[who].undos, sides[who].redos) = ([], [])
  }

  /// Lets go of every object and finds them again, at times with a reset.
  private mutating func letGo(_ who: Int) throws {
    guard edits.chance(4) || !sides[who].context.hasChanges else { return }
    if sides[who].context.hasChanges {
      log.append("\(who) resets")
      sides[who].context.reset()
      sides[who].plain = sides[who].seen
      (sides[who].undos, sides[who].redos) = ([], [])
    } else {
      log.append("\(who) lets go")
      sides[who].context.refreshAllObjects()
    }
    try sides[who].objects.forget(prefetching: edits.chance(2))
  }

  private mutating func obtainIDs(_ who: Int) throws {
    log.append("\(who) obtains identifiers")
    let some = try sides[who].plain.alive.map { try sides[who].objects[$0] }.filter { _ in edits.chance(2) }
    try sides[who].context.obtainPermanentIDs(for: some)
  }

  private mutating func undo(_ who: Int) throws {
    guard let steps = sides[who].undos.last, mayTakeBack(steps, who) else { return }
    sides[who].undos.removeLast()
    log.append("\(who) undoes")
    let count = sides[who].undoManager.redoCount
    sides[who].context.undo()
    let inverse = revert(steps, who)
    if sides[who].undoManager.redoCount > count { sides[who].redos.append(inverse) }
  }

  private mutating func redo(_ who: Int) throws {
    guard let steps = sides[who].redos.last, mayTakeBack(steps, who) else { return }
    sides[who].redos.removeLast()
    log.append("\(who) redoes")
    let count = sides[who].undoManager.undoCount
    sides[who].context.redo()
    let inverse = revert(steps, who)
    if sides[who].undoManager.undoCount > count { sides[who].undos.append(inverse) }
  }

  private func mayTakeBack(_ steps: [PlainStep], _ who: Int) -> Bool {
    let side = sides[who]
    return mayMerge(
      steps.reversed().reduce(side.plain) { $0.taking(back: $1, over: side.seen, lost: side.lost) }, who)
  }

  /// - Returns: The steps that take this back.
  private mutating func revert(_ steps: [PlainStep], _ who: Int) -> [PlainStep] {
    steps.reversed().map { step in
      let side = sides[who]
      sides[who].plain = side.plain.taking(back: step, over: side.seen, lost: side.lost)
      return PlainStep(before: side.plain, after: sides[who].plain, seen: side.seen)
    }
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
      try demand(persistError { try sides[who].context.save() } != nil, "a denied deletion was saved")
      return rollBack(who)
    }
    let error = persistError { try sides[who].context.save() }
    try demand(error == nil, error?.description ?? "")
    sides[who].plain.save()
    stored = sides[who].plain
    sides[who].seen = stored
    try expect(PlainObjects(fetching: stack.context()).state(), stored.state, "the store")
    for other in sides.indices where other != who {
      let side = sides[other]
      if merging == .told { side.context.mergeChanges(from: sides[who].saves.last) }
      side.context.processPendingChanges()
      let gone = side.plain.objects.keys.filter { side.seen.objects[$0] != nil && stored.objects[$0] == nil }
      sides[other].lost.formUnion(gone)
      // An undone deletion inserts the row again, also for those that had lost it.
      sides[other].lost.subtract(stored.alive)
      sides[other].plain = side.plain.rebased(from: side.seen, onto: stored)
      sides[other].seen = stored
      for id in stored.alive where side.objects.byNumber[id]?.managedObjectContext == nil {
        sides[other].objects.byNumber[id] = side.context.object(with: try sides[who].objects[id].objectID)
      }
      if edits.chance(2) { try look(other) }
    }
  }

  private func look(_ who: Int) throws {
    try expect(sides[who].objects.state(), sides[who].plain.state, "context \(who)")
  }

  var trace: String { "merging \(merging), after:\n" + log.suffix(40).joined(separator: "\n") }

}
