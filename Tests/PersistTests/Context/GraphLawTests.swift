import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore

/// After any operations on a graph, both sides of its relationships agree, undo and redo restore the states before and
/// after, and the store equals memory.
@Suite("Laws of the object graph")
struct GraphLawTests {
  @Test("Random edits, undo, redo, rollback, save and refresh keep the laws", .law("graph", short: 12, long: 500))
  func laws() {
    forEachSeed { seed in
      try withStack(RandomGraph.model) { stack in
        var run = try Run(stack, seed: seed)
        for _ in 0..<150 { try run.step() }
        try run.undoEverything()
        try run.save()
        let reopened = try stack.reopened()
        let (memory, stored) = (try run.state(), try GraphState(fetching: reopened.context()))
        #expect(memory.differences(from: stored) == [])
      }
    }
  }

  /// One run of random steps, with the graph's state after each.
  private struct Run {
    private let stack: TestStack
    private let context: ManagedObjectContext
    private let undoManager = ManagedObjectContext.UndoManager()
    private var graph: RandomGraph
    /// The states that undo and redo lead through, and the index of the current one.
    private var history: [GraphState]
    private var position = 0
    private var saved: GraphState
    private var log: [String] = []

    init(_ stack: TestStack, seed: UInt64) throws {
      self.stack = stack
      context = stack.context()
      context.undoManager = undoManager
      graph = RandomGraph(context, seed: seed)
      saved = try GraphState([])
      history = [saved]
    }

    func state() throws -> GraphState { try GraphState(graph.alive) }

    mutating func step() throws {
      switch Int.random(in: 0..<41, using: &graph.random) {
      case 0...26: try edit()
      case 27...31: try undo()
      case 32...34: try redo()
      case 35...36: try save()
      case 37: try refresh()
      case 38: try refreshAll()
      case 39: try obtainIDs()
      default: try rollBack()
      }
      try expect(GraphState.disagreements(graph.alive), [], "sides disagree")
    }

    mutating func undoEverything() throws {
      while position > 0 { try undo() }
      try expect(undoManager.canUndo, false, "something is left to undo")
    }

    private mutating func edit() throws {
      log.append("edit")
      let before = undoManager.undoCount
      try graph.edit()
      context.processPendingChanges()
      guard undoManager.undoCount > before else {
        return try expect(state().differences(from: history[position]), [], "an edit wasn't recorded")
      }
      history.removeSubrange((position + 1)...)
      history.append(try state())
      position += 1
    }

    private mutating func undo() throws {
      guard position > 0 else { return }
      log.append("undo")
      context.undo()
      position -= 1
      try expect(state().differences(from: history[position]), [], "undo led elsewhere")
    }

    private mutating func redo() throws {
      guard position < history.count - 1 else { return }
      log.append("redo")
      context.redo()
      position += 1
      try expect(state().differences(from: history[position]), [], "redo led elsewhere")
    }

    mutating func save() throws {
      log.append("save")
      try context.save()
      saved = try state()
      try expect(saved.differences(from: history[position]), [], "a save changed the graph")
      try expect(saved.differences(from: GraphState(fetching: stack.context())), [], "the store has something else")
      try expect(context.hasChanges, false, "changes are left after a save")
    }

    private mutating func refresh() throws {
      log.append("refresh")
      guard let object = graph.alive.randomElement(using: &graph.random) else { return }
      context.refresh(object, mergeChanges: object.hasChanges || Bool.random(using: &graph.random))
      try expect(state().differences(from: history[position]), [], "a refresh changed the graph")
    }

    private mutating func refreshAll() throws {
      log.append("refresh all")
      context.refreshAllObjects()
      try expect(state().differences(from: history[position]), [], "a refresh changed the graph")
    }

    private mutating func obtainIDs() throws {
      log.append("obtain identifiers")
      try context.obtainPermanentIDs(for: graph.alive.filter { _ in Bool.random(using: &graph.random) })
      try expect(state().differences(from: history[position]), [], "identifiers changed the graph")
    }

    private mutating func rollBack() throws {
      log.append("roll back")
      context.rollback()
      try expect(state().differences(from: saved), [], "a rollback led elsewhere")
      try expect(context.hasChanges, false, "changes are left after a rollback")
      (history, position) = ([try state()], 0)
    }

    private func expect<Value: Equatable>(_ value: Value, _ wanted: Value, _ what: String) throws {
      try #require(value == wanted, "\(what) after \(log.count) steps, the last being \(log.suffix(8))")
    }
  }
}
