import Foundation

/// Checks in addition to the work itself, in time proportional to the changes.
///
/// Required values, ranges and uniqueness are checked on the old rows, in the transaction that changes them; the number
/// of rows is compared when a table is rebuilt.
extension InPlaceMigration {
  /// The bytes that will be written to the log or the journal; 0 if no table is written.
  ///
  /// Called before anything is changed, because another session asks for the size of a server's store.
  func writtenBytes(_ survey: StoreSurvey, _ connection: any StoreInspector) throws -> Int {
    guard survey.work.changes.contains(where: { $0.change.writtenTable != nil }) else { return 0 }
    let engine = try location.engine
    return try survey.extraSpace(ofSize: engine.size(of: location), connection)
  }

  /// Checks the disk space of the log or the journal.
  func requireDiskSpace(_ bytes: Int) throws {
    guard bytes > 0 else { return }
    try location.engine.requireDiskSpace(for: location, bytes: bytes)
  }

  /// Checks that relinked relationships refer to existing rows; otherwise the transaction is rolled back.
  func verifyRelationships(_ survey: StoreSurvey, in map: TableMap, on connection: any StoreInspector) throws {
    let joined = Set(
      survey.work.changes.compactMap { change -> InPlaceWork.Subject? in
        switch change.change {
        case .join, .setKeys: change.subject
        default: nil
        }
      })
    guard !joined.isEmpty else { return }
    for step in CheckStep.steps(for: map) where [.danglingRelationship, .danglingReference].contains(step.kind) {
      guard joined.contains(.init(step.entity, step.property)) else { continue }
      try connection.forEachFinding(step) { finding in
        guard let detail = step.detail(finding.values.0, finding.values.1) else { return }
        throw PersistenceError(
          .migrationFailed,
          at: PersistenceError.Place(entity: step.entity, property: step.property, row: finding.row, store: url),
          "The migrated store would have been invalid, so the migration was rolled back: "
            + detail,
          fix: "Check the store with 'persist check'; some rows may be damaged.")
      }
    }
  }

  /// Checks that no required relationship lacks a value after its parked pairs were restored; otherwise the transaction
  /// is rolled back.
  func verifyRestoredReferences(_ survey: StoreSurvey, in map: TableMap, on connection: any StoreInspector) throws {
    try survey.verifyRestoredReferences(in: map, connection, url)
  }
}
