/// The reasons why an object's values were replaced; see ``ManagedObject/awakeFromSnapshotEvents(_:)``.
public struct SnapshotEvents: OptionSet, Sendable, Hashable {
  public let rawValue: Int

  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Undo removed the inserted object from the context.
  public static let undoInsertion = SnapshotEvents(rawValue: 1 << 1)
  /// Undo restored the deleted object.
  public static let undoDeletion = SnapshotEvents(rawValue: 1 << 2)
  /// Undo or redo changed the object's values.
  public static let undoUpdate = SnapshotEvents(rawValue: 1 << 3)
  /// A rollback discarded its changes.
  public static let rollback = SnapshotEvents(rawValue: 1 << 4)
  /// The object was refreshed, keeping its changes.
  public static let refresh = SnapshotEvents(rawValue: 1 << 5)
  /// A merge policy resolved a conflict.
  public static let mergePolicy = SnapshotEvents(rawValue: 1 << 6)
}
