import Foundation

extension WorkingFolder: MigrationWorkspace {
  func hold(options: StoreOptions) throws -> any HeldStore {
    HeldFile(hold: try StoreHold(store, options: options), folder: self)
  }

  func announceRemoval(of largeValues: [String], after logEntry: PropertyList) throws {
    try ExchangeRecord(logEntry: logEntry, removed: largeValues).write(in: url)
  }
}

/// A store's file, held for the migration in a working folder.
private struct HeldFile: HeldStore {
  let hold: StoreHold
  let folder: WorkingFolder

  var inspector: any StoreInspector { hold.connection }

  func replaceContent(
    of tables: TableMap, by replacement: URL, model: ManagedObjectModel, logEntry: PropertyList,
    reporting report: (Double) throws -> Void
  ) throws {
    try StoreExchange(
      store: folder.store, tables: tables, replacement: replacement, model: model, logEntry: logEntry, folder: folder
    ).perform(hold, reporting: report)
  }

  func end() { hold.end() }
}
