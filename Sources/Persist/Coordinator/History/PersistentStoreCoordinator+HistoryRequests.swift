import Foundation

extension PersistentStoreCoordinator {
  /// Fetches or deletes transactions in the history of the stores.
  ///
  /// Transactions of several stores are returned in chronological order.
  ///
  /// - Throws: ``PersistenceError/Code/historyTokenExpired`` if transactions after the request's token were deleted or
  ///   never recorded, or if the history is switched off; ``PersistenceError/Code/invalidRequest`` if none of the
  ///   stores has a history; the errors of predicates and stores.
  public func execute(_ request: HistoryChangeRequest) throws -> HistoryResult {
    let stores = try storesWithHistory(request.affectedStoreIdentifiers)
    switch request.kind {
    case .fetchAfter(let position):
      let includesChanges = ![.transactionsOnly, .count, .statusOnly].contains(request.resultType)
      let found = try stores.map { store, history in
        var query = Self.query(after: position, of: store)
        query.includesChanges = includesChanges
        guard let number = query.afterNumber else { return try Self.transactions(history, query) }
        return try Self.allTransactions(after: number, query, of: store, history)
      }
      return HistoryResult(Self.merged(found), request.resultType)
    case .fetchTransactions(let fetch):
      let found = try transactions(stores, matching: fetch.predicate, fetch.affectedStoreIdentifiers)
      return HistoryResult(try HistorySelection(fetch).select(found) { $0 }, request.resultType)
    case .fetchChanges(let fetch):
      let found = try transactions(stores, matching: nil, fetch.affectedStoreIdentifiers, tokensOf: fetch.predicate)
      return try HistoryResult(changesOf: found, fetch, request.resultType)
    case .deleteBefore(let position):
      let counts = try stores.map { store, history in
        switch position {
        case .start: return 0
        case .date(let date): return try history.delete(before: date)
        case .token(let token):
          return try Self.number(of: token, in: store, history).map { try history.delete(before: $0) } ?? 0
        }
      }
      return HistoryResult(deleting: counts.reduce(0, +), request.resultType)
    }
  }

  /// Executes a request for the transactions after a position, of which a fetch request selects some.
  package func execute(
    _ request: HistoryChangeRequest, selecting fetch: FetchRequest<HistoryTransaction>
  ) throws -> HistoryResult {
    let found = try transactionsWithChanges(request)
    return HistoryResult(try HistorySelection(fetch).select(found) { $0 }, request.resultType)
  }

  /// Executes a request for the transactions after a position, of whose changes a fetch request selects some.
  package func execute(
    _ request: HistoryChangeRequest, selecting fetch: FetchRequest<HistoryChange>
  ) throws -> HistoryResult {
    try HistoryResult(changesOf: transactionsWithChanges(request), fetch, request.resultType)
  }

  private func transactionsWithChanges(_ request: HistoryChangeRequest) throws -> [HistoryTransaction] {
    var request = request
    request.resultType = .transactionsAndChanges
    return try execute(request).transactions
  }

  /// Returns the current position in the history of stores, or nil if none of them has a history.
  ///
  /// - Parameter stores: The stores, which are open in this coordinator; nil for all.
  public func currentPersistentHistoryToken(fromStores stores: [StoreInfo]? = nil) throws -> HistoryToken? {
    var positions: [String: HistoryPosition] = Dictionary()
    for store in try stores?.map(requireOpen) ?? openStores {
      if let history = store.history { positions[store.identifier] = try history.lastPosition() }
    }
    return positions.isEmpty ? nil : HistoryToken(positions)
  }

  /// Deletes the transactions that a rule selects from the history of stores.
  ///
  /// - Parameters:
  ///   - purge: The rule.
  ///   - stores: The stores, which are open in this coordinator; nil for all that have a history.
  /// - Returns: The number of deleted transactions.
  @discardableResult
  public func purgeHistory(_ purge: HistoryPurge, ofStores stores: [StoreInfo]? = nil) throws -> Int {
    try storesWithHistory(stores?.map(\.identifier)).reduce(0) { try $0 + $1.history.purge(purge, now: Date()) }
  }

