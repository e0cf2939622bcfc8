package import Foundation

/// The end of an import, which engines share: to-many relationships are written and compared, and rows are checked.
///
/// Before that, an engine has inserted the rows with their to-one relationships, and recorded their keys and the
/// members of their to-many relationships in the tables of ``SQLText/createImportTables``.
package struct ImportCompletion {
  /// Calls a closure with each problem that a check finds.
  package typealias Finder = (CheckStep, (CheckStep.Finding) throws -> Void) throws -> Void

  private let map: TableMap
  private let runner: any StatementRunner
  private let relationships: [ImportedRelationship]
  private let checks: [CheckStep]

  /// - Parameters:
  ///   - map: The layout of the store.
  ///   - runner: The transaction of the import.
  ///   - isChecked: Whether rows that were just inserted can have a problem of a kind in a store of the engine.
  package init(_ map: TableMap, in runner: any StatementRunner, checking isChecked: (StoreProblem.Kind) -> Bool) {
    self.map = map
    self.runner = runner
    relationships = ImportedRelationship.all(of: map)
    checks = CheckStep.steps(for: map).filter { isChecked($0.kind) }
  }

  /// Completes the relationships, and refuses the import if they don't agree or break a rule of the model.
  ///
  /// - Parameters:
  ///   - outcome: The outcome to which tolerated problems are added.
  ///   - findings: Runs a check.
  ///   - report: Called with the completed fraction.
  package func run(
    into outcome: inout ImportOutcome, findings: Finder, reporting report: (Double) throws -> Void
  ) throws {
    let steps = [requireNoRepetition, join, requireAgreement, order]
    let parts = Double(relationships.count * steps.count + checks.count)
    var done = 0.0
    func complete() throws {
      done += 1
      try report(done / parts)
    }
    for step in steps {
      for relationship in relationships {
        try step(relationship)
        try complete()
      }
    }
    for check in checks {
      try findings(check) { try record($0, of: check, into: &outcome) }
      try complete()
    }
  }

  // MARK: Relationships

  private func requireNoRepetition(_ relationship: ImportedRelationship) throws {
    let sql = SharedSQL.repeatedMember(relationship.number, onlyOneOwner: relationship.membersHaveOneOwner)
    guard let (owner, member) = try pair(sql) else { return }
    throw relationship.disagreement(
      owner, "'\(relationship.name)' lists \(relationship.destination) \(member) more than once, or another object "
        + "lists it too.", at: runner.url)
  }

  private func join(_ relationship: ImportedRelationship) throws {
    switch relationship.place {
    case .join(let join): try runner.execute(all: SharedSQL.joinImported(relationship.number, join))
    case .foreignKey(let place) where relationship.inverse == nil:
      try runner.execute(.ownImported(relationship.number, place, owners: relationship.ownerTable))
    case .foreignKey: break
    }
  }

  /// Compares the listed members with those in the store.
  private func requireAgreement(_ relationship: ImportedRelationship) throws {
    let number = relationship.number
    let (table, ownerColumn, memberColumn) = relationship.columns
    if case .foreignKey = relationship.place,
      let (owner, member) = try pair(.foreignMember(number, in: table, owner: ownerColumn))
    {
      let inverse = relationship.inverse.map { ", whose '\($0)' leads elsewhere" } ?? ""
      throw relationship.disagreement(
        owner, "'\(relationship.name)' lists \(relationship.destination) \(member)\(inverse), or which doesn't exist.",
        at: runner.url)
    }
    // Counting is fast. Looking for a member takes time that is quadratic in the number of an owner's members.
    let listed = try count(.importedMemberCount(number))
    guard try count(.storedMemberCount(number, in: table, owner: ownerColumn)) != listed,
      let (owner, member) = try pair(.unlistedMember(number, in: table, owner: ownerColumn, member: memberColumn))
    else { return }
    throw relationship.disagreement(
      owner, "\(relationship.destination) \(member) leads to this object, but '\(relationship.name)' doesn't list it.",
      at: runner.url)
  }

  private func order(_ relationship: ImportedRelationship) throws {
    guard let columns = relationship.orderColumns else { return }
    let (first, distance) = (OrderPlaces.first, OrderPlaces.distance)
    try runner.execute(all: [
      .orderImported(relationship.number, in: columns, first: first, distance: distance),
      .appendUnordered(in: columns, first: first, distance: distance),
    ])
  }

  // MARK: Checks

  private func record(
    _ finding: CheckStep.Finding, of check: CheckStep, into outcome: inout ImportOutcome
  ) throws {
    guard let detail = check.detail(finding.values.0, finding.values.1) else { return }
    // A row without an entity number has 0 here, which no entity has.
    let entity = map.table(ofNumber: Int(clamping: finding.entityNumber))?.entity
      ?? map.model.entitiesByName[check.entity]
    guard let entity, try isImported(finding.row, entity) else { return }
    try outcome.add(
      StoreProblem(
        kind: check.kind, entity: entity.name, pk: finding.row, property: check.property, detail: detail),
      at: runner.url)
  }

  private func isImported(_ key: Int64, _ entity: Entity) throws -> Bool {
    try runner.first(of: .importedSource(root: entity.root.index, key: key)) { _ in true } == true
  }

  private func pair(_ sql: SharedSQL) throws -> (Int64, Int64)? {
    try runner.first(of: sql) { ($0.integer(0), $0.integer(1)) }
  }

  private func count(_ sql: SharedSQL) throws -> Int64 { try runner.first(of: sql) { $0.integer(0) } ?? 0 }
}

