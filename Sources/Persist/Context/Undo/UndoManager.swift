extension ManagedObjectContext {
  /// Records the changes of contexts, and undoes them.
  ///
  /// A context without one keeps no history; set one to make its changes undoable.
  ///
  /// ```swift
  /// context.undoManager = .init()
  /// item.name = "Tea"
  /// context.undo()      // the old name
  /// context.redo()      // "Tea"
  /// ```
  ///
  /// Changes are undone in groups. Without explicit groups, a group contains the changes until the end of the event:
  /// until ``ManagedObjectContext/processPendingChanges()`` is called, the context is saved, or something is undone.
  /// Values, relationships, insertions and deletions can all be undone, even if they were saved in the meantime:
  /// undoing a saved insertion deletes the object, and undoing a saved deletion reinserts it under its former
  /// identifier.
  ///
  /// Rolling back or resetting a context discards its history. Objects in the history are held.
  ///
  /// Several contexts with the same isolation can share an undo manager. It is nested in the context because Foundation
  /// has another `UndoManager` on some platforms.
  public final class UndoManager {
    private var undoStack: [UndoGroup] = []
    private var redoStack: [UndoGroup] = []
    /// Groups that were started and not ended, outermost first.
    private var open: [UndoGroup] = []
    /// The changes of the current event outside of explicit groups.
    private var event: UndoGroup?
    private var contexts: [WeakContext] = []
    private var disabledCount = 0
    private var direction = Direction.none

    private enum Direction { case none, undoing, redoing }

    private struct WeakContext {
      weak var context: ManagedObjectContext?
    }

    /// The maximum number of groups that can be undone; older ones are discarded. 0 means no limit.
    public var levelsOfUndo = 0 {
      didSet { forgetBeyondLimit() }
    }

    /// Creates an undo manager without a history. Assign it to a context to record its changes.
    public init() {}

    /// The number of groups that can be undone.
    var undoCount: Int { undoStack.count }
    /// The number of groups that can be redone.
    var redoCount: Int { redoStack.count }
    /// Whether changes are being undone at the moment.
    public var isUndoing: Bool { direction == .undoing }
    /// Whether changes are being redone at the moment.
    public var isRedoing: Bool { direction == .redoing }
    /// Whether changes are recorded; false between ``disableUndoRegistration()`` and ``enableUndoRegistration()``.
    public var isUndoRegistrationEnabled: Bool { disabledCount == 0 }
    /// The number of groups that were started and not ended.
    public var groupingLevel: Int { open.count }

    /// Whether ``undo()`` has an effect: there is a group to undo, or there are changes not yet grouped.
    public var canUndo: Bool {
      event != nil || !undoStack.isEmpty || open.contains { !$0.isEmpty } || hasUnrecordedChanges
    }

    /// Whether ``redo()`` has an effect: something was undone, and nothing has changed since.
    public var canRedo: Bool { !redoStack.isEmpty && !hasUnrecordedChanges }

    /// The name of the group that ``undo()`` would undo, for a menu; empty if it has none.
    public var undoActionName: String { (event ?? undoStack.last)?.name ?? "" }
    /// The name of the group that ``redo()`` would redo, for a menu; empty if it has none.
    public var redoActionName: String { redoStack.last?.name ?? "" }

    /// Names the outermost open group, or else the last one.
    public func setActionName(_ name: String) {
      processPendingChanges()
      if !open.isEmpty {
        open[0].name = name
      } else if event != nil {
        event?.name = name
      } else if !undoStack.isEmpty {
        undoStack[undoStack.count - 1].name = name
      }
    }

    /// Starts a group, nested in the open one if there is one.
    public func beginUndoGrouping() {
      processPendingChanges()
      endEvent()
      open.append(UndoGroup())
    }

    /// Ends the group that was started last. Every group must be ended.
    public func endUndoGrouping() {
      processPendingChanges()
      guard let group = open.popLast() else {
        preconditionFailure("endUndoGrouping was called without a preceding beginUndoGrouping.")
      }
      guard !group.isEmpty else { return }
      if open.isEmpty {
        push(group)
      } else {
        open[open.count - 1].parts.append(.group(group))
      }
    }

    /// Stops recording changes, until enabled as often as disabled.
    public func disableUndoRegistration() {
      processPendingChanges()
      disabledCount += 1
    }

    /// Undoes one ``disableUndoRegistration()``; traps without one before it.
    public func enableUndoRegistration() {
      precondition(disabledCount > 0, "enableUndoRegistration was called without a preceding disableUndoRegistration.")
      processPendingChanges()
      disabledCount -= 1
    }

    /// Undoes the last group, including that of the current event if it has changes. An open group is ended first.
    public func undo() {
      precondition(open.count <= 1, "undo with \(open.count) open groups: end the inner ones, or use undoNestedGroup.")
      processPendingChanges()
      if open.count == 1 { endUndoGrouping() }
      endEvent()
      guard let group = undoStack.popLast() else { return }
      apply(group, .undoing)
    }

    /// Undoes the last inner group of the open group; without an open group, the last group.
    public func undoNestedGroup() {
      guard !open.isEmpty else { return undo() }
      processPendingChanges()
      guard case .group(let group)? = open[open.count - 1].parts.last else { return }
      open[open.count - 1].parts.removeLast()
      apply(group, .undoing)
    }

    /// Redoes the group that was undone last, unless something else was changed since.
    public func redo() {
      processPendingChanges()
      endEvent()
      guard let group = redoStack.popLast() else { return }
      apply(group, .redoing)
    }

    /// Discards everything that could be undone or redone.
    public func removeAllActions() {
      (undoStack, redoStack, event) = ([], [], nil)
      open = open.map { UndoGroup(name: $0.name) }
    }

    private func apply(_ group: UndoGroup, _ direction: Direction) {
      self.direction = direction
      var inverse = UndoGroup(name: group.name)
      for step in group.steps.reversed() {
        guard let context = step.context else { continue }
        UndoPass(step, in: context).run()
        context.processTrackedChanges()
        inverse.parts += event?.parts ?? []
        event = nil
      }
      self.direction = .none
      guard !inverse.isEmpty else { return }
      if direction == .undoing { redoStack.append(inverse) } else { push(inverse, keepsRedo: true) }
    }

    private func push(_ group: UndoGroup, keepsRedo: Bool = false) {
      undoStack.append(group)
      if !keepsRedo { redoStack = [] }
      forgetBeyondLimit()
    }

    private func forgetBeyondLimit() {
      guard levelsOfUndo > 0 else { return }
      undoStack.removeFirst(max(0, undoStack.count - levelsOfUndo))
      redoStack.removeFirst(max(0, redoStack.count - levelsOfUndo))
    }
  }
}

