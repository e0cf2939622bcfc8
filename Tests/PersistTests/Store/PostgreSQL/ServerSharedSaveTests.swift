#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  @Suite("Saves that meet on the way to a server", .needsServer, .timeLimit(.minutes(10)))
  struct ServerSharedSaveTests {
    private static let model = ModelDescription(entities: [
      EntityDescription(
        "Tag", attributes: [.init("label", .string), .init("count", .int64)], uniquenessConstraints: [["label"]]),
      EntityDescription("Note", attributes: [.init("text", .string)]),
    ])

    private func open(_ url: URL, _ options: StoreOptions = StoreOptions()) throws -> PersistentStoreCoordinator {
      let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(Self.model))
      try coordinator.addStore(at: url, options: options)
      return coordinator
    }

    private func withTags(
      _ labels: [String], options: StoreOptions = StoreOptions(),
      _ body: (PersistentStoreCoordinator, PostgreSQLStore, URL) throws -> Void
    ) throws {
      try TestServer.withSchema { text in
        let url = try #require(URL(string: text))
        let coordinator = try open(url, options)
        let context = ManagedObjectContext(coordinator)
        for label in labels { try context.make("Tag", ["label": label, "count": 0]) }
        try context.save()
        try body(coordinator, #require(coordinator.openStores[0] as? PostgreSQLStore), url)
      }
    }

    /// Starts pieces of work, each waiting for its turn before the next one starts, and then lets them go on.
    ///
    /// - Returns: The outcomes in the same order: an error's code, or "saved".
    private func meeting(in store: PostgreSQLStore, _ work: [@Sendable () throws -> Void]) -> [String] {
      let outcomes = LockProtected([String](repeating: "", count: work.count))
      let (group, begun, gate) = (DispatchGroup(), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let hold: @Sendable (RowWrites) throws -> CommitReceipt = { _ in
        begun.signal()
        gate.wait()
        return CommitReceipt()
      }
      for _ in 0..<PostgreSQLStore.savesAtOnce {
        group.enter()
        Thread.detachNewThread {
          _ = try? store.saves.write(
            RowWrites(), within: .seconds(600), instrument: nil, alone: hold, together: hold)
          group.leave()
        }
        begun.wait()
      }
      for (number, body) in work.enumerated() {
        group.enter()
        Thread.detachNewThread {
          let outcome: String
          do {
            try body()
            outcome = "saved"
          } catch { outcome = (error as? PersistenceError)?.code.name ?? "\(error)" }
          outcomes.withLock { $0[number] = outcome }
          group.leave()
        }
        while store.saves.waitingCount <= number, outcomes.withLock({ $0[number] }).isEmpty {
          Thread.sleep(forTimeInterval: 0.001)
        }
      }
      for _ in 0..<PostgreSQLStore.savesAtOnce { gate.signal() }
      group.wait()
      return outcomes.withLock { $0 }
    }

    private func adding(_ label: String, _ coordinator: PersistentStoreCoordinator) -> @Sendable () throws -> Void {
      {
        let context = ManagedObjectContext(coordinator)
        let tag = try context.make("Tag", ["label": label, "count": 1])
        try context.make("Note", ["text": label])
        try context.save()
        // The identity that the save returned.
        let reader = ManagedObjectContext(coordinator)
        let found = reader.object(with: tag.objectID)
        #expect(found["label"] as? String == label)
      }
    }

    private func counting(_ label: String, _ context: ManagedObjectContext) throws -> @Sendable () throws -> Void {
      let tag = try #require(try context.fetch(FetchRequest("Tag", where: "label == %@", label)).first)
      tag["count"] = (tag["count"] as? Int ?? 0) + 1
      nonisolated(unsafe) let context = context
      // Only this piece of work uses the context from now on.
      return { try context.save() }
    }

    private func labels(_ url: URL) throws -> [String] {
      try ForeignSQL.run("SELECT label FROM tag ORDER BY label", at: url).map { $0[0] }
    }

    @Test("Saves that wait share a transaction, and each gets its own objects' identities")
    func together() throws {
      try withTags([]) { coordinator, store, url in
        let names = (10..<30).map { "\($0)" }
        let address = store.pool.address
        let before = CountedServer.flights(of: address)
        let saves = names.map { name in
          { @Sendable in
            let context = ManagedObjectContext(coordinator)
            try context.make("Tag", ["label": name])
            try context.save()
          }
        }
        #expect(meeting(in: store, saves).allSatisfy { $0 == "saved" })
        let flights = CountedServer.flights(of: address) - before
        #expect(flights <= 5, "\(flights) flights for 20 saves")
        try #expect(labels(url) == names)
        let more = (30..<50).map { "\($0)" }
        #expect(meeting(in: store, more.map { adding($0, coordinator) }).allSatisfy { $0 == "saved" })
        try #expect(labels(url) == names + more)
      }
    }

    @Test("A save that fails doesn't fail others")
    func failures() throws {
      try withTags(["first"]) { coordinator, store, url in
        let outcomes = meeting(in: store, ["a", "first", "b", "c"].map { adding($0, coordinator) })
        #expect(outcomes == ["saved", "constraintConflict", "saved", "saved"])
        let leading = meeting(in: store, ["first", "d"].map { adding($0, coordinator) })
        #expect(leading == ["constraintConflict", "saved"])
        let equal = meeting(in: store, ["e", "e", "f"].map { adding($0, coordinator) })
        #expect(equal.sorted() == ["constraintConflict", "saved", "saved"] && equal[2] == "saved", "\(equal)")
        try #expect(labels(url) == ["a", "b", "c", "d", "e", "f", "first"])
      }
    }

    @Test("A save of a row that others have changed conflicts, and only that one")
    func conflicts() throws {
      try withTags(["a", "b", "c"]) { coordinator, store, url in
        let saves = try ["a", "b", "c"].map { try counting($0, ManagedObjectContext(coordinator)) }
        try ForeignSQL.run("UPDATE tag SET version = version + 1 WHERE label = 'b'", at: url)
        #expect(meeting(in: store, saves) == ["saved", "mergeConflict", "saved"])
        // Two saves of one row aren't part of one group.
        let same = try ["a", "a", "c"].map { try counting($0, ManagedObjectContext(coordinator)) }
        let outcomes = meeting(in: store, same)
        #expect(outcomes[..<2].sorted() == ["mergeConflict", "saved"] && outcomes[2] == "saved", "\(outcomes)")
        let counts = try ForeignSQL.run("SELECT count FROM tag ORDER BY label", at: url)
        #expect(counts == [["2"], ["0"], ["2"]])
      }
    }

    @Test("Each save is a transaction of its own in the history")
    func history() throws {
      try withTags([], options: StoreOptions(tracksHistory: true)) { coordinator, _, _ in
        let ended = DispatchGroup()
        for number in 0..<16 {
          let save = adding("\(number)", coordinator)
          ended.enter()
          Thread.detachNewThread {
            #expect(throws: Never.self) { try save() }
            ended.leave()
          }
        }
        ended.wait()
        let transactions = try coordinator.execute(.fetchHistory(after: nil)).transactions
        #expect(transactions.compactMap { $0.changes?.count } == Array(repeating: 2, count: 16))
      }
    }

    @Test("Increments of many threads are all counted, with fewer flights than saves")
    func increments() throws {
      try withTags((0..<40).map { "\($0)" }) { coordinator, store, url in
        let (saves, failures, ended) = (LockProtected(0), LockProtected<[String]>([]), DispatchGroup())
        for number in 0..<24 {
          ended.enter()
          Thread.detachNewThread {
            defer { ended.leave() }
            do {
              for round in 0..<20 {
                var isSaved = false
                while !isSaved {
                  let context = ManagedObjectContext(coordinator)
                  let save = try counting("\((number * 7 + round * 3) % 40)", context)
                  do {
                    try save()
                    isSaved = true
                  } catch let error as PersistenceError where error.code == .mergeConflict {}
                }
                saves.withLock { $0 += 1 }
              }
            } catch { failures.withLock { $0.append("\(error)") } }
          }
        }
        ended.wait()
        #expect(failures.withLock { $0 } == [])
        #expect(saves.withLock { $0 } == 480)
        try #expect(ForeignSQL.run("SELECT sum(count) FROM tag", at: url) == [["480"]])
      }
    }

    /// The outcomes of four saves that meet, beside what is stored afterward.
    ///
    /// - Parameter cut: The message at which the connection is cut; nil for none.
    /// - Returns: The outcomes, by names that are in the store if it was saved, and the numbers of messages.
    private func meetingBehindProxy(
      _ cut: CuttingProxy.Cut?, toPort port: UInt16
    ) throws -> (outcomes: [String], stored: [Bool], messages: [CuttingProxy.Direction: Int]) {
      try TestServer.withSchema { text in
        let url = try #require(URL(string: text))
        _ = try open(url)
        let proxy = try CuttingProxy(toPort: port)
        defer { proxy.close() }
        let wait = cut?.isFinal == true ? Duration.milliseconds(300) : .seconds(20)
        let coordinator = try open(proxy.url(for: url), StoreOptions(busyTimeout: wait))
        let store = try #require(coordinator.openStores[0] as? PostgreSQLStore)
        let names = ["a", "b", "c", "d"]
        let saves = names.map { name in
          { @Sendable in
            let context = ManagedObjectContext(coordinator)
            try context.make("Tag", ["label": name])
            try context.save()
          }
        }
        proxy.cut(at: cut)
        let outcomes = meeting(in: store, saves)
        let counts = CuttingProxy.Direction.allCases.map { ($0, proxy.count($0)) }
        let stored = Set(try labels(url))
        return (outcomes, names.map(stored.contains), Dictionary(uniqueKeysWithValues: counts))
      }
    }

    @Test("After a connection is cut, every save of a group knows whether it was saved")
    func cuts() throws {
      let server = try #require(URL(string: TestServer.url.get()))
      let port = UInt16(try #require(server.port))
      let messages = try meetingBehindProxy(nil, toPort: port).messages
      var counts: [String: Int] = [:]
      for direction in CuttingProxy.Direction.allCases {
        let last = messages[direction] ?? 0
        for message in 1...last where TestLength.isLong || message % 5 == 0 || message > last - 3 {
          for isFinal in [false, true] where TestLength.isLong || message % 2 == 0 || !isFinal {
            let cut = CuttingProxy.Cut(direction, message, isAfter: message % 4 < 2, isFinal: isFinal)
            let (outcomes, stored, _) = try meetingBehindProxy(cut, toPort: port)
            for (outcome, isStored) in zip(outcomes, stored) {
              counts[outcome, default: 0] += 1
              #expect(outcome == "saveFailed" || (outcome == "saved") == isStored, "\(cut): \(outcomes) \(stored)")
            }
          }
        }
      }
      print("Saves of groups whose connection was cut: \(counts.sorted { $0.key < $1.key })")
      #expect(counts.count > 1, "no cut mattered")
    }
  }
#endif
