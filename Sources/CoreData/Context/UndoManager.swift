public import Foundation
import Persist

// Unchecked: used on the queue of its contexts.
/// Undoes changes of contexts. Foundation has no such class outside of Apple's platforms.
open class UndoManager: NSObject, @unchecked Sendable {
  final let base = ManagedObjectContext.UndoManager()

  /// Creates an undo manager without groups.
  public override init() { super.init() }

  /// The greatest number of groups that can be undone; 0 for no limit.
  open var levelsOfUndo: Int {
    get { base.levelsOfUndo }
    set { base.levelsOfUndo = newValue }
  }
  /// Whether changes are grouped by the context's events, as they always are here.
  open var groupsByEvent = true
  /// Whether an undo is running.
  open var isUndoing: Bool { base.isUndoing }
  /// Whether a redo is running.
  open var isRedoing: Bool { base.isRedoing }
  /// Whether there is a group to undo.
  open var canUndo: Bool { base.canUndo }
  /// Whether there is a group to redo.
  open var canRedo: Bool { base.canRedo }
  /// The number of groups that were begun and not ended.
  open var groupingLevel: Int { base.groupingLevel }
  /// Whether changes are registered.
  open var isUndoRegistrationEnabled: Bool { base.isUndoRegistrationEnabled }
  /// The name of the group that would be undone.
  open var undoActionName: String { base.undoActionName }
  /// The name of the group that would be redone.
  open var redoActionName: String { base.redoActionName }
  /// Names the current group.
  open func setActionName(_ name: String) { base.setActionName(name) }
  /// Begins a group.
  open func beginUndoGrouping() { base.beginUndoGrouping() }
  /// Ends a group.
  open func endUndoGrouping() { base.endUndoGrouping() }
  /// Stops the registration of changes until ``enableUndoRegistration()`` is called as often.
  open func disableUndoRegistration() { base.disableUndoRegistration() }
  /// Ends a call of ``disableUndoRegistration()``.
  open func enableUndoRegistration() { base.enableUndoRegistration() }
  /// Undoes the last group.
  open func undo() { base.undo() }
  /// Undoes the last nested group.
  open func undoNestedGroup() { base.undoNestedGroup() }
  /// Redoes the group that was undone last.
  open func redo() { base.redo() }
  /// Forgets all groups.
  open func removeAllActions() { base.removeAllActions() }
}
