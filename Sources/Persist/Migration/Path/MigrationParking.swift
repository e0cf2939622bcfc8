/// The treatment of values that the new version has no place for.
public enum MigrationParking: Sendable, Hashable {
  /// Every value that would be lost is parked in tables of Persist's own in the store, and restored by a later
  /// migration in place to a version that has a place for it. A migration that isn't allowed to lose values
  /// (``AutomaticMigrator/allowsLoss``), and one to an older version without permission
  /// (``AutomaticMigrator/Downgrade/withoutLoss``), is still rejected.
  ///
  /// Values that a mapping model or a policy leaves out aren't parked.
  case always
  /// They are lost, if that is allowed: for programs that must delete values at once.
  case none
  /// They are parked in tables of Persist's own in the store, and restored by a later migration in place to a version
  /// that has a place for them. A migration is to an older version if the store had that version before, or if the
  /// version precedes the store's in its family. A migration back parks the older version's own values.
  case olderVersions
  /// Like ``none``, and what earlier migrations parked is deleted.
  case discarding
}
