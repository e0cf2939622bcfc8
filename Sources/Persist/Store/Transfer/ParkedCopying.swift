/// Copies what is parked in a store to a copy of it in another engine.
///
/// Migrations implement it: only a comparison of models finds the attributes whose values stand in for parked ones.
package protocol ParkedCopier: Sendable {
  /// - Parameters:
  ///   - source: A store with parked values.
  ///   - copy: A copy of its objects, in a transaction. Nothing is parked in it.
  ///   - model: The model of both.
  func copyParked(from source: any StoreInspector, to copy: any MigrationConnection, _ model: ManagedObjectModel) throws
}

/// The treatment of parked values by a copy in another engine.
package enum ParkedCopying: Sendable {
  case copied(by: any ParkedCopier)
  /// The caller copies them, or they may be missing.
  case omitted
}
