import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("History: requests")
struct HistoryRequestTests {
  private func save(_ coordinator: PersistentStoreCoordinator, by author: String? = nil, context name: String? = nil)
    throws -> ManagedObject
  {
    let context = ManagedObjectContext(coordinator)
    context.transactionAuthor = author
    context.name = name
    let team = try context.make("Team", ["name": author])
    try context.save()
    return team
  }

  private func numbers(_ coordinator: PersistentStoreCoordinator, _ request: HistoryChangeRequest) throws -> [Int64] {
    try coordinator.execute(request).transactions.map(\.transactionNumber)
  }

  @Test("A new store has a token and no transactions, neither after nil nor after the token")
  func new() throws {
    try withHistory { coordinator, _ in
      let token = try #require(try coordinator.currentPersistentHistoryToken())
      #expect(token.transactionNumber(ofStore: coordinator.persistentStores[0].identifier) == 0)
      try #expect(numbers(coordinator, .fetchHistory(after: nil)) == [])
      try #expect(numbers(coordinator, .fetchHistory(after: token)) == [])
      _ = try save(coordinator)
      try #expect(numbers(coordinator, .fetchHistory(after: token)) == [1])
      try #expect(numbers(coordinator, .fetchHistory(after: Date.distantPast)) == [1])
      // In a predicate, a token names a transaction, which the initial one doesn't.
      let request = try HistoryTransaction.fetchRequest(where: "token > %@", token)
      let error = persistError { _ = try coordinator.execute(.fetchHistory(withFetch: request)) }
      #expect(error?.code == .historyTokenExpired)
      #expect(error?.code.rawValue == 134301)
    }
  }

