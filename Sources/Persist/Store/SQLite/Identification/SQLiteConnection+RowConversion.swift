import Foundation

/// Rows that are converted in parts.
extension SQLiteConnection {
  /// Begins conversions, in time that doesn't depend on the number of rows; the caller holds the transaction.
  ///
  /// A table that other definitions mention, or that has no rows, is converted at once: triggers fire for changes of a
  /// table, not for those of a view.
  package func begin(_ conversions: [RowConversion]) throws {
    let schema = conversions.isEmpty ? nil : try StoreSchema(self)
    for conversion in conversions {
      let table = conversion.table
      guard let schema, let columns = schema.table(named: table)?.columns, try greatestRow(of: table) > 0,
        !schema.mentionsElsewhere(table)
      else {
        try apply(.update(table, set: conversion.values, where: conversion.rows))
        continue
      }
      try apply(.renameTable(table, to: RowConversion.Names.rows(table)))
      for statement in SQLText.begin(conversion, columns: columns) { try execute(statement) }
    }
  }

  /// Whether the rows of a table are being converted.
  func isConverting(_ table: String) throws -> Bool {
    try first(.knows(table: RowConversion.Names.rows(table)), { _ in true }) ?? false
  }

  /// Converts the next rows of the first table with unconverted ones; the caller holds the transaction.
  ///
  /// - Returns: The store's metadata, without the step if no row remains.
  func convertNextRows(_ count: Int64) throws -> StoreMetadata {
    var metadata = try StoreMetadata(self)
    let next = metadata.deferredSteps.firstIndex { if case .convertValues = $0 { true } else { false } }
    guard let next, case .convertValues(let columns, let table) = metadata.deferredSteps[next]
    else { return metadata }
    if try isConverting(table) {
      let position = try first(.position(ofConversionOf: table)) { (place: $0.integer(0), last: $0.integer(1)) }
      guard let position else { throw unfinished(table) }
      let end = try first(.key(ofRow: count, after: position.place, in: table)) { $0.integer(0) } ?? position.last
      for statement in SQLText.convert(columns, of: table, after: position.place, to: min(end, position.last)) {
        try execute(statement)
      }
      guard end >= position.last else { return metadata }
      // SQLite reads all triggers for a rename.
      try defineMissingFunctions()
      for statement in SQLText.end(conversionOf: table) { try execute(statement) }
      try apply(.renameTable(RowConversion.Names.rows(table), to: table))
    }
    metadata.deferredSteps.remove(at: next)
    try metadata.write(to: self)
    return metadata
  }

  /// Converts all remaining rows, in short transactions.
  package func finishConversions() throws {
    var pace = ConversionPace()
    while true {
      let start = ContinuousClock.now
      guard try transaction({ try convertNextRows(pace.count) }).hasConversions else { return }
      pace.adapt(to: .now - start)
      Thread.sleep(forTimeInterval: pace.pause / .seconds(1))
    }
  }

  private func unfinished(_ table: String) -> PersistenceError {
    PersistenceError(
      .storeDamaged, at: .store(url), "The table '\(RowConversion.Names.position(table))' has no row.",
      fix: "Restore the store from a backup.")
  }
}

/// The number of rows to convert in one transaction, so that other writers wait only briefly.
package struct ConversionPace {
  /// The time that a transaction should take.
  private static let aim = Duration.milliseconds(4)
  private static let counts: ClosedRange<Double> = 10...20_000
  /// Longer than the intervals at which waiting connections look for the lock, so that each of them finds it free.
  private static let pauses: ClosedRange<Duration> = .milliseconds(8) ... .milliseconds(100)

  /// The number of rows for the next transaction.
  package private(set) var count: Int64 = 100
  /// The time to leave the store to other programs before the next transaction.
  package private(set) var pause = Duration.zero

  package init() {}

  /// Adapts to the duration of the last transaction, with its commit.
  package mutating func adapt(to duration: Duration) {
    // One long part may be caused by other programs, and one short part by unchanged rows, so the pace changes
    // gradually.
    let factor = min(max(Self.aim / max(duration, .microseconds(1)), 0.25), 1.5)
    count = Int64(min(max(Double(count) * factor, Self.counts.lowerBound), Self.counts.upperBound))
    pause = min(max(duration, Self.pauses.lowerBound), Self.pauses.upperBound)
  }
}

/// The log of a file whose rows are converted.
///
/// SQLite writes the log into the file at the end of whichever commit makes it too long, and a save would wait for
/// that. A connection of its own does it beside other writers, and early enough.
struct ConversionLog {
  private let connection: SQLiteConnection
  private var parts = 0
  /// The number of transactions whose changes are written into the file together.
  private static let partsAtOnce = 4

  init(_ url: URL, _ options: StoreOptions) throws {
    connection = try SQLiteConnection(url, mode: .readWrite, options: options)
  }

  func close() { connection.close() }

  /// Records a converted part.
  mutating func addPart() throws {
    if parts.isMultiple(of: Self.partsAtOnce) { try connection.execute(.transferLog) }
    parts += 1
  }
}

extension StoreSchema {
  /// The schema with every table whose rows are being converted under its own name, as it will be afterward, and
  /// without what only the conversion needs.
  func showingConvertedTables() -> StoreSchema {
    let converted = tables.compactMap { RowConversion.Names.table(ofRows: $0.name) }
      .filter { name in views.contains { $0.name == name } }
    guard !converted.isEmpty else { return self }
    let names = Dictionary(uniqueKeysWithValues: converted.map { (RowConversion.Names.rows($0), $0) })
    let own = Set(converted.flatMap { [RowConversion.Names.written($0), RowConversion.Names.position($0)] })
    return StoreSchema(
      tables: tables.filter { !own.contains($0.name) }.map { table in
        names[table.name].map { Table(name: $0, columns: table.columns, sql: table.sql, keys: table.keys) } ?? table
      },
      indexes: indexes.map { index in
        names[index.table].map { Index(name: index.name, table: $0, sql: index.sql) } ?? index
      },
      triggers: triggers.filter { !converted.contains($0.table) }.map { trigger in
        names[trigger.table].map { Trigger(name: trigger.name, table: $0, sql: trigger.sql) } ?? trigger
      },
      views: views.filter { !converted.contains($0.name) }, names: self.names)
  }
}
