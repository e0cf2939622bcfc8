/// A postponed step of a migration: the store already has its new version and is complete and usable without it.
///
/// ``StoreMetadata/deferredSteps`` lists a store's deferred steps, and
/// ``PersistentStoreCoordinator/finishDeferredMigration(within:)`` performs them.
#if hasAttribute(nonexhaustive)
  @nonexhaustive(warn)
#endif
public enum DeferredStep: Sendable, Hashable {
  /// The column of a removed attribute or relationship is still in its table, under a name that no model uses.
  case dropColumn(String, table: String)
  /// An index that only speeds up fetching hasn't been created yet.
  case createIndex(String, table: String)
  /// Not all rows have the new values of some columns yet. Reading computes them, and writing a row converts it.
  case convertValues([String], table: String)

  var table: String {
    switch self {
    case .dropColumn(_, let table), .createIndex(_, let table), .convertValues(_, let table): table
    }
  }
}

extension DeferredStep: CustomStringConvertible {
  public var description: String {
    switch self {
    case .dropColumn(let column, let table): "drop the column \(column) of \(table)"
    case .createIndex(let index, let table): "make the index \(index) of \(table)"
    case .convertValues(let columns, let table): "convert \(columns.joined(separator: ", ")) of \(table)"
    }
  }
}

extension StoreMetadata {
  private enum StepKey {
    static let column = "column"
    static let columns = "columns"
    static let index = "index"
    static let table = "table"
  }

  /// The pending steps of the last migration, in the order in which they are performed.
  ///
  /// They are stored under a key of Persist's own as property-list values, which Core Data preserves and ignores.
  public package(set) var deferredSteps: [DeferredStep] {
    get {
      (values[Key.deferredSteps]?.arrayValue ?? []).compactMap { entry in
        let values = entry.dictionaryValue ?? Dictionary()
        guard let table = values[StepKey.table]?.stringValue else { return nil }
        if let columns = values[StepKey.columns]?.arrayValue {
          return .convertValues(columns.compactMap(\.stringValue), table: table)
        }
        if let column = values[StepKey.column]?.stringValue { return .dropColumn(column, table: table) }
        return values[StepKey.index]?.stringValue.map { .createIndex($0, table: table) }
      }
    }
    set {
      let entries = newValue.map { step -> PropertyList in
        switch step {
        case .dropColumn(let column, let table):
          .dictionary([StepKey.column: .string(column), StepKey.table: .string(table)])
        case .createIndex(let index, let table):
          .dictionary([StepKey.index: .string(index), StepKey.table: .string(table)])
        case .convertValues(let columns, let table):
          .dictionary([StepKey.columns: .array(columns.map { .string($0) }), StepKey.table: .string(table)])
        }
      }
      values[Key.deferredSteps] = entries.isEmpty ? nil : .array(entries)
    }
  }
}

extension [DeferredStep] {
  /// Whether rows of any table are being converted.
  package var hasConversions: Bool { contains { if case .convertValues = $0 { true } else { false } } }
}

extension StoreMetadata {
  /// Whether rows of any table are being converted.
  package var hasConversions: Bool { deferredSteps.hasConversions }

  /// Whether the rows of a table are being converted.
  package func isConverting(_ table: String) -> Bool {
    deferredSteps.contains { if case .convertValues(_, table) = $0 { true } else { false } }
  }
}

extension DeferredStep {
  package init(_ conversion: RowConversion) {
    self = .convertValues(conversion.values.map(\.column), table: conversion.table)
  }

  /// Nil for a change that can't be deferred.
  package init?(_ change: SchemaChange) {
    switch change {
    case .dropColumn(let column, let table): self = .dropColumn(column, table: table)
    case .createIndex(let index): self = .createIndex(index.name, table: index.table)
    default: return nil
    }
  }
}
