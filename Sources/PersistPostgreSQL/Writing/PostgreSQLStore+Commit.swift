import Foundation
import Persist

extension PostgreSQLStore {
  func commit(_ writes: RowWrites) throws -> CommitReceipt {
    guard !writes.isEmpty else { return CommitReceipt() }
    let pool = pool
    // Each save is a transaction of its own in the history. One run by another thread would wait for this one.
    guard pool.continued.transaction == nil, SaveGroup.allows(writes), historyMap.withLock({ $0 == nil }) else {
      return try commitAlone(writes)
    }
    do {
      return try saves.write(
        writes, within: busyTimeout, instrument: pool.options.instrument, alone: commitAlone,
        together: { try writeOnce($0, .locking) })
    } catch let ended as SaveQueue.Ended { throw pool.error(ended.state) }
  }

  func excludingWriters<T>(_ body: () throws -> T) throws -> T {
    if isReadOnly { return try body() }
    return try pool.excludingWriters(body)
  }

  private func commitAlone(_ writes: RowWrites) throws -> CommitReceipt {
    // A statement that fails ends the transaction, so that there is no second attempt.
    if pool.continued.transaction != nil {
      do {
        return try writeOnce(writes, writes.deletes.isEmpty && writes.updates.isEmpty ? .locking : .freeingValues)
      } catch let error as PersistenceError where error.code == .constraintConflict {
        if error.isOfKey { discardFreeKeys(of: writes.inserts.map(\.entity)) }
        throw described(error, writes)
      }
    }
    do {
      if writes.needNoLocks {
        do { return try write(writes, .checking) } catch is ServerPool.Overtaken {}
      }
      return try write(writes, .locking)
    } catch let error as PersistenceError
      where error.code == .constraintConflict && !(writes.deletes.isEmpty && writes.updates.isEmpty)
    {
      return try write(writes, .freeingValues)
    }
  }

  private func write(_ writes: RowWrites, _ method: ServerCommitPass.Method) throws -> CommitReceipt {
    do {
      do { return try writeOnce(writes, method) } catch let error as PersistenceError where error.isOfKey {
        // Another program has given rows the keys that this one has for its next objects.
        discardFreeKeys(of: writes.inserts.map(\.entity))
        return try writeOnce(writes, method)
      }
    } catch let error as PersistenceError where error.code == .constraintConflict {
      throw described(error, writes)
    }
  }

  private func writeOnce(_ writes: RowWrites, _ method: ServerCommitPass.Method) throws -> CommitReceipt {
    let (pass, metadata, transaction) = try pool.write(
      usingFullNames: true, checkingVersions: method == .checking, ending: true
    ) { transaction in
      var pass = ServerCommitPass(writes, store: self)
      pass.history = try historyWriter(by: writes.origin, transaction)
      try pass.run(transaction, method)
      let metadata = try writePendingMetadata(transaction)
      try transaction.record(&pass.history)
      return (pass, metadata, transaction)
    }
    recordChange()
    pendingMetadata.didWrite(metadata)
    return pass.receipt(historyNumber: transaction.historyNumber)
  }

  /// Describes a violated constraint in terms of the model, where the server names an index or a rule.
  ///
  /// - Parameter writes: The writes, of which one has the value.
  func described(_ error: PersistenceError, _ writes: RowWrites = RowWrites()) -> PersistenceError {
    guard let name = error.place.key else { return error }
    if let violation = OnlineTriggers.violation(at: url, error) { return violation }
    if name.hasPrefix(ServerRule.prefix), let rule = ServerRule.all(in: map).first(where: { $0.name == name }) {
      return rule.violation(at: url, error)
    }
    guard let index = map.indexDefinitions.first(where: { ServerText.name($0.name) == name }),
      let table = map.tables.first(where: { $0.table == index.table })
    else { return error }
    let owner = map.tables.first { $0.entity.name == index.subject?.entity } ?? table
    let properties = index.columns.compactMap { column in owner.columns.first { $0.name == column.name }?.property }
    guard !properties.isEmpty else { return error }
    let values = values(of: properties, in: writes, accordingTo: error.engineMessage ?? "") ?? "the same value"
    return .notUnique(values, of: properties, owner.entity, at: url, engineMessage: error.engineMessage)
  }

  /// The values of a violated constraint in words: those of the written row whose values the server lists, in
  /// parentheses whatever its language is; nil if it doesn't list them.
  private func values(of properties: [String], in writes: RowWrites, accordingTo message: String) -> String? {
    func words(_ entity: Entity, _ value: (Int) -> StoredValue?) -> String? {
      let values = properties.compactMap { name in entity.property(named: name).flatMap { value($0.slot) } }
      guard values.count == properties.count else { return nil }
      let listed = values.map { value -> String in
        switch value {
        case .string(let text), .uri(let text): text
        case .boolean(let flag): flag ? "t" : "f"
        case .uuid(let uuid): uuid.uuidString.lowercased()
        default: value.description
        }
      }.joined(separator: ", ")
      return message.contains("=(\(listed))") ? values.map(\.description).joined(separator: ", ") : nil
    }
    for row in writes.inserts {
      if let found = words(row.entity, { row.values[$0] }) { return found }
    }
    for row in writes.updates {
      if let found = words(row.entity, { row.slots.contains($0) ? row.values[$0] : nil }) { return found }
    }
    return nil
  }

  // MARK: Keys

  func reserveKeys(for entities: [Entity]) throws -> [Int64] {
    let inserts = entities.enumerated().map { index, entity in
      RowWrites.Insert(key: .temporary(UInt64(index)), entity: entity, values: SlotValues())
    }
    return try pool.write(usingFullNames: true) { try keys(for: inserts, $0) }
  }