  /// The stores of these identifiers that have a history; nil for all.
  ///
  /// - Throws: ``PersistenceError/Code/invalidRequest`` if none has one.
  package func storesWithHistory(
    _ identifiers: [String]?
  ) throws -> [(store: any PersistentStore, history: any StoreHistory)] {
    let stores = openStores.filter { identifiers?.contains($0.identifier) ?? true }
    let found = stores.compactMap { store in store.history.map { (store: store, history: $0) } }
    guard found.isEmpty, !openStores.isEmpty else { return found }
    throw PersistenceError(
      .invalidRequest, at: .store(stores.first?.url), "The store has no history.",
      fix: "Open it with StoreOptions(tracksHistory: true), which records changes from then on.")
  }

  private static func query(
    after position: HistoryChangeRequest.Position, of store: any PersistentStore
  ) -> HistoryQuery {
    switch position {
    case .start: HistoryQuery()
    case .date(let date): HistoryQuery(afterDate: date)
    case .token(let token): HistoryQuery(after: token, of: store)
    }
  }

  /// The number of a token's position in a store; nil if it has none.
  ///
  /// - Throws: ``PersistenceError/Code/historyTokenExpired`` if the token belongs to another life of the store.
  static func number(
    of token: HistoryToken, in store: any PersistentStore, _ history: any StoreHistory
  ) throws -> Int64? {
    guard let number = token.transactionNumber(ofStore: store.identifier) else { return nil }
    guard let mark = token.marks[store.identifier], try !history.contains(number, mark) else { return number }
    throw ofOtherLife(number, store)
  }

  private static func ofOtherLife(_ number: Int64, _ store: any PersistentStore) -> PersistenceError {
    expired(
      "The token belongs to another life of the store, which was restored, replaced or copied since transaction "
        + "\(number).", store)
  }

  /// - Throws: ``PersistenceError/Code/historyTokenExpired`` if the record of changes after a number is incomplete.
  private static func allTransactions(
    after number: Int64, _ query: HistoryQuery, of store: any PersistentStore, _ history: any StoreHistory
  ) throws -> [HistoryTransaction] {
    var transactions: [HistoryTransaction] = []
    try history.forEachTransaction(
      query,
      provided: { extent in
        if extent.isTracking && extent.isOfPosition && extent.isComplete(after: number) { return true }
        throw expired(number, of: extent, in: store)
      }
    ) { transactions.append($0) }
    return transactions
  }

  /// - Parameter number: The number of a token after which the history isn't complete.
  private static func expired(
    _ number: Int64, of extent: HistoryExtent, in store: any PersistentStore
  ) -> PersistenceError {
    let last = extent.lastNumber
    guard extent.isOfPosition else { return ofOtherLife(number, store) }
    if number > last {
      return expired(
        "The token belongs to another history: its transaction is \(number), but the last one is \(last).", store)
    }
    if !extent.isComplete(after: number) {
      return expired(
        "The token is older than the history: transactions after number \(number) were deleted or not recorded.", store)
    }
    var error = expired("The history is switched off, so that changes after the token may not be recorded.", store)
    error.fix = "Open the store with StoreOptions(tracksHistory: true), which records changes from then on. Then read "
      + "the objects themselves once, and continue from currentPersistentHistoryToken(fromStores:)."
    return error
  }

  private static func expired(_ message: String, _ store: any PersistentStore) -> PersistenceError {
    PersistenceError(
      .historyTokenExpired, at: .store(store.url), message,
      fix: "Read the objects themselves once, and continue from currentPersistentHistoryToken(fromStores:). A named "
        + "reader keeps purges from deleting what it hasn't read.")
  }

  private func transactions(
    _ stores: [(store: any PersistentStore, history: any StoreHistory)], matching predicate: FetchPredicate?,
    _ identifiers: [String]?, tokensOf other: FetchPredicate? = nil
  ) throws -> [HistoryTransaction] {
    let stores = stores.filter { identifiers?.contains($0.store.identifier) ?? true }
    for named in (predicate ?? other)?.historyTokens ?? [] {
      if let token = named.token {
        for (store, history) in stores { _ = try Self.number(of: token, in: store, history) }
      }
      guard let first = stores.first?.store, try !stores.contains(where: { try $0.history.contains(named.number) })
      else { continue }
      throw Self.expired(
        "The predicate's token names transaction \(named.number), which the history doesn't contain.", first)
    }
    let query = predicate?.historyQuery ?? HistoryQuery()
    return Self.merged(try stores.map { try Self.transactions($0.history, query) })
  }

