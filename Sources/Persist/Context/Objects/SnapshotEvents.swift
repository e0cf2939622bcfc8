/// Why an object has other values than the program had set: see ``ManagedObject/awakeFromSnapshotEvents(_:)``.
public struct SnapshotEvents: OptionSet, Sendable, Hashable {
  public let rawValue: Int

  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Undo took the object out of the context again.
  public static let undoInsertion = SnapshotEvents(rawValue: 1 << 1)
  /// Undo brought the deleted object back.
  public static let undoDeletion = SnapshotEvents(rawValue: 1 << 2)
  /// Undo or redo gave it other values.
  public static let undoUpdate = SnapshotEvents(rawValue: 1 << 3)
  /// A rollback discarded its changes.
  public static let rollback = SnapshotEvents(rawValue: 1 << 4)
  /// It was refreshed with its changes kept.
  public static let refresh = SnapshotEvents(rawValue: 1 << 5)
  /// A merge policy settled a conflict.
  public static let mergePolicy = SnapshotEvents(rawValue: 1 << 6)
}
