import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Rejects the mark whose `b` is 5.
private final class RefusingPolicy: EntityMigrationPolicy {
  override func createDestinationInstances(
    forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    if source.entity.name == "Mark", "\(source["b"] ?? "")" == "5" { throw PersistenceError(.migrationFailed, "Not this one.") }
    try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
  }
}

@Suite("Places in a migration's errors")
struct ErrorPlaceTests {
  @Test("An error thrown by a policy names the hop, the entity and the row, and the store stays unchanged")
  func policy() throws {
    let scenario = try MigrationScenario(.copiedByObject)
    var migrator = scenario.migrator
    for index in migrator.mappingModels[0].entityMappings.indices
    where migrator.mappingModels[0].entityMappings[index].policyName != nil {
      migrator.mappingModels[0].entityMappings[index].policyName = "\(RefusingPolicy.self)"
    }
    migrator.policies = [RefusingPolicy.self]
    try withTemporaryStore { url in
      try scenario.makeStore(at: url, marks: 12)
      let before = try StoreSnapshot(url)
      let error = #expect(throws: PersistenceError.self) {
        try migrator.migrate(storeAt: url, to: scenario.newest, registry: scenario.registry)
      }
      #expect(error?.message == "Not this one.")
      #expect(error?.place.entity == "Mark")
      try #expect(
        error?.place.row.map { ["\($0)"] } == MadeStore.rows("SELECT Z_PK FROM ZMARK WHERE ZB = 5", at: url).first)
      #expect(error?.place.key == "'1' to '2'")
      try #expect(StoreSnapshot(url) == before)
    }
  }
}
