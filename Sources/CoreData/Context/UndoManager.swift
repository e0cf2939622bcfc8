public import Foundation
import Persist

/// Undoes changes of contexts. Foundation has no such class outside of Apple's platforms.
// Unchecked: used on the queue of its contexts.
open class UndoManager: NSObject, @unchecked Sendable {
  final let base = ManagedObjectContext.UndoManager()

  public override init() { super.init() }

  open var levelsOfUndo: Int {
    get { base.levelsOfUndo }
    set { base.levelsOfUndo = newValue }
  }
  open var groupsByEvent = true
  open var isUndoing: Bool { base.isUndoing }
  open var isRedoing: Bool { base.isRedoing }
  open var canUndo: Bool { base.canUndo }
  open var canRedo: Bool { base.canRedo }
  open var groupingLevel: Int { base.groupingLevel }
  open var isUndoRegistrationEnabled: Bool { base.isUndoRegistrationEnabled }
  open var undoActionName: String { base.undoActionName }
  open var redoActionName: String { base.redoActionName }
  open func setActionName(_ name: String) { base.setActionName(name) }
  open func beginUndoGrouping() { base.beginUndoGrouping() }
  open func endUndoGrouping() { base.endUndoGrouping() }
  open func disableUndoRegistration() { base.disableUndoRegistration() }
  open func enableUndoRegistration() { base.enableUndoRegistration() }
  open func undo() { base.undo() }
  open func undoNestedGroup() { base.undoNestedGroup() }
  open func redo() { base.redo() }
  open func removeAllActions() { base.removeAllActions() }
}

extension NSManagedObjectContext {
  public final var undoManager: UndoManager? {
    get { storedUndoManager }
    set {
      storedUndoManager = newValue
      base.undoManager = newValue?.base
    }
  }
}
