/// The treatment of values that an older version has no place for.
public enum MigrationParking: Sendable, Hashable {
  /// They are lost, if that is allowed.
  case none
  /// They are parked in tables of Persist's own in the store, and restored by a later migration in place to a version
  /// that has a place for them. A migration is to an older version if the store had that version before, or if the
  /// version precedes the store's in its family. A migration back parks the older version's own values.
  case olderVersions
  /// Like ``none``, and what earlier migrations parked is deleted.
  case discarding
}
