import Foundation
import Persist
import PersistOnlineMigrations
import PersistPostgreSQL
import PersistTestSupport
import PersistTools
import Testing

/// The law of copies: a copy of a store in any state of an online migration gives back everything that the store would
/// give back, or is refused with both versions named.
@Suite("Copies of stores in online migrations", .needsServer, .aboutFiles("copies between engines"))
struct OnlineCopyTests {
  /// The state of a store, all of which has values that only the new model has a place for.
  private enum State: CaseIterable {
    case parked, expanded, partlyFilled, serving
  }

  /// A way of copying a store.
  private enum Door: CaseIterable {
    case replacing, replacingOnServer, backup, verified, verifiedOnServer, move

    var isOnServer: Bool { self == .replacingOnServer || self == .verifiedOnServer }
  }

  private func copy(_ url: URL, to copy: URL, by door: Door, _ version: ModelVersion) throws {
    let coordinator = PersistentStoreCoordinator(model: version.model)
    switch door {
    case .replacing, .replacingOnServer:
      try coordinator.replacePersistentStore(at: StoreLocation(copy), withPersistentStoreFrom: StoreLocation(url))
    case .verified, .verifiedOnServer: _ = try VerifiedCopy(of: url, to: copy).run()
    case .backup, .move:
      let store = try coordinator.addStore(at: url)
      defer { for store in coordinator.persistentStores { try? coordinator.remove(store) } }
      if door == .backup {
        try coordinator.backUp(store, to: copy)
      } else {
        try coordinator.migratePersistentStore(store, to: copy)
      }
    }
  }

  private func advance(_ migration: OnlineMigration, to version: ModelVersion, _ state: State) throws {
    guard state != .parked else { return }
    try migration.expand(to: version)
    var pace = BackfillPace()
    pace.batchSize = 1
    switch state {
    case .partlyFilled: try migration.backfill(pace: pace) { _ in false }
    case .serving: try migration.backfill()
    case .parked, .expanded: break
    }
  }