extension ImportSources {
  /// The error for an imported object whose key is in use.
  package func keyInUse(
    _ key: Int64, of entity: Entity, from source: (file: Int64, line: Int64), _ message: String, at url: URL?
  ) -> PersistenceError {
    let hierarchy = entity.root.hasSubentities ? " Keys are unique among \(entity.root.name) and its subentities." : ""
    let error = PersistenceError(
      .constraintConflict, at: PersistenceError.Place(entity: entity.name, row: key, store: url), message + hierarchy,
      fix: "Import into an empty store, or give the object another key.")
    return replacingKey(in: error, by: source)
  }

  /// The error with the source of the row that it is about, if there is one.
  ///
  /// - Parameter runner: The transaction of the import. A server refuses to search if it reported the error itself.
  package func naming(
    sourceOf error: PersistenceError, in model: ManagedObjectModel, _ runner: any StatementRunner
  ) -> PersistenceError {
    guard error.place.file == nil, let key = error.place.row,
      let entity = error.place.entity.flatMap({ model.entitiesByName[$0] })
    else { return error }
    let source = try? runner.first(of: .importedSource(root: entity.root.index, key: key)) {
      (file: $0.integer(0), line: $0.integer(1))
    }
    return replacingKey(in: error, by: source)
  }
}

extension ImportSlice {
  /// Calls `body` for each row of the table of members.
  ///
  /// An owner has a row of its own, with the place -1, so that its members are known even if there are none.
  ///
  /// - Parameters:
  ///   - keys: The keys of the slice's rows.
  ///   - numbers: By index in ``ManagedObjectModel/entities``, the numbers of to-many relationships by slot.
  package func forEachMember(
    ofRowsWith keys: [Int64], _ numbers: [[Int: Int]],
    _ body: (_ relationship: Int64, _ owner: Int64, _ place: Int64, _ member: Int64) throws -> Void
  ) rethrows {
    for (index, (insert, owner)) in zip(inserts, keys).enumerated() where members.indices.contains(index) {
      for list in members[index] {
        guard let number = numbers[insert.entity.index][list.slot].map({ Int64($0) }) else { continue }
        try body(number, owner, -1, 0)
        for (place, member) in list.keys.enumerated() { try body(number, owner, Int64(place), member) }
      }
    }
  }
}
