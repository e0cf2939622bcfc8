import Foundation
import Persist

extension PostgreSQLStore {
  func insert(
    slices next: () throws -> ImportSlice?, completing report: (Double) throws -> Void
  ) throws -> ImportOutcome {
    try writeOnce { transaction in
      var pass = try ServerImportPass(store: self, transaction: transaction)
      do {
        while let slice = try next() { try pass.insert(slice) }
        try pass.finish(reporting: report)
      } catch let error as PersistenceError {
        throw pass.naming(sourceOf: error)
      }
      try transaction.record(&pass.history)
      return pass.outcome
    }
  }
}

/// The steps of one import, inside a transaction; as in ``RowImportPass``, with one statement for all rows of a slice.
private struct ServerImportPass {
  private let store: PostgreSQLStore
  private let transaction: ServerTransaction
  /// By index in ``ManagedObjectModel/entities``, the numbers of to-many relationships by slot.
  private let numbers: [[Int: Int]]
  private var sources = ImportSources()
  private(set) var outcome = ImportOutcome()
  /// Records the import in the history; nil if changes aren't recorded.
  var history: ServerHistoryWriter?

  init(store: PostgreSQLStore, transaction: ServerTransaction) throws {
    self.store = store
    self.transaction = transaction
    history = try store.historyWriter(by: nil, transaction)
    numbers = store.model.entities.map { ImportedRelationship.numbers(of: $0, among: store.map) }
    try transaction.run([
      """
      CREATE TEMPORARY TABLE persist_imported (root bigint, key bigint, file bigint, line bigint, \
      PRIMARY KEY (root, key)) ON COMMIT DROP
      """,
      """
      CREATE TEMPORARY TABLE persist_members (relationship bigint, owner bigint, place bigint, member bigint, \
      PRIMARY KEY (relationship, owner, place)) ON COMMIT DROP
      """,
    ])
  }

  mutating func insert(_ slice: ImportSlice) throws {
    var writes = RowWrites()
    writes.inserts = slice.inserts
    let keys = try store.keys(for: slice.inserts, transaction)
    try recordKeys(keys, of: slice)
    var pass = ServerCommitPass(writes, store: store)
    pass.assignKeys(keys)
    try pass.insertRows(transaction)
    pass.history = history
    try pass.recordChanges()
    history = pass.history
    let changes = history?.takeManyChanges() ?? []
    try transaction.run(pass.statements + [members(of: slice, keys)] + changes, areReused: true)
    outcome.count += slice.inserts.count
    outcome.returning.formUnion(slice.returning)
  }

  /// Records the keys, and refuses those that are in use.
  private mutating func recordKeys(_ keys: [Int64], of slice: ImportSlice) throws {
    let roots = slice.inserts.map { Int64($0.entity.root.index) }
    let origins = slice.inserts.indices.map { sources.numbers(of: slice.source($0)) }
    for root in Set(roots) {
      let own = zip(roots, keys).filter { $0.0 == root }.map(\.1)
      let table = store.map.tables[Int(root)].table
      let used = try transaction.all("SELECT id FROM \(table: table) WHERE id = ANY(\(integers: own)) LIMIT 1") {
        $0.integer($1, 0)
      }
      var seen: Set<Int64> = []
      guard let key = used.first ?? own.first(where: { !seen.insert($0).inserted }),
        let place = keys.indices.last(where: { roots[$0] == root && keys[$0] == key })
      else { continue }
      let entity = slice.inserts[place].entity
      throw sources.keyInUse(
        key, of: entity, from: origins[place],
        "The store already has an object with the key \(key), or the import has two.", at: store.url)
    }
    try transaction.run([
      """
      INSERT INTO persist_imported SELECT * FROM unnest(\(integers: roots), \(integers: keys), \
      \(integers: origins.map { $0.file }), \(integers: origins.map { $0.line }))
      """
    ])
  }

  /// The error with the source of the row that it is about, if there is one.
  func naming(sourceOf error: PersistenceError) -> PersistenceError {
    sources.naming(sourceOf: error, in: store.model, ServerHistoryConnection(transaction.session))
  }

  private func members(of slice: ImportSlice, _ keys: [Int64]) -> ServerText {
    var (relationships, owners, places, members): ([Int64], [Int64], [Int64], [Int64]) = ([], [], [], [])
    slice.forEachMember(ofRowsWith: keys, numbers) { relationship, owner, place, member in
      relationships.append(relationship)
      owners.append(owner)
      places.append(place)
      members.append(member)
    }
    return """
      INSERT INTO persist_members SELECT * FROM unnest(\(integers: relationships), \(integers: owners), \
      \(integers: places), \(integers: members))
      """
  }

  /// The problems that a server's tables can have after an import: types, unique values and keys are the server's own.
  private static let checked: Set<StoreProblem.Kind> = [
    .missingValue, .danglingRelationship, .danglingReference, .wrongDestination, .oneSidedRelationship,
  ]

  /// The part of the time that statements take. The rest is that of the keys, which the server checks with the commit.
  private static let statementsPart = 0.5

  /// The number of imported rows from which the server is asked for new figures about the tables.
  private static let analyzedCount = 1000

  /// Completes the relationships, and refuses the import if they don't agree or break a rule of the model.
  ///
  /// - Parameter report: Called with the completed fraction.
  mutating func finish(reporting report: (Double) throws -> Void) throws {
    // The server's choice between reading tables whole and by index depends on figures that it doesn't have yet. With
    // wrong ones, each part of a walk through a table can read all of it.
    let isLarge = outcome.count >= Self.analyzedCount
    if isLarge { try transaction.run(["ANALYZE persist_imported", "ANALYZE persist_members"]) }
    // An import has begun its transaction when it created these tables.
    let session = transaction.session
    let completion = ImportCompletion(store.map, in: ServerHistoryConnection(session), checking: Self.checked.contains)
    try completion.run(into: &outcome, findings: session.forEachFinding) { try report(Self.statementsPart * $0) }
    guard isLarge else { return }
    let present = store.map.tables.filter { !store.map.absent.contains($0.entity.name) }
    let joins = store.map.absent.isEmpty ? store.map.joinTables.map(\.name) : []
    try transaction.run(Set(present.map(\.table) + joins).sorted().map { "ANALYZE \(table: $0)" })
  }
}
