import Foundation

extension SQLiteConnection {
  /// Makes the indexes of a model's texts, fills those that are new, and takes out those that are no longer wanted. The
  /// caller holds the transaction.
  ///
  /// - Parameter trusted: indexes whose words are right, given that they are kept as they should be. Others are made
  ///   anew.
  /// - Throws: ``PersistenceError/Code/storeOpenFailed`` where SQLite has no FTS5.
  func keepFullText(_ wanted: Set<FullTextIndex>, trusting trusted: Set<FullTextIndex> = []) throws {
    let sound = try trusted.kept(by: self).intersection(wanted)
    let soundNames = Set(sound.flatMap(\.definitions.keys))
    let present = try all(.trustedObjects) { (name: $0.text(0), isTable: $0.integer(2) != 0) }
      .filter { $0.name.hasPrefix(FullTextIndex.prefix) && !soundNames.contains($0.name) }
    if !present.isEmpty || sound != wanted { try requireFullText() }
    for object in present.sorted(by: { !$0.isTable && $1.isTable }) {
      try execute(.dropFullText(object.name, isTable: object.isTable))
    }
    for index in wanted.subtracting(sound).sorted(by: { $0.name < $1.name }) {
      try execute(.create(index))
      try execute(.rebuild(index))
      for event in FullTextIndex.Event.allCases { try execute(.trigger(index, event)) }
    }
  }

  /// - Throws: ``PersistenceError/Code/storeOpenFailed`` where SQLite has no FTS5.
  func requireFullText() throws {
    try Self.requireFullText(isAvailable: first(.fullTextModule) { _ in true } ?? false, url: url)
  }

  static func requireFullText(isAvailable: Bool, url: URL?) throws {
    guard !isAvailable else { return }
    throw PersistenceError(
      .storeOpenFailed, at: .store(url),
      "Full-text indexes, which the store has or its model asks for, need FTS5, and this SQLite was built without.",
      fix: "Link an SQLite that has it (compiled with SQLITE_ENABLE_FTS5), or take the marks out of the model.")
  }
}

extension Set<FullTextIndex> {
  /// Those that a store has, with all triggers, just as Persist would make them.
  func kept(by connection: SQLiteConnection) throws -> Self {
    guard !isEmpty else { return [] }
    let present = Dictionary(
      try connection.all(.trustedObjects) { ($0.text(0), $0.text(1)) }, uniquingKeysWith: { first, _ in first })
    return filter { index in index.definitions.allSatisfy { present[$0.key] == $0.value } }
  }

  /// Whether a store has these, just as Persist would make them, and nothing of others.
  fileprivate func areAll(of connection: SQLiteConnection) throws -> Bool {
    let present = try connection.all(.trustedObjects) { $0.text(0) }.filter { $0.hasPrefix(FullTextIndex.prefix) }
    return try present.count == flatMap(\.definitions).count && kept(by: connection) == self
  }
}

extension SQLiteConnectionPool {
  /// Brings a store's full-text indexes to those of its model where it may be written, and lets the triggers run.
  ///
  /// - Parameter schema: what the store has; nil for a store that was just made.
  /// - Returns: the indexes that can be asked.
  func keepFullText(_ wanted: Set<FullTextIndex>, schema: StoreSchema? = nil) throws -> Set<FullTextIndex> {
    if isReadOnly { return wanted.isEmpty ? [] : try read { try wanted.kept(by: $0) } }
    let hasSome = schema?.triggers.contains { $0.name.hasPrefix(FullTextIndex.prefix) } ?? false
    guard !wanted.isEmpty || hasSome else { return [] }
    try withWriter { connection in
      try connection.requireFullText()
      if try !wanted.areAll(of: connection) {
        // What is kept as it should be has been kept all the time.
        try connection.transaction { try connection.keepFullText(wanted, trusting: wanted) }
      }
      try connection.trustFullText(wanted)
    }
    return wanted
  }
}
