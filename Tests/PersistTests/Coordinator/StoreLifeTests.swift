import LinkedSQLite
import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("The life of a store: restored and replaced files", .aboutFiles("restored files"))
struct StoreLifeTests {
  private let model: ManagedObjectModel

  init() throws {
    model = try ManagedObjectModel(
      ModelDescription(entities: [EntityDescription("Item", attributes: [AttributeDescription("name", .string)])]))
  }

  /// The ways in which a backup takes the place of a store.
  enum Restore: CaseIterable {
    case replaced, movedIntoPlace, copiedIntoPlace, overwritten, overwrittenWithoutLog

    func perform(_ backup: URL, to url: URL, model: ManagedObjectModel) throws {
      let files = FileManager.default
      func removeLog() {
        for suffix in ["-wal", "-shm"] { try? files.removeItem(atPath: url.path + suffix) }
      }
      switch self {
      case .replaced:
        try PersistentStoreCoordinator(model: model).replacePersistentStore(at: url, withPersistentStoreFrom: backup)
      case .movedIntoPlace:
        let copy = url.appendingPathExtension("new")
        try files.copyItem(at: backup, to: copy)
        removeLog()
        try #require(rename(copy.path, url.path) == 0)
      case .copiedIntoPlace:
        removeLog()
        try files.removeItem(at: url)
        try files.copyItem(at: backup, to: url)
      case .overwritten: try write(Data(contentsOf: backup), over: url)
      case .overwrittenWithoutLog:
        try write(Data(contentsOf: backup), over: url)
        removeLog()
      }
    }

    /// Writes as `cp` does over an existing file, which keeps its identity.
    private func write(_ data: Data, over url: URL) throws {
      // The file system's clock may tick only every four milliseconds.
      usleep(20_000)
      let descriptor = Foundation.open(url.path, O_WRONLY | O_TRUNC)
      try #require(descriptor >= 0)
      defer { close(descriptor) }
      let count = data.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      try #require(count == data.count)
    }
  }

