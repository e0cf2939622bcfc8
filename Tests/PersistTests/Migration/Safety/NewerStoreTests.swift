import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// A program can't have the model of a store newer than itself: only the store shows it.
@Suite("Stores newer than the program")
struct NewerStoreTests {
  private func version(_ number: Int, identifier: String? = nil) throws -> ModelVersion {
    let attributes = (1...number).map { AttributeDescription("a\($0)", .string) }
    var description = ModelDescription(entities: [EntityDescription("Item", attributes: attributes)])
    description.versionIdentifiers = identifier.map { [$0] } ?? []
    return ModelVersion(name: "\(number)", model: try ManagedObjectModel(description))
  }

  private func registry(_ numbers: ClosedRange<Int>) throws -> ModelRegistry {
    ModelRegistry(versions: try numbers.map { try version($0) })
  }

  private func refusal(of url: URL, by registry: ModelRegistry, _ options: StoreOptions) -> PersistenceError? {
    #expect(throws: PersistenceError.self) {
      try PersistentStoreCoordinator(model: registry.current, registry: registry).addStore(at: url, options: options)
    }
  }

  @Test(
    "A store migrated to an unknown version returns without loss, and is refused with loss",
    arguments: [false, true])
  func unknown(copies: Bool) throws {
    // Also by a program whose version this store only skipped.
    for last in 1...3 {
      try withTemporaryStore { url in
        try MadeStore.make(version(1).model, at: url)
        let newest = try registry(1...4)
        try AutomaticMigrator(alwaysCopies: copies).migrate(storeAt: url, to: newest.currentVersion, registry: newest)
        try MadeStore.run("INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZA4) VALUES (1, 1, 1, 'kept')", at: url)
        let old = try registry(1...last)
        let error = refusal(of: url, by: old, .automaticMigration)
        #expect(error?.code == .newerStore)
        #expect(error?.message.contains("ZA4") == false)
        let plain = refusal(of: url, by: old, StoreOptions())
        #expect(plain?.code == .incompatibleModel)
        #expect(plain?.message.contains("newer") == true)
        try #expect(!MigrationPlan(storeAt: url, registry: old).isPossible)
        let strict = StoreOptions(migrator: AutomaticMigrator(downgrade: .refused))
        try MadeStore.run("UPDATE ZITEM SET ZA4 = NULL", at: url)
        #expect(refusal(of: url, by: old, strict)?.code == .newerStore)
        try #expect(MigrationPlan(storeAt: url, registry: old).isPossible)
        let coordinator = PersistentStoreCoordinator(model: old.current, registry: old)
        try coordinator.remove(coordinator.addStore(at: url, options: .automaticMigration))
        try #expect(StoreIdentification.identify(storeAt: url, registry: old).version?.name == "\(last)")
      }
    }
  }

  @Test("It returns if that is allowed, and is no longer newer")
  func back() throws {
    try withTemporaryStore { url in
      try MadeStore.make(version(1).model, at: url)
      let newest = try registry(1...3)
      try AutomaticMigrator().migrate(storeAt: url, to: newest.currentVersion, registry: newest)
      let old = try registry(1...2)
      let coordinator = PersistentStoreCoordinator(model: old.current, registry: old)
      let store = try coordinator.addStore(at: url, options: .automaticMigration)
      try coordinator.remove(store)
      // The newest program migrates it forward like any other, though it knows only its own model.
      let last = try registry(3...3)
      let report = try AutomaticMigrator().migrate(storeAt: url, to: last.currentVersion, registry: last)
      #expect(report.way == .inPlace)
    }
  }

  @Test("Values that the old version has no place for are dropped only with permission")
  func values() throws {
    try withTemporaryStore { url in
      try MadeStore.make(version(1).model, at: url)
      let newest = try registry(1...2)
      try AutomaticMigrator().migrate(storeAt: url, to: newest.currentVersion, registry: newest)
      try MadeStore.run("INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZA2) VALUES (1, 1, 1, 'kept')", at: url)
      try #expect(refusal(of: url, by: registry(1...1), .automaticMigration)?.code == .newerStore)
      try #expect(MadeStore.rows("SELECT ZA2 FROM ZITEM", at: url) == [["kept"]])
    }
  }

  @Test("A mapping model for the way back needs the same permission, and the plan says the same as the migration")
  func mapped() throws {
    let known = try registry(1...2)
    let (old, new) = (known.versions[0], known.versions[1])
    var mapping = try MappingModel.inferred(from: new.model, to: old.model)
    (mapping.sourceVersion, mapping.destinationVersion) = (new.name, old.name)
    let cases: [(AutomaticMigrator.Downgrade, MigrationParking, [String])] = [
      (.refused, .none, ["kept", "nil"]), (.withoutLoss, .none, ["kept"]), (.withoutLoss, .olderVersions, ["kept"]),
    ]
    for (downgrade, parking, refused) in cases {
      var migrator = AutomaticMigrator(downgrade: downgrade, mappingModels: [mapping])
      migrator.parking = parking
      try withTemporaryStore { url in
        try MadeStore.make(old.model, at: url)
        try AutomaticMigrator().migrate(storeAt: url, to: new, registry: known)
        try MadeStore.run("INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZA2) VALUES (1, 1, 1, 'kept')", at: url)
        for value in refused {
          if value == "nil" { try MadeStore.run("UPDATE ZITEM SET ZA2 = NULL", at: url) }
          let plan = try MigrationPlan(storeAt: url, to: old, registry: known, migrator: migrator)
          #expect(plan.blockers.map(\.code) == [.newerStore])
          #expect(plan.notes.contains { $0.contains("can't be parked") } == (parking == .olderVersions))
          let error = #expect(throws: PersistenceError.self) {
            try migrator.migrate(storeAt: url, to: old, registry: known)
          }
          #expect(error?.message == plan.error?.message)
          try #expect(MadeStore.rows("SELECT ZA2 FROM ZITEM", at: url) == [[value]])
        }
        migrator.downgrade = .withLoss
        try migrator.migrate(storeAt: url, to: old, registry: known)
      }
    }
  }

  @Test("A later hop of the way back loses nothing without permission either", arguments: [false, true])
  func laterHop(copies: Bool) throws {
    let known = try registry(1...3)
    let versions = known.versions
    var mapping = try MappingModel.inferred(from: versions[2].model, to: versions[1].model)
    (mapping.sourceVersion, mapping.destinationVersion) = ("3", "2")
    let migrator = AutomaticMigrator(mappingModels: [mapping], alwaysCopies: copies)
    try withTemporaryStore { url in
      try MadeStore.make(versions[0].model, at: url)
      try AutomaticMigrator().migrate(storeAt: url, to: versions[2], registry: known)
      try MadeStore.run("INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZA2) VALUES (1, 1, 1, 'kept')", at: url)
      let error = #expect(throws: PersistenceError.self) {
        try migrator.migrate(storeAt: url, to: versions[0], registry: known)
      }
      #expect(error?.code == .newerStore)
      try #expect(MadeStore.rows("SELECT ZA2 FROM ZITEM", at: url) == [["kept"]])
      try MadeStore.run("UPDATE ZITEM SET ZA2 = NULL", at: url)
      let report = try migrator.migrate(storeAt: url, to: versions[0], registry: known)
      #expect(report.hops == 2)
    }
  }

  @Test("Numeric version identifiers show the age of a store created by Core Data")
  func identifiers() throws {
    for (own, other, code) in [
      ("3", "2", PersistenceError.Code.newerStore), ("1.10", "1.9", .newerStore), ("2", "3", nil), ("beta", "2", nil),
    ] {
      try withTemporaryStore { url in
        try MadeStore.make(version(2, identifier: own).model, at: url)
        let known = ModelRegistry(versions: [try version(1, identifier: other)])
        try MadeStore.run("INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZA2) VALUES (1, 1, 1, 'kept')", at: url)
        if let code {
          #expect(refusal(of: url, by: known, .automaticMigration)?.code == code, "\(own) by \(other)")
        } else {
          try AutomaticMigrator().migrate(storeAt: url, to: known.currentVersion, registry: known)
        }
      }
    }
  }

  @Test("A store remembers a limited number of models, and forgets the oldest first")
  func bound() throws {
    let models = try (1...StoreMetadata.formerModelLimit + 5).map { try version($0).model }
    var metadata = StoreMetadata(newStore: UUID(), versionHashes: [:], versionIdentifiers: [])
    for (old, new) in zip(models, models.dropFirst()) { metadata.recordLineage(through: [old], to: new) }
    #expect(!metadata.descends(from: models[3]))
    #expect(metadata.descends(from: models[4]))
    #expect(!metadata.descends(from: models[models.count - 1]))
    metadata.recordLineage(through: [models[models.count - 1]], to: models[50])
    #expect(metadata.descends(from: models[49]))
    #expect(!metadata.descends(from: models[60]))
  }
}