  func greatestAssignedKey(inHierarchyOf entity: Entity) throws -> Int64 {
    let sequence = sequence(of: entity.root.index)
    // All keys of the last block. A user who may only read the tables learns nothing about keys of deleted rows.
    let sql: ServerText = """
      SELECT CASE WHEN has_sequence_privilege(\(sequence), 'SELECT, USAGE') \
      THEN coalesce(pg_sequence_last_value(\(sequence)) + \(number: Int64(ServerText.keyBlockSize)) - 1, 0) ELSE 0 END
      """
    let last = try pool.read { try $0.first(sql) { $0.integer($1, 0) } ?? 0 }
    return try max(last, greatestKey(inHierarchyOf: entity))
  }

  func retireKeys(upTo keys: [Int: Int64]) throws {
    guard !keys.isEmpty else { return }
    try pool.write(usingFullNames: true) { transaction in
      _ = try transaction.run(keys.map { raiseKeys(of: $0.key, to: $0.value) })
    }
  }

  /// A key for each insert.
  ///
  /// The server's sequences count blocks of keys, so that most saves ask for none. A key that isn't used is lost. Other
  /// programs may use keys of a block in the meantime: they may choose keys without using the sequence, and may not
  /// advance it afterward.
  func keys(for inserts: [RowWrites.Insert], _ transaction: ServerTransaction) throws -> [Int64] {
    var needed: [Int: Int] = [:]
    var greatest: [Int: Int64] = [:]
    for insert in inserts {
      let root = insert.entity.root.index
      switch insert.key {
      case .temporary: needed[root, default: 0] += 1
      case .permanent(let key): greatest[root] = max(greatest[root] ?? 0, key)
      }
    }
    var free = try takeKeys(needed, transaction)
    for (root, key) in greatest { transaction.runLast([raiseKeys(of: root, to: key)]) }
    return inserts.map { insert in
      switch insert.key {
      case .permanent(let key): return key
      case .temporary: return free[insert.entity.root.index]?.popLast() ?? 0
      }
    }
  }

  /// - Returns: The keys by root, the first to use last.
  private func takeKeys(_ needed: [Int: Int], _ transaction: ServerTransaction) throws -> [Int: [Int64]] {
    var taken: [Int: [Int64]] = [:]
    for (root, count) in needed {
      taken[root] = freeKeys.withLock { free in
        guard let range = free[root], !range.isEmpty else { return [] }
        let own = range.prefix(count)
        free[root] = range.dropFirst(count)
        return Array(own)
      }
    }
    let missing = needed.filter { $0.value > taken[$0.key]?.count ?? 0 }.sorted { $0.key < $1.key }
    guard !missing.isEmpty else { return taken.mapValues { $0.reversed() } }
    let size = Int64(ServerText.keyBlockSize)
    let results = try transaction.run(
      missing.map { skipUsedKeys(of: $0.key) }
        + missing.map { root, count in
          let blocks = (Int64(count - (taken[root]?.count ?? 0)) + size - 1) / size
          return "SELECT nextval(\(sequence(of: root))) FROM generate_series(1, \(integer: blocks))"
        })
    for ((root, count), result) in zip(missing, results.dropFirst(missing.count)) {
      var keys = taken[root] ?? []
      for row in 0..<result.rowCount {
        let start = result.integer(row, 0)
        keys += start..<(start + size)
      }
      if keys.count > count, let first = keys.dropFirst(count).first {
        // The rest of the last block.
        freeKeys.withLock { $0[root] = first..<((keys.last ?? first) + 1) }
      }
      taken[root] = Array(keys.prefix(count))
    }
    return taken.mapValues { $0.reversed() }
  }

  /// Discards the keys that this process has reserved for new rows, so that the next ones come from new blocks.
  func discardFreeKeys(of entities: [Entity]) {
    let roots = Set(entities.map { $0.root.index })
    freeKeys.withLock { free in
      for root in roots { free[root] = nil }
    }
  }

  /// Discards the keys that this process has reserved for an entity's new rows, if other programs have used any of
  /// them.
  func discardUsedKeys(of entity: Entity, _ transaction: ServerTransaction) throws {
    let root = entity.root.index
    guard let range = freeKeys.withLock({ $0[root] }), let first = range.first, let last = range.last else { return }
    let used = try transaction.run([
      "SELECT 1 FROM \(table: map.tables[root].table) WHERE id BETWEEN \(integer: first) AND \(integer: last) LIMIT 1"
    ])
    if used.contains(where: { $0.rowCount > 0 }) { discardFreeKeys(of: [entity]) }
  }

  /// Advances a sequence past keys that others chose, if its next block would contain any of them.
  private func skipUsedKeys(of root: Int) -> ServerText {
    let sequence = sequence(of: root)
    return """
      SELECT setval(\(sequence), greatest_key) \
      FROM (SELECT max(id) AS greatest_key FROM \(table: map.tables[root].table)) AS used WHERE greatest_key >= \
      coalesce(pg_sequence_last_value(\(sequence)) + \(number: Int64(ServerText.keyBlockSize)), 1)
      """
  }

  private func raiseKeys(of root: Int, to key: Int64) -> ServerText {
    let name = ServerText.keySequence(of: map.tables[root].table)
    // A sequence that was never used has its first value as its last one.
    return """
      SELECT setval(\(sequence(of: root)), \(integer: key)) FROM \(table: name) \
      WHERE last_value < \(integer: key) OR last_value = \(integer: key) AND NOT is_called
      """
  }

  private func sequence(of root: Int) -> ServerText {
    let name = ServerText.keySequence(of: map.tables[root].table)
    return "\(text: ServerText.fullName(name, in: pool.address.schema))::regclass"
  }
}