  @Test(
    "A read while others delete transactions returns all that it has to, or is refused",
    arguments: [nil, 2, 3] as [Int64?])
  func deletedMeanwhile(after visited: Int64?) throws {
    try withHistory { coordinator, url in
      for _ in 0..<3 { _ = try save(coordinator) }
      let token = try #require(try coordinator.execute(.fetchHistory(after: nil)).transactions.first).token
      let other = PersistentStoreCoordinator(model: coordinator.managedObjectModel)
      try other.addStore(at: url)
      let history = try #require(coordinator.openStores[0].history)
      func deleteAll() throws { _ = try other.execute(.deleteHistory(before: Date.distantFuture)) }
      var (read, isAccepted) = ([] as [Int64], false)
      try history.forEachTransaction(
        HistoryQuery(afterNumber: 1),
        provided: { extent in
          if visited == nil { try deleteAll() }
          isAccepted = extent.isComplete(after: 1)
          return isAccepted
        }
      ) { transaction in
        read.append(transaction.transactionNumber)
        if transaction.transactionNumber == visited { try deleteAll() }
      }
      // A file's read keeps its state. A server's begins again, because the deletion changes the store's mark.
      if TestEngine.current == .sqlite { #expect(isAccepted) }
      if isAccepted { #expect(read == [2, 3]) } else { #expect([[], [2], [2, 3]].contains(read)) }
      #expect(persistError { _ = try numbers(coordinator, .fetchHistory(after: token)) }?.code == .historyTokenExpired)
      for store in other.persistentStores { try other.remove(store) }
    }
  }

  @Test("Requests after a token, a date and a transaction; deletion before them")
  func positions() throws {
    try withHistory { coordinator, _ in
      for _ in 0..<5 { _ = try save(coordinator) }
      let all = try coordinator.execute(.fetchHistory(after: nil)).transactions
      #expect(all.map(\.transactionNumber) == [1, 2, 3, 4, 5])
      try #expect(numbers(coordinator, .fetchHistory(after: all[2])) == [4, 5])
      try #expect(numbers(coordinator, .fetchHistory(after: all[3].token)) == [5])
      try #expect(numbers(coordinator, .fetchHistory(after: all[1].timestamp)) == [3, 4, 5])
      try #expect(coordinator.execute(.deleteHistory(before: all[0])).result as? Bool == true)
      try #expect(numbers(coordinator, .fetchHistory(after: Date.distantPast)).count == 5)
      try #expect(coordinator.execute(.deleteHistory(before: all[1].token)).count == 1)
      _ = try coordinator.execute(.deleteHistory(before: all[2].timestamp))
      try #expect(numbers(coordinator, .fetchHistory(after: Date.distantPast)) == [3, 4, 5])
      // The last that was deleted is still a position that nothing is missing after.
      try #expect(numbers(coordinator, .fetchHistory(after: all[1])) == [3, 4, 5])
      let error = persistError { _ = try coordinator.execute(.fetchHistory(after: all[0])) }
      #expect(error?.code == .historyTokenExpired)
      _ = try coordinator.execute(.deleteHistory(before: Date.distantFuture))
      try #expect(numbers(coordinator, .fetchHistory(after: all[4])) == [])
      #expect(persistError { _ = try coordinator.execute(.fetchHistory(after: all[3])) }?.code == .historyTokenExpired)
      try #expect(ManagedObjectContext(coordinator).count(for: FetchRequest("Team")) == 5)
      _ = try save(coordinator)
      try #expect(numbers(coordinator, .fetchHistory(after: all[4])) == [6])
    }
  }

  @Test("Transactions and changes by predicates, orders and limits; the result types")
  func fetches() throws {
    try withHistory { coordinator, _ in
      let first = try save(coordinator, by: "author1", context: "one")
      _ = try save(coordinator, by: "author2", context: "two")
      let context = ManagedObjectContext(coordinator)
      let person = try context.make("Employee", ["name": "P"])
      try context.save()
      context.delete(person)
      context.delete(context.object(with: first.objectID))
      try context.save()
      func transactions(_ format: String, _ arguments: (any FetchArgument)?...) throws -> [Int64] {
        var request = FetchRequest<HistoryTransaction>("Transaction")
        request.predicate = try FetchPredicate(format, arguments: arguments)
        return try numbers(coordinator, .fetchHistory(withFetch: request))
      }
      try #expect(transactions("author == %@", "author1") == [1])
      try #expect(transactions("author == %@ AND contextName == %@", "author1", "one") == [1])
      try #expect(transactions("author == %@ AND contextName == %@", "author1", "two") == [])
      try #expect(transactions("author == nil") == [3, 4])
      try #expect(transactions("transactionNumber > 1 AND author BEGINSWITH 'author'") == [2])
      try #expect(transactions("ANY changes.changeType == %@", HistoryChangeType.delete) == [4])
      let token = try #require(coordinator.execute(.fetchHistory(after: nil)).transactions.first?.token)
      try #expect(transactions("token > %@ AND author != nil", token) == [2])
      func changes(_ format: String, _ arguments: (any FetchArgument)?...) throws -> [String] {
        var request = FetchRequest<HistoryChange>("Change")
        request.predicate = try FetchPredicate(format, arguments: arguments)
        return try coordinator.execute(.fetchHistory(withFetch: request)).changes.map(words)
      }
      try #expect(
        changes("changeType == %@ AND changedEntity IN %@", HistoryChangeType.insert, ["Team", "Person"])
          == ["insert Team 1", "insert Team 2"])
      try #expect(changes("changedEntity == %@", context.entity(named: "Employee")).count == 2)
      try #expect(changes("changedObjectID == %@", first.objectID) == ["insert Team 1", "delete Team 1"])
      try #expect(changes("transaction.author == 'author2'") == ["insert Team 2"])
      var request = FetchRequest<HistoryChange>(
        "Change", sortedBy: [.init("changeType", isAscending: false), .init("changeID", isAscending: false)])
      request.fetchLimit = 3
      request.fetchOffset = 1
      var history = HistoryChangeRequest.fetchHistory(withFetch: request)
      try #expect(coordinator.execute(history).changes.map(\.changeType) == [.delete, .insert, .insert])
      history.resultType = .count
      try #expect(coordinator.execute(history).result as? Int == 3)
      history.resultType = .transactionsAndChanges
      try #expect(coordinator.execute(history).transactions.allSatisfy { $0.changes?.isEmpty == false })
      var all = HistoryChangeRequest.fetchHistory(after: nil)
      for type in HistoryChangeRequest.ResultType.allCases {
        all.resultType = type
        let result = try coordinator.execute(all)
        #expect(result.transactions.isEmpty == ![.transactionsOnly, .transactionsAndChanges].contains(type))
        #expect(result.changes.isEmpty == [.statusOnly, .count, .transactionsOnly].contains(type))
        if type == .transactionsOnly { #expect(result.transactions.allSatisfy { $0.changes == nil }) }
        if type == .objectIDs { #expect((result.result as? [ManagedObjectID])?.count == 3) }
      }
      #expect(persistError { _ = try transactions("writer == 1") }?.code == .unknownProperty)
      #expect(persistError { _ = try changes("writer == 1") }?.code == .unknownProperty)
    }
  }

  @Test("A did-save has the token of its transaction, and none without a history; the notification too")
  func savedTokens() throws {
    for tracks in [true, false] {
      try withHistory(options: StoreOptions(tracksHistory: tracks)) { coordinator, _ in
        let context = ManagedObjectContext(coordinator)
        let tokens = LockProtected<[HistoryToken?]>([])
        let observer = NotificationCenter.default.addObserver(
          forName: ManagedObjectContext.didSaveObjectIDsNotification, object: context, queue: nil
        ) { note in
          let token = note.userInfo?[PersistentStoreCoordinator.historyTokenKey] as? HistoryToken
          tokens.withLock { $0.append(token) }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try context.make("Team", [:])
        try context.save()
        #expect(tokens.withLock { $0 } == [try coordinator.currentPersistentHistoryToken()])
        try #expect((coordinator.currentPersistentHistoryToken() != nil) == tracks)
        if !tracks {
          let error = persistError { _ = try context.execute(.fetchHistory(after: nil)) }
          #expect(error?.code == .invalidRequest)
        }
      }
    }
  }

  @Test("A merged transaction of another coordinator shows in a context")
  func merging() throws {
    try withHistory { coordinator, url in
      let other = PersistentStoreCoordinator(model: coordinator.managedObjectModel)
      try other.addStore(at: url)
      let view = ManagedObjectContext(other)
      let start = try other.currentPersistentHistoryToken()
      _ = try save(coordinator, by: "a")
      let copy = try #require(try view.fetch(FetchRequest("Team")).first)
      try ManagedObjectContext(coordinator).execute(BatchUpdateRequest("Team", set: ["name": .value("batch")]))
      #expect(copy["name"] as? String == "a")
      for transaction in try view.execute(.fetchHistory(after: start)).transactions {
        view.mergeChanges(from: transaction.objectIDNotification())
      }
      #expect(copy["name"] as? String == "batch")
      for store in other.persistentStores { try other.remove(store) }
    }
  }

  @Test("A purge goes by age and number, and never overtakes a reader that was heard of lately")
  func purges() throws {
    try withHistory { coordinator, url in
      for _ in 0..<10 { _ = try save(coordinator) }
      let all = try coordinator.execute(.fetchHistory(after: nil)).transactions
      func left() throws -> [Int64] { try numbers(coordinator, .fetchHistory(after: Date.distantPast)) }
      try #expect(coordinator.purgeHistory(HistoryPurge(olderThan: .seconds(3600))) == 0)
      try #expect(coordinator.purgeHistory(HistoryPurge(keepingAtMost: 20)) == 0)
      try #expect(coordinator.purgeHistory(HistoryPurge()) == 0)
      try #expect(coordinator.purgeHistory(HistoryPurge(keepingAtMost: 8)) == 2)
      let widget = coordinator.historyReader(named: "widget")
      try #expect(widget.token == nil)
      try #expect(widget.unread().count == 8)
      try widget.markAsRead(upTo: all[4].token)
      try #expect(coordinator.historyReader(named: "widget").unread().map(\.transactionNumber) == [6, 7, 8, 9, 10])
      try coordinator.historyReader(named: "app").markAsRead(upTo: coordinator.currentPersistentHistoryToken())
      try #expect(coordinator.purgeHistory(HistoryPurge(keepingAtMost: 1)) == 3)
      try #expect(left() == [6, 7, 8, 9, 10])
      try #expect(coordinator.purgeHistory(HistoryPurge(olderThan: .zero)) == 0)
      // A reader that was silent for too long is no longer waited for.
      try MadeStore.run("UPDATE PERSIST_HISTORY_READERS SET HEARD = HEARD - 4000000 WHERE NAME = 'widget'", at: url)
      try #expect(coordinator.purgeHistory(HistoryPurge(keepingAtMost: 3)) == 2)
      #expect(persistError { _ = try widget.unread() }?.code == .historyTokenExpired)
      try widget.remove()
      try #expect(coordinator.purgeHistory(HistoryPurge()) == 3)
      try #expect(left() == [])
      try #expect(coordinator.historyReader(named: "app").unread().isEmpty)
    }
  }

  @Test("Several stores: one token for all, transactions in the order of their times")
  func severalStores() throws {
    try withTemporaryFolder { folder in
      let coordinator = PersistentStoreCoordinator(model: try HistoryModel.make())
      for name in ["a", "b"] {
        try coordinator.addStore(
          at: folder.appendingPathComponent("\(name).sqlite"), options: StoreOptions(tracksHistory: true))
      }
      let context = ManagedObjectContext(coordinator)
      let infos = coordinator.persistentStores
      for index in [0, 1, 0] {
        let team = try context.make("Team", [:])
        try context.assign(team, to: infos[index])
        try context.save()
      }
      let all = try coordinator.execute(.fetchHistory(after: nil)).transactions
      #expect(all.map(\.storeID) == [0, 1, 0].map { infos[$0].identifier })
      let token = try #require(try coordinator.currentPersistentHistoryToken())
      #expect(token.transactionNumbers == [infos[0].identifier: 2, infos[1].identifier: 1])
      #expect(token == all.reduce(HistoryToken(transactionNumbers: [:])) { $0.merging($1.token) })
      var request = HistoryChangeRequest.fetchHistory(after: all[0].token)
      try #expect(coordinator.execute(request).count == 2)
      request.affectedStoreIdentifiers = [infos[1].identifier]
      try #expect(coordinator.execute(request).transactions.map(\.storeID) == [infos[1].identifier])
      for store in infos { try coordinator.remove(store) }
    }
  }
}
