import Foundation

extension SQLiteConnection {
  /// Creates the indexes of a model's texts, fills new ones, and removes those that are no longer needed. The caller
  /// holds the transaction.
  ///
  /// - Parameter trusted: The indexes with correct contents, provided that their definitions are intact. Others are
  ///   recreated.
  /// - Throws: ``PersistenceError/Code/storeOpenFailed`` if SQLite has no FTS5.
  package func updateFullTextIndexes(_ wanted: Set<FullTextIndex>, trusting trusted: Set<FullTextIndex> = []) throws {
    var present: [(name: String, isTable: Bool)] = []
    try query(.trustedObjects) { row in
      let name = row.text(0)
      if name.hasPrefix(FullTextIndex.prefix) { present.append((name, row.integer(2) != 0)) }
    }
    // Few models have any, and the first uses of the types below take 100,000 instructions.
    if present.isEmpty, wanted.isEmpty { return }
    let sound = try trusted.kept(by: self).intersection(wanted)
    let soundNames = Set(sound.flatMap { $0.definitions.keys })
    present.removeAll { soundNames.contains($0.name) }
    if !present.isEmpty || sound != wanted { try requireFullText() }
    for object in present.ordered(by: { !$0.isTable && $1.isTable }) {
      try execute(.dropFullText(object.name, isTable: object.isTable))
    }
    for index in wanted.subtracting(sound).sorted(on: \.name) {
      try execute(.create(index))
      try execute(.rebuild(index))
      for event in FullTextIndex.Event.allCases { try execute(.trigger(index, event)) }
    }
  }

  /// - Throws: ``PersistenceError/Code/storeOpenFailed`` if SQLite has no FTS5.
  func requireFullText() throws {
    try Self.requireFullText(isAvailable: first(.fullTextModule) { _ in true } ?? false, url: url)
  }

  static func requireFullText(isAvailable: Bool, url: URL?) throws {
    guard !isAvailable else { return }
    throw PersistenceError(
      .storeOpenFailed, at: .store(url),
      "The store or its model has full-text indexes, which need FTS5; this SQLite was built without it.",
      fix: "Link an SQLite that has it (compiled with SQLITE_ENABLE_FTS5), or remove full-text search from the model.")
  }
}

extension Set<FullTextIndex> {
  /// The indexes that a store has, including all triggers, exactly as Persist would create them.
  package func kept(by connection: SQLiteConnection) throws -> Self {
    guard !isEmpty else { return [] }
    let present = Dictionary(
      try connection.all(.trustedObjects) { ($0.text(0), $0.text(1)) }, uniquingKeysWith: { first, _ in first })
    return filter { index in index.definitions.allSatisfy { present[$0.key] == $0.value } }
  }

  /// Whether a store has exactly these full-text indexes, as Persist would create them.
  fileprivate func areAll(of connection: SQLiteConnection) throws -> Bool {
    let present = try connection.all(.trustedObjects) { $0.text(0) }.filter { $0.hasPrefix(FullTextIndex.prefix) }
    return try present.count == flatMap(\.definitions).count && kept(by: connection) == self
  }
}

extension SQLiteConnectionPool {
  /// Updates a store's full-text indexes to those of its model if it is writable, and allows the triggers to run.
  ///
  /// - Parameter schema: The store's schema; nil for a new store.
  /// - Returns: The indexes available for queries.
  func updateFullTextIndexes(_ wanted: Set<FullTextIndex>, schema: StoreSchema? = nil) throws -> Set<FullTextIndex> {
    if isReadOnly { return wanted.isEmpty ? [] : try read { try wanted.kept(by: $0) } }
    let hasSome = schema?.triggers.contains { $0.name.hasPrefix(FullTextIndex.prefix) } ?? false
    guard !wanted.isEmpty || hasSome else { return [] }
    try withWriter { connection in
      try connection.requireFullText()
      if try !wanted.areAll(of: connection) {
        // Indexes whose definitions are intact are up to date.
        try connection.transaction { try connection.updateFullTextIndexes(wanted, trusting: wanted) }
      }
      try connection.trustFullText(wanted)
    }
    // Another writer wouldn't trust the indexes' triggers.
    try keepWriter()
    return wanted
  }
}
