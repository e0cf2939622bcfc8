#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// Transactions and reads that run again because of other programs: their rows are neither lost nor doubled.
  @Suite("Repeated work on a server", .needsServer)
  struct ServerRepetitionTests {
    private func withStore(_ body: (URL, PersistentStoreCoordinator) throws -> Void) throws {
      try TestServer.withSchema { text in
        let url = try #require(URL(string: text))
        try body(url, open(url))
      }
    }

    private func open(_ url: URL, tracksHistory: Bool = false) throws -> PersistentStoreCoordinator {
      let note = EntityDescription("Note", attributes: [.init("text", .string)], uniquenessConstraints: [["text"]])
      let coordinator = PersistentStoreCoordinator(
        model: try ManagedObjectModel(ModelDescription(entities: [note])))
      try coordinator.addStore(at: url, options: StoreOptions(tracksHistory: tracksHistory))
      return coordinator
    }

    private func count(_ url: URL) throws -> [[String]] { try ForeignSQL.run("SELECT count(*) FROM note", at: url) }

    @Test("A batch insert stores every row after another program has changed the store's mark", arguments: [1, 7000])
    func batchInsert(size: Int) throws {
      try withStore { url, coordinator in
        _ = try open(url, tracksHistory: true)
        let request = BatchInsertRequest("Note", (0..<size).map { ["text": "\($0)"] })
        try #expect(ManagedObjectContext(coordinator).execute(request).count == size)
        try #expect(count(url) == [["\(size)"]])
      }
    }

    @Test("An import stores every row after another program has changed the store's mark")
    func importing() throws {
      try withStore { url, coordinator in
        _ = try open(url, tracksHistory: true)
        let store = coordinator.openStores[0]
        let entity = try store.model.entity(named: "Note")
        var slices = (0..<3).map { number in
          var slice = ImportSlice()
          slice.inserts = [.init(key: .temporary(UInt64(number)), entity: entity, values: SlotValues())]
          return slice
        }[...]
        try #expect(store.insert { slices.popFirst() }.count == 3)
        try #expect(count(url) == [["3"]])
      }
    }

    @Test("A batch insert that the server ends because of a deadlock fails, and stores none of its rows")
    func deadlock() throws {
      try withStore { url, coordinator in
        let context = ManagedObjectContext(coordinator)
        for text in ["first", "last"] { try context.make("Note", ["text": text]) }
        try context.save()
        // One thread uses it at a time. It leaves it to the batch to find the deadlock.
        nonisolated(unsafe) let other = try ForeignSQL.Session(url)
        try other.run("SET deadlock_timeout = '60s'; SET lock_timeout = '60s'")
        try other.run("BEGIN")
        try other.run("UPDATE note SET version = version + 1 WHERE text = 'last'")
        let waiting = DispatchGroup()
        let texts = ["first"] + (0..<700).map { "\($0)" } + ["last"]
        var number = 0
        let request = BatchInsertRequest("Note") { row in
          guard number < texts.count else { return false }
          try row.set(["text": texts[number]])
          number += 1
          if number == 600 {
            // The first rows have been sent.
            waiting.enter()
            Thread.detachNewThread {
              _ = try? other.run("UPDATE note SET version = version + 1 WHERE text = 'first'")
              waiting.leave()
            }
            Thread.sleep(forTimeInterval: 0.3)
          }
          return true
        }
        context.mergePolicy = .mergeByPropertyObjectTrump
        let error = persistError { _ = try context.execute(request) }
        waiting.wait()
        try other.run("ROLLBACK")
        #expect(error?.code == .storeBusy, "\(String(describing: error))")
        try #expect(count(url) == [["2"]])
      }
    }

    @Test("A history is delivered once though it is read again, because the store's mark has changed meanwhile")
    func history() throws {
      try withStore { url, _ in
        let coordinator = try open(url, tracksHistory: true)
        let context = ManagedObjectContext(coordinator)
        for number in 0..<3 {
          try context.make("Note", ["text": "\(number)"])
          try context.save()
        }
        let store = try #require(coordinator.openStores[0] as? PostgreSQLStore)
        let address = store.pool.address
        var numbers: [Int64] = []
        try store.history?.forEachTransaction(HistoryQuery()) { transaction in
          numbers.append(transaction.transactionNumber)
          guard numbers.count == 2 else { return }
          let connection = try ServerDrivers.current.connect(to: address)
          defer { connection.close() }
          let session = ServerSession(connection: connection, schema: address.schema, url: store.url)
          try session.run(ServerMark.renewal)
        }
        #expect(numbers == [1, 2, 3])
      }
    }
  }
#endif
