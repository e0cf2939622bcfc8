import Foundation
import Persist

extension PostgreSQLStore {
  func insert(
    slices next: () throws -> ImportSlice?, completing report: (Double) throws -> Void
  ) throws -> ImportOutcome {
    do {
      let outcome = try pool.write(once: true) { transaction in
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
      recordChange()
      return outcome
    } catch let error as PersistenceError where error.code == .constraintConflict {
      throw described(error)
    }
  }
}

/// The steps of one import, inside a transaction; as in ``RowImportPass``, with one statement for all rows of a slice.
private struct ServerImportPass {
  private let store: PostgreSQLStore
  private let transaction: ServerTransaction
  /// By index in ``ManagedObjectModel/entities``, the numbers of to-many relationships by slot.
  private let numbers: [[Int: Int]]
  private let relationships: [ImportedRelationship]
  private var sources = ImportSources()
  private(set) var outcome = ImportOutcome()
  /// Records the import in the history; nil if changes aren't recorded.
  var history: ServerHistoryWriter?

  init(store: PostgreSQLStore, transaction: ServerTransaction) throws {
    self.store = store
    self.transaction = transaction
    history = try store.historyWriter(by: nil, transaction)
    relationships = ImportedRelationship.all(of: store.map)
    numbers = store.model.entities.map { ImportedRelationship.numbers(of: $0, among: store.map) }
    try transaction.run([
      """
      CREATE TEMPORARY TABLE persist_imported (root bigint, key bigint, file bigint, line bigint, \
      PRIMARY KEY (root, key)) ON COMMIT DROP
      """,
      // The place -1 represents the owner itself, whose members are known even if there are none.
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
    let roots = slice.inserts.map { Int64($0.entity.root.number - 1) }
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
      let hierarchy =
        entity.root.hasSubentities ? " Keys are unique among \(entity.root.name) and its subentities." : ""
      let error = PersistenceError(
        .constraintConflict, at: PersistenceError.Place(entity: entity.name, row: key, store: store.url),
        "The store already has an object with the key \(key), or the import has two." + hierarchy,
        fix: "Import into an empty store, or give the object another key.")
      throw sources.replacingKey(in: error, by: origins[place])
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
    guard error.place.file == nil, let key = error.place.row,
      let entity = error.place.entity.flatMap({ store.model.entitiesByName[$0] })
    else { return error }
    // The server refuses it if it reported the error itself.
    let found = try? transaction.all(
      """
      SELECT file, line FROM persist_imported \
      WHERE root = \(integer: Int64(entity.root.number - 1)) AND key = \(integer: key)
      """
    ) { (file: $0.integer($1, 0), line: $0.integer($1, 1)) }
    return sources.replacingKey(in: error, by: found?.first)
  }

  private func members(of slice: ImportSlice, _ keys: [Int64]) -> ServerText {
    var columns: [[Int64]] = [[], [], [], []]
    func note(_ values: Int64...) { for (index, value) in values.enumerated() { columns[index].append(value) } }
    for (index, (insert, owner)) in zip(slice.inserts, keys).enumerated() where slice.members.indices.contains(index) {
      for list in slice.members[index] {
        guard let number = numbers[insert.entity.number - 1][list.slot] else { continue }
        note(Int64(number), owner, -1, 0)
        for (place, member) in list.keys.enumerated() { note(Int64(number), owner, Int64(place), member) }
      }
    }
    return """
      INSERT INTO persist_members SELECT * FROM unnest(\(integers: columns[0]), \(integers: columns[1]), \
      \(integers: columns[2]), \(integers: columns[3]))
      """
  }

  /// Completes the relationships, and refuses the import if they don't agree or break a rule of the model.
  ///
  /// - Parameter report: Called with the completed fraction.
  mutating func finish(reporting report: (Double) throws -> Void) throws {
    // The server's choice between reading tables whole and by index depends on figures that it doesn't have yet. With
    // wrong ones, each part of a walk through a table can read all of it.
    let isLarge = outcome.count >= Self.analyzedCount
    if isLarge { try transaction.run(["ANALYZE persist_imported", "ANALYZE persist_members"]) }
    let checks = CheckStep.steps(for: store.map).filter { Self.checked.contains($0.kind) }
    let parts = Double(relationships.count * 4 + checks.count)
    var done = 0.0
    func complete() throws {
      done += 1
      try report(Self.statementsPart * done / parts)
    }
    for relationship in relationships {
      try requireNoRepetition(relationship)
      try complete()
    }
    for relationship in relationships {
      try join(relationship)
      try complete()
    }
    for relationship in relationships {
      try requireAgreement(relationship)
      try complete()
    }
    for relationship in relationships {
      try order(relationship)
      try complete()
    }
    for step in checks {
      try run(step)
      try complete()
    }
    guard isLarge else { return }
    let present = store.map.tables.filter { !store.map.absent.contains($0.entity.name) }
    let joins = store.map.absent.isEmpty ? store.map.joinTables.map(\.name) : []
    try transaction.run(Set(present.map(\.table) + joins).sorted().map { "ANALYZE \(table: $0)" })
  }

  /// The part of the time that statements take. The rest is that of the keys, which the server checks with the commit.
  private static let statementsPart = 0.5

  /// The number of imported rows from which the server is asked for new figures about the tables.
  private static let analyzedCount = 1000

  private func requireNoRepetition(_ relationship: ImportedRelationship) throws {
    let sql = SQLText.repeatedMember(relationship.number, onlyOneOwner: relationship.membersHaveOneOwner)
    // The owner isn't part of the group if a member may have only one.
    let text: ServerText =
      relationship.membersHaveOneOwner
      ? """
      SELECT min(owner), member FROM persist_members WHERE relationship = \(number: Int64(relationship.number)) \
      AND place >= 0 GROUP BY member HAVING count(*) > 1 LIMIT 1
      """ : ServerText(sql)
    guard let (owner, member) = try pair(text) else { return }
    throw relationship.disagreement(
      owner, "'\(relationship.name)' lists \(relationship.destination) \(member) more than once, or another object "
        + "lists it too.", at: store.url)
  }

  private func join(_ relationship: ImportedRelationship) throws {
    switch relationship.place {
    case .join(let join):
      try transaction.run(SQLText.joinImported(relationship.number, join).map { ServerText($0) })
    case .foreignKey(let place) where relationship.inverse == nil:
      try transaction.run([ServerText(.ownImported(relationship.number, place, owners: relationship.ownerTable))])
    case .foreignKey: break
    }
  }

  /// Compares the listed members with those in the store.
  private func requireAgreement(_ relationship: ImportedRelationship) throws {
    let number = relationship.number
    let (table, ownerColumn, memberColumn) = relationship.columns
    if case .foreignKey = relationship.place,
      let (owner, member) = try pair(ServerText(.foreignMember(number, in: table, owner: ownerColumn)))
    {
      let inverse = relationship.inverse.map { ", whose '\($0)' leads elsewhere" } ?? ""
      throw relationship.disagreement(
        owner, "'\(relationship.name)' lists \(relationship.destination) \(member)\(inverse), or which doesn't exist.",
        at: store.url)
    }
    let unlisted = SQLText.unlistedMember(number, in: table, owner: ownerColumn, member: memberColumn)
    guard let (owner, member) = try pair(ServerText(unlisted)) else { return }
    throw relationship.disagreement(
      owner, "\(relationship.destination) \(member) leads to this object, but '\(relationship.name)' doesn't list it.",
      at: store.url)
  }

  private func order(_ relationship: ImportedRelationship) throws {
    guard let columns = relationship.orderColumns else { return }
    let (first, distance) = (OrderPlaces.first, OrderPlaces.distance)
    try transaction.run([
      ServerText(.orderImported(relationship.number, in: columns, first: first, distance: distance)),
      ServerText(.appendUnordered(in: columns, first: first, distance: distance)),
    ])
  }

  // MARK: Checks

  /// The problems that a server's tables can have after an import: types, unique values and keys are the server's own.
  private static let checked: Set<StoreProblem.Kind> = [
    .missingValue, .danglingRelationship, .danglingReference, .wrongDestination, .oneSidedRelationship,
  ]

  private mutating func run(_ step: CheckStep) throws {
    guard let result = try transaction.run([ServerText(step.sql)]).first else { return }
    for row in 0..<result.rowCount {
      let values = (SQLValue.integer(result.integer(row, 2)), SQLValue.integer(result.integer(row, 3)))
      guard let detail = step.detail(values.0, values.1) else { continue }
      let key = result.integer(row, 0)
      let number = result.isNull(row, 1) ? nil : Int(clamping: result.integer(row, 1))
      let entity = number.flatMap { store.map.table(ofNumber: $0)?.entity } ?? store.model.entitiesByName[step.entity]
      guard let entity, try isImported(key, entity) else { continue }
      let problem = StoreProblem(
        kind: step.kind, entity: entity.name, pk: key, property: step.property,
        detail: detail)
      try outcome.note(problem, at: store.url)
    }
  }

  private func isImported(_ key: Int64, _ entity: Entity) throws -> Bool {
    try !transaction.all(
      """
      SELECT 1::bigint FROM persist_imported \
      WHERE root = \(integer: Int64(entity.root.number - 1)) AND key = \(integer: key)
      """
    ) { $0.integer($1, 0) }.isEmpty
  }

  private func pair(_ sql: ServerText) throws -> (Int64, Int64)? {
    try transaction.all(sql) { ($0.integer($1, 0), $0.integer($1, 1)) }.first
  }
}