  private static func transactions(_ history: any StoreHistory, _ query: HistoryQuery) throws -> [HistoryTransaction] {
    var transactions: [HistoryTransaction] = []
    try history.forEachTransaction(query) { transactions.append($0) }
    return transactions
  }

  /// Merges the transactions of several stores in chronological order, keeping those of each store in the order of
  /// their numbers.
  private static func merged(_ stores: [[HistoryTransaction]]) -> [HistoryTransaction] {
    guard stores.count > 1 else { return stores.first ?? [] }
    var rests = stores.map { $0[...] }
    var merged: [HistoryTransaction] = []
    while true {
      let next = rests.indices.filter { !rests[$0].isEmpty }.min {
        (rests[$0].first?.timestamp ?? .distantFuture) < (rests[$1].first?.timestamp ?? .distantFuture)
      }
      guard let next, let first = rests[next].popFirst() else { return merged }
      merged.append(first)
    }
  }
}

extension HistoryResult {
  /// The result of a request for changes.
  fileprivate init(
    changesOf transactions: [HistoryTransaction], _ fetch: FetchRequest<HistoryChange>,
    _ resultType: HistoryChangeRequest.ResultType
  ) throws {
    let keyed = transactions.flatMap { transaction in
      (transaction.changes ?? []).map { KeyedHistoryChange(change: $0, transaction: transaction) }
    }
    let selected = try HistorySelection(fetch).select(keyed) { $0 }
    guard ![.transactionsOnly, .transactionsAndChanges].contains(resultType) else {
      let found = Dictionary(grouping: selected) { $0.transaction.token }
      let chosen = transactions.compactMap { transaction in
        found[transaction.token].map { transaction.with(changes: $0.map(\.change)) }
      }
      self.init(chosen, resultType)
      return
    }
    self.init(
      resultType: resultType, transactions: [],
      changes: [.changesOnly, .objectIDs].contains(resultType) ? selected.map(\.change) : [], count: selected.count)
  }
}

extension HistoryQuery {
  fileprivate init(after token: HistoryToken, of store: any PersistentStore) {
    self.init(afterNumber: token.transactionNumber(ofStore: store.identifier))
    afterMark = token.marks[store.identifier]
  }
}

extension HistoryTransaction {
  fileprivate func with(changes: [HistoryChange]) -> HistoryTransaction {
    var other = HistoryTransaction(
      transactionNumber: transactionNumber, storeID: storeID, timestamp: timestamp, author: author,
      contextName: contextName, bundleID: bundleID, processID: processID, changes: changes)
    other.life = life
    return other
  }
}

extension PersistentStoreCoordinator {
  /// Whether a store records who changes which objects, read from the store: another program may have switched its
  /// history off, or on again.
  ///
  /// - Throws: ``PersistenceError/Code/invalidRequest`` if the store isn't open in this coordinator;
  ///   the store's errors.
  public func tracksHistory(of store: StoreInfo) throws -> Bool {
    let store = try requireOpen(store)
    do { return try store.history?.extent().isTracking == true } catch is PersistenceError where store.history == nil {
      // Another program has deleted the history.
      return false
    }
  }

  /// Stops recording the changes of a store, for every program that uses it.
  ///
  /// A program switches the history on again by opening the store with ``StoreOptions/tracksHistory``. Earlier tokens
  /// are then too old, because changes in between weren't recorded. Core Data goes on recording changes in a store
  /// whose past was kept.
  ///
  /// - Parameters:
  ///   - store: A store that is open in this coordinator.
  ///   - keepingPast: Whether the recorded transactions remain readable; otherwise the tables are deleted.
  /// - Throws: ``PersistenceError/Code/storeReadOnly``, ``PersistenceError/Code/storeBusy``, and
  ///   ``PersistenceError/Code/invalidRequest`` if the store isn't open in this coordinator.
  public func disableHistory(of store: StoreInfo, keepingPast: Bool = true) throws {
    try requireOpen(store).history?.disable(keepingPast: keepingPast)
  }
}