  @Test(
    "A copy in any state gives back what the store would give back, or is refused",
    .law("online-copies", short: 12, long: 400))
  func anyState() {
    forEachSeed { seed in
      var numbers = SeededRandom(seed: seed)
      let pair = try ParkedPair(&numbers)
      let state = State.allCases[Int(seed % 4)]
      // Twelve seeds have each state three times and each door twice; 24 have all combinations.
      let door = Door.allCases[Int((seed + (seed - 1) / 12) % 6)]
      let place = "seed \(seed), \(state), \(door)"
      let registry = ModelRegistry(versions: [pair.old, pair.new])
      try withTemporaryFile { file in
        try OnlineShop.withStore { url in
          var options = StoreOptions()
          if seed % 3 == 0 { (options.tracksHistory, options.historyKeeps) = (true, .oldValues) }
          try OnlineProgram(pair.old, url, options: options).close()
          let migration = OnlineMigration(storeAt: url, registry: registry)
          try advance(migration, to: pair.new, .serving)
          let author = try OnlineProgram(pair.new, url)
          for _ in 0..<Int.random(in: 4...12, using: &numbers) { try pair.write(author, &numbers) }
          var expected = try author.state()
          try author.close()
          try migration.abort()
          try advance(migration, to: pair.new, state)
          if Bool.random(using: &numbers) { try pair.rename(url, &expected, 1, &numbers) }
          let copied = door.isOnServer ? otherStore("copied", beside: url) : file
          guard state != .serving else {
            let error = #expect(throws: PersistenceError.self, "\(place)") {
              try copy(url, to: copied, by: door, pair.old)
            }
            #expect(error?.code == .invalidRequest && error?.message.contains("from '1' to '2'") == true, "\(place)")
            try #expect(StoreLocation(copied).engine.canCreateStore(at: StoreLocation(copied)), "\(place)")
            return
          }
          let parked = try PersistentStoreCoordinator.parkedContents(at: url)
          try copy(url, to: copied, by: door, pair.old)
          try #expect(PersistentStoreCoordinator.parkedContents(at: copied) == parked, "\(place)")
          try expectIntact(copied, place)
          try AutomaticMigrator().migrate(storeAt: copied, to: pair.new, registry: registry)
          let program = try OnlineProgram(pair.new, copied)
          try pair.expect(program, expected, "\(place), in the copy")
          try program.close()
          let left = try PersistentStoreCoordinator.parkedContents(at: copied)
          #expect(left.isEmpty, "\(place): \(left)")
          guard door != .move, state != .parked else { return }
          try migration.backfill()
          try migration.contract(force: true)
          let last = try OnlineProgram(pair.new, url)
          try pair.expect(last, expected, "\(place), in the store")
          try last.close()
        }
      }
    }
  }

  private func expectIntact(_ url: URL, _ place: String) throws {
    var problems: [StoreProblem] = []
    try StoreLocation(url).check { problems.append($0) }
    #expect(problems.isEmpty, "\(place): \(problems)")
  }

  /// Runs `body` with a store whose parked values an online migration is about to return.
  private func withExpandedStore(_ body: (URL, OnlineMigration, _ versions: [ModelVersion]) throws -> Void) throws {
    try OnlineShop.withStore { url in
      let versions = [try OnlineShop.old(), try OnlineShop.new()]
      let first = try OnlineProgram(versions[0], url)
      try first.insert("Item", ["name": "Tea"])
      try first.save()
      try first.close()
      let migration = OnlineMigration(storeAt: url)
      try advance(migration, to: versions[1], .serving)
      let second = try OnlineProgram(versions[1], url)
      try #require(second.all("Item").first)["state"] = "sold"
      try second.save()
      try second.close()
      try migration.abort()
      try migration.expand(to: versions[1])
      try body(url, migration, versions)
    }
  }

  @Test("Parked values are listed in every state, and purging them waits for the end of an online migration")
  func listed() throws {
    try withExpandedStore { url, migration, versions in
      let parked = try PersistentStoreCoordinator.parkedContents(at: url)
      #expect(parked.map(\.place).contains("Item.state"))
      let error = #expect(throws: PersistenceError.self) { try PersistentStoreCoordinator.purgeParkedContents(at: url) }
      #expect(error?.code == .invalidRequest && error?.message.contains("from 'Shop 1' to 'Shop 2'") == true)
      try #expect(PersistentStoreCoordinator.parkedContents(at: url) == parked)
      try migration.abort()
      try #expect(PersistentStoreCoordinator.purgeParkedContents(at: url) == parked)
    }
  }

  @Test("A program whose migrator deletes what has been parked for too long leaves it alone during an online migration")
  func maintained() throws {
    try withExpandedStore { url, migration, versions in
      let parked = try PersistentStoreCoordinator.parkedContents(at: url)
      var migrator = AutomaticMigrator()
      migrator.parkedLifetime = .seconds(0)
      try OnlineProgram(versions[0], url, options: StoreOptions(migrator: migrator)).close()
      try #expect(PersistentStoreCoordinator.parkedContents(at: url) == parked)
      try migration.backfill()
      let second = try OnlineProgram(versions[1], url, options: StoreOptions(migrator: migrator))
      try #expect(second.values("Item", "state") == ["sold"])
      try second.close()
    }
  }

  @Test("A store that serves two models isn't replaced by a backup, and the backup of one that will is restored whole")
  func restored() throws {
    try withTemporaryFile { file in
      try withExpandedStore { url, migration, versions in
        try copy(url, to: file, by: .backup, versions[0])
        let coordinator = PersistentStoreCoordinator(model: versions[0].model)
        let error = #expect(throws: PersistenceError.self) {
          try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: file)
        }
        #expect(error?.message.contains("from 'Shop 1' to 'Shop 2'") == true)
        try migration.abort()
        try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: file)
        try advance(migration, to: versions[1], .serving)
        let second = try OnlineProgram(versions[1], url)
        try #expect(second.values("Item", "state") == ["sold"])
        try second.close()
      }
    }
  }
}