  private func open(_ url: URL, history: Bool = true) throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.addStore(at: url, options: StoreOptions(tracksHistory: history))
    return coordinator
  }

  private func save(_ count: Int, _ context: ManagedObjectContext) throws {
    for _ in 0..<count {
      try context.create("Item")["name"] = "new"
      try context.save()
    }
  }

  @Test(
    "A token from before a restore has expired, however far the new history has come",
    .law("lives", short: 10, long: 300))
  func tokens() throws {
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      for restore in Restore.allCases {
        try withTemporaryStore { url in
          let backup = otherStore("Backup", beside: url)
          let common = Int.random(in: 1...3, using: &random), lost = Int.random(in: 1...3, using: &random)
          var tokens: [HistoryToken] = []
          var isPlainCopy = false
          do {
            let coordinator = try open(url), context = ManagedObjectContext(coordinator)
            try save(common, context)
            try coordinator.historyReader(named: "widget")
              .markAsRead(upTo: Bool.random(using: &random) ? coordinator.currentPersistentHistoryToken() : nil)
            isPlainCopy = Bool.random(using: &random)
            if !isPlainCopy {
              try coordinator.backUp(coordinator.persistentStores[0], to: backup)
            } else {
              try coordinator.remove(coordinator.persistentStores[0])
              try FileManager.default.copyItem(at: url, to: backup)
              try coordinator.addStore(at: url)
            }
            try save(lost, ManagedObjectContext(coordinator))
            tokens.append(try #require(try coordinator.currentPersistentHistoryToken()))
            tokens.append(try #require(try coordinator.transactions().last?.token))
            #expect(tokens[0] == tokens[1])
            tokens.append(try JSONDecoder().decode(HistoryToken.self, from: JSONEncoder().encode(tokens[0])))
            tokens.append(try #require(HistoryToken(tokens[0].description)))
            #expect(Set(tokens).count == 1)
            try #expect(coordinator.execute(.fetchHistory(after: tokens[0])).transactions.isEmpty)
            try coordinator.remove(coordinator.persistentStores[0])
          }
          try restore.perform(backup, to: url, model: model)
          let coordinator = try open(url), context = ManagedObjectContext(coordinator)
          let widget = coordinator.historyReader(named: "widget")
          for distance in 0...lost + 2 {
            // A file that is overwritten by a plain copy stays in its life: the position, which is restored with it, is
            // one of the past.
            let staysInLife = isPlainCopy && [.overwritten, .overwrittenWithoutLog].contains(restore)
            let error = persistError { _ = try widget.unread() }
            #expect(
              error?.code == (staysInLife ? nil : .historyTokenExpired),
              "\(restore) after \(distance) saves, seed \(seed)")
            for token in tokens {
              for format in ["token > %@", "NOT token == %@", "author == nil OR token <= %@"] {
                let request = try HistoryTransaction.fetchRequest(where: format, token)
                #expect(
                  persistError { _ = try coordinator.execute(.fetchHistory(withFetch: request)) }?.code
                    == .historyTokenExpired, "\(format), \(restore) after \(distance) saves, seed \(seed)")
              }
              #expect(persistError { try widget.markAsRead(upTo: token) }?.code == .historyTokenExpired)
              #expect(
                persistError { _ = try coordinator.execute(.fetchHistory(after: token)) }?.code == .historyTokenExpired,
                "\(restore) after \(distance) saves, seed \(seed)")
              #expect(
                persistError { _ = try coordinator.execute(.deleteHistory(before: token)) }?.code
                  == .historyTokenExpired)
            }
            try save(1, context)
          }
          try widget.markAsRead(upTo: coordinator.currentPersistentHistoryToken())
          try save(1, context)
          try #expect(widget.unread().count == 1)
          let current = try #require(try widget.token)
          let request = try HistoryTransaction.fetchRequest(where: "token > %@", current)
          try #expect(coordinator.execute(.fetchHistory(withFetch: request)).transactions.count == 1)
          try coordinator.purgeHistory(HistoryPurge(keepingAtMost: 1))
          #expect(
            persistError { _ = try coordinator.execute(.fetchHistory(after: tokens[0])) }?.code == .historyTokenExpired)
        }
      }
    }
  }

  @Test("An open context refuses to read and to save after a restore", .law("lives-open", short: 6, long: 200))
  func contexts() throws {
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      for restore in Restore.allCases {
        for readsFirst in [true, false] {
          try withTemporaryStore { url in
            let backup = otherStore("Backup", beside: url)
            let coordinator = try open(url, history: Bool.random(using: &random))
            let context = ManagedObjectContext(coordinator)
            try save(Int.random(in: 1...3, using: &random), context)
            try coordinator.backUp(coordinator.persistentStores[0], to: backup)
            try save(Int.random(in: 1...3, using: &random), context)
            try restore.perform(backup, to: url, model: model)
            usleep(200)
            if readsFirst {
              let error = persistError { _ = try context.count(for: FetchRequest<ManagedObject>("Item")) }
              #expect(error?.code == .storeExchanged, "\(restore), seed \(seed)")
            }
            try context.create("Item")["name"] = "later"
            #expect(persistError { try context.save() }?.code == .storeExchanged, "\(restore), seed \(seed)")
          }
        }
      }
    }
  }

  /// Copies a database into another one as `.backup` and `.restore` of SQLite's shell do.
  private func copyPages(from source: URL, to target: URL) throws {
    var (from, to): (OpaquePointer?, OpaquePointer?)
    defer {
      sqlite3_close(from)
      sqlite3_close(to)
    }
    try #require(sqlite3_open(source.path, &from) == SQLITE_OK && sqlite3_open(target.path, &to) == SQLITE_OK)
    for connection in [from, to] { TestKey.unlock(connection) }
    let backup = try #require(sqlite3_backup_init(to, "main", from, "main"))
    let code = sqlite3_backup_step(backup, -1)
    sqlite3_backup_finish(backup)
    try #require(code == SQLITE_DONE)
  }

  @Test(
    "An open context refuses to go on if SQLite's own backup sets the file back before its last save",
    .law("lives-set-back", short: 12, long: 300))
  func setBack() throws {
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      for readsFirst in [true, false] {
        try withTemporaryStore { url in
          let backup = otherStore("Backup", beside: url)
          let coordinator = try open(url, history: Bool.random(using: &random))
          let context = ManagedObjectContext(coordinator)
          try save(Int.random(in: 2...4, using: &random), context)
          try copyPages(from: url, to: backup)
          let items = try context.fetch(FetchRequest<ManagedObject>("Item"))
          let isChanged = Int.random(in: 0..<5, using: &random) > 0
          for _ in 0..<(isChanged ? Int.random(in: 1...3, using: &random) : 0) {
            switch Int.random(in: 0..<3, using: &random) {
            case 0: try context.create("Item")["name"] = "another"
            case 1: items[0]["name"] = "changed \(Int.random(in: 0..<1000, using: &random))"
            default: if !items[1].isDeleted { context.delete(items[1]) }
            }
            try context.save()
          }
          try copyPages(from: backup, to: url)
          func expect(_ error: PersistenceError?) {
            #expect(error?.code == (isChanged ? .storeExchanged : nil), "seed \(seed): \(String(describing: error))")
          }
          if readsFirst {
            expect(persistError { _ = try context.count(for: FetchRequest<ManagedObject>("Item")) })
          }
          try context.create("Item")["name"] = "later"
          expect(persistError { try context.save() })
        }
      }
    }
  }

  @Test("A store whose tables are written anew, or get others beside them, goes on")
  func notSetBack() throws {
    try withTemporaryStore { url in
      let coordinator = try open(url), context = ManagedObjectContext(coordinator)
      try save(2, context)
      for sql in ["VACUUM", "CREATE TABLE mine (a)", "DROP TABLE mine", "DELETE FROM ZITEM WHERE Z_PK = 2", "VACUUM"] {
        try ForeignSQL.run(sql, at: url)
        try #expect(ManagedObjectContext(coordinator).count(for: FetchRequest<ManagedObject>("Item")) > 0)
        try save(1, ManagedObjectContext(coordinator))
      }
    }
  }

  @Test("A store that is only closed, opened, moved, checkpointed or purged stays in its life")
  func sameLife() throws {
    try withTemporaryStore { url in
      var token: HistoryToken?
      for round in 0..<3 {
        let coordinator = try open(url), context = ManagedObjectContext(coordinator)
        try save(3, context)
        if let token {
          try #expect(coordinator.execute(.fetchHistory(after: token)).transactions.count == 3)
        }
        token = try coordinator.currentPersistentHistoryToken()
        if round == 1 { try coordinator.purgeHistory(HistoryPurge(olderThan: .zero, keepingAtMost: 0)) }
        var other: OpaquePointer?
        sqlite3_open(url.path, &other)
        TestKey.unlock(other)
        sqlite3_exec(other, "PRAGMA wal_checkpoint(PASSIVE)", nil, nil, nil)
        sqlite3_close(other)
        usleep(5_000)
        try save(1, context)
        token = try coordinator.currentPersistentHistoryToken()
        try coordinator.remove(coordinator.persistentStores[0])
        let moved = otherStore("Moved", beside: url)
        try FileManager.default.moveItem(at: url, to: moved)
        try FileManager.default.moveItem(at: moved, to: url)
      }
    }
  }

  @Test("A purge by age isn't stopped by transactions dated in the future, and keeps all that may be recent")
  func purgeAfterWrongClock() throws {
    try withTemporaryStore { url in
      let coordinator = try open(url), context = ManagedObjectContext(coordinator)
      try save(8, context)
      var other: OpaquePointer?
      sqlite3_open(url.path, &other)
      TestKey.unlock(other)
      let year = "31536000"
      sqlite3_exec(
        other,
        "UPDATE ATRANSACTION SET ZTIMESTAMP = ZTIMESTAMP - \(year) WHERE Z_PK <= 5;"
          + "UPDATE ATRANSACTION SET ZTIMESTAMP = ZTIMESTAMP + 4 * \(year) WHERE Z_PK IN (2, 7)", nil, nil, nil)
      sqlite3_close(other)
      try #expect(coordinator.purgeHistory(HistoryPurge(olderThan: .seconds(30 * 86_400))) == 5)
      try #expect(coordinator.transactions().map(\.transactionNumber) == [6, 7, 8])
    }
  }
}
