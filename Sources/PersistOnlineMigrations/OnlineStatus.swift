public import Foundation

/// The state of a store's online migration, and the programs that take part in it.
public struct OnlineStatus: Sendable, Hashable {
  /// The state.
  public var state = OnlineMigration.State.none
  /// The name of the old version; nil if the store has one model.
  public var from: String?
  /// The name of the new version; nil if the store has one model.
  public var to: String?
  /// The time of the expansion; nil if the store has one model.
  public var since: Date?
  /// The programs that use the store with the old model, described. A program that had the store open before the
  /// expansion is among them from its next read or write on.
  public var oldPrograms: [String] = []
  /// The programs that use the store with the new model, described.
  public var newPrograms: [String] = []
}
