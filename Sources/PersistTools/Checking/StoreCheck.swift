package import Foundation
package import Persist

/// Checks a store for all known problems: SQLite's own check, then the object graph.
///
/// Nothing is written, and memory use doesn't grow with the store: each problem is reported as it is found.
///
/// ```swift
/// try StoreCheck.check(storeAt: url, registry: registry) { problem in print(problem.detail) }
/// ```
package struct StoreCheck {
  private let connection: SQLiteConnection
  private let map: TableMap
  private let files: ExternalDataFolder?

  /// Checks a store file.
  ///
  /// - Parameters:
  ///   - registry: The candidate models for the store; nil uses the model in the store.
  ///   - report: Called with each problem. An error that it throws ends the check.
  /// - Returns: The store and its model; nil if damage prevents identifying it, which is also reported.
  /// - Throws: ``PersistenceError/Code/missingSourceModel`` and errors of opening.
  @discardableResult
  package static func check(
    storeAt url: URL, registry: ModelRegistry? = nil, _ report: (StoreProblem) throws -> Void
  ) throws -> IdentifiedStore? {
    var isDamaged = false
    let recordingDamage = { (problem: StoreProblem) in
      if problem.kind == .damagedDatabase { isDamaged = true }
      try report(problem)
    }
    let store = try found(url, among: registry, recordingDamage)
    if isDamaged, let words = LostLog.suspicion(storeAt: url) {
      try report(StoreProblem(kind: .missingLog, detail: words))
    }
    return store
  }

  private static func found(
    _ url: URL, among registry: ModelRegistry?, _ report: (StoreProblem) throws -> Void
  ) throws -> IdentifiedStore? {
    do {
      let access = try ReadOnlyAccess(choosingFor: url, StoreEncryption.current)
      for problem in UnfinishedFiles(store: SQLiteFileName.resolved(url)).problems() { try report(problem) }
      let connection = try SQLiteConnection(url, mode: .readOnly, access: access)
      defer { connection.close() }
      return try connection.readTransaction {
        if let error = try connection.lostLog {
          try report(StoreProblem(kind: .missingLog, detail: error.fullMessage))
          return nil
        }
        let store = try StoreIdentification.identify(connection, registry: registry)
        try StoreCheck(connection, map: store.tableMap, files: ExternalDataFolder(storeAt: url)).run(report)
        return store
      }
    } catch let error as PersistenceError where error.code == .storeDamaged {
      try report(StoreProblem(kind: .damagedDatabase, detail: error.fullMessage))
      return nil
    }
  }

  /// - Parameters:
  ///   - files: The folder of the files of large values; nil to skip them.
  package init(_ connection: SQLiteConnection, map: TableMap, files: ExternalDataFolder?) {
    self.connection = connection
    self.map = map
    self.files = files
  }

  /// Runs all checks on one state of the store.
  ///
  /// If damage to the file prevents a query, a problem is reported for it instead of an error.
  ///
  /// - Throws: The errors of `report`, and read errors that aren't caused by damage.
  package func run(_ report: (StoreProblem) throws -> Void) throws {
    try connection.readTransaction {
      try unlessDamaged(report) { try checkDatabase(report) }
      try checkKeys(report)
      for difference in map.differences {
        try report(StoreProblem(kind: .schemaMismatch, detail: difference))
      }
      guard map.differences.isEmpty else { return }
      for step in CheckStep.steps(for: map) { try unlessDamaged(report) { try run(step, report) } }
      try unlessDamaged(report) { try checkHistory(report) }
      try unlessDamaged(report) { try checkTextIndexes(report) }
      try unlessDamaged(report) { try checkFiles(report) }
    }
  }

  private func checkDatabase(_ report: (StoreProblem) throws -> Void) throws {
    try connection.query(.integrityCheck) { row in
      let words = row.text(0)
      if words != "ok" { try report(StoreProblem(kind: .damagedDatabase, detail: words)) }
    }
  }

  private func checkKeys(_ report: (StoreProblem) throws -> Void) throws {
    let schema = try StoreSchema(connection)
    for problem in map.keyProblems(in: schema) { try report(problem) }
  }

  private func run(_ step: CheckStep, _ report: (StoreProblem) throws -> Void) throws {
    try connection.query(step.query.fileText) { row in
      guard let detail = step.detail(row.value(2), row.value(3)) else { return }
      try report(
        StoreProblem(
          kind: step.kind, entity: entityName(row, column: 1) ?? step.entity, pk: row.isNull(0) ? nil : row.integer(0),
          property: step.property, detail: detail))
    }
  }

  private func checkHistory(_ report: (StoreProblem) throws -> Void) throws {
    guard let layout = HistoryLayout(try StoreSchema(connection)) else { return }
    for step in CheckStep.historySteps(layout, map) { try run(step, report) }
  }

  /// Creates a second index in a temporary database and compares the two.
  private func checkTextIndexes(_ report: (StoreProblem) throws -> Void) throws {
    for index in try map.fullTextIndexes.kept(by: connection).sorted(on: \.name) {
      for statement in SQLText.secondIndex(index) { try connection.execute(statement) }
      try connection.query(.differences(from: index)) { row in
        let entity = entityName(row, column: 1)
        try report(
          StoreProblem(
            kind: .textIndex, entity: entity ?? index.entity, pk: row.integer(0), property: index.attribute,
            detail: "The full-text index doesn't match the text."))
      }
      for statement in SQLText.dropSecondIndex { try connection.execute(statement) }
    }
  }

  private func checkFiles(_ report: (StoreProblem) throws -> Void) throws {
    guard let files else { return }
    var orphans = Set(ExternalDataFolder(storeAt: files.store).names())
    for table in map.tables where !map.absent.contains(table.entity.name) {
      for column in table.columns {
        guard case .attribute(let attribute) = column.role, attribute.storesMarkedBytes,
          table.entity.property(named: column.property)?.declaringEntity == table.entity.name
        else { continue }
        try connection.query(.externalFiles(in: column.name, of: table.table)) { row in
          let name = String(decoding: row.data(2).prefix { $0 != 0 }, as: UTF8.self)
          orphans.remove(name)
          let isMissing = (try? files.file(named: name)) == nil
          guard isMissing || connection.encryption != nil else { return }
          try report(
            StoreProblem(
              kind: isMissing ? .missingFile : .unencryptedValue,
              entity: entityName(row, column: 1) ?? table.entity.name, pk: row.integer(0), property: column.property,
              detail: isMissing ? "The value's file '\(name)' doesn't exist."
                : "The value is in the file '\(name)', which isn't encrypted."))
        }
      }
    }
    guard !orphans.isEmpty, let others = LargeValueSharers.names(besides: files) else { return }
    for name in orphans.subtracting(others).sorted() {
      try report(StoreProblem(kind: .orphanFile, detail: "The file '\(name)' belongs to no row."))
    }
  }

  private func entityName(_ row: SQLiteStatement, column: Int32) -> String? {
    row.isNull(column) ? nil : map.table(ofNumber: Int(clamping: row.integer(column)))?.entity.name
  }

  /// Reports damage found by a query as a problem.
  private func unlessDamaged(_ report: (StoreProblem) throws -> Void, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as PersistenceError where error.code == .storeDamaged {
      try report(StoreProblem(kind: .damagedDatabase, detail: error.fullMessage))
    }
  }
}