/// Notifications from contexts to their undo manager.
extension ManagedObjectContext.UndoManager {
  func attach(_ context: ManagedObjectContext) {
    contexts.removeAll { $0.context == nil || $0.context === context }
    contexts.append(WeakContext(context: context))
  }

  func detach(_ context: ManagedObjectContext) {
    contexts.removeAll { $0.context == nil || $0.context === context }
    removeActions(of: context)
  }

  /// Records the changes of a context.
  func record(_ entries: ContiguousArray<ChangeTracker.Entry>, in context: ManagedObjectContext) {
    guard isUndoRegistrationEnabled else { return }
    let step = UndoStep(entries, in: context)
    guard !step.isEmpty else { return }
    if direction == .none, !open.isEmpty {
      open[open.count - 1].parts.append(.step(step))
      redoStack = []
    } else {
      event = event ?? UndoGroup()
      event?.parts.append(.step(step))
      if direction == .none { redoStack = [] }
    }
  }

  /// Ends the group of the current event.
  func endEvent() {
    guard direction == .none, let group = event else { return }
    event = nil
    push(group)
  }

  func removeActions(of context: ManagedObjectContext) {
    undoStack = undoStack.map { $0.without(context) }.filter { !$0.isEmpty }
    redoStack = redoStack.map { $0.without(context) }.filter { !$0.isEmpty }
    open = open.map { $0.without(context) }
    event = event?.without(context)
    if event?.isEmpty == true { event = nil }
  }

  private var contextsAlive: [ManagedObjectContext] { contexts.compactMap(\.context) }

  private var hasUnrecordedChanges: Bool {
    isUndoRegistrationEnabled && contextsAlive.contains { $0.hasUndoable }
  }

  @inline(never)
  private func processPendingChanges() {
    guard direction == .none else { return }
    for context in contextsAlive { context.processTrackedChanges() }
  }
}
