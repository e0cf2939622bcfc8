package import Foundation
package import Persist

/// A new store with some objects of another one.
///
/// It has the same model, and the objects have their keys, versions, values and orders. Relationships lead to those
/// objects only. Objects that others can't be valid without are included, so that the new store passes every check.
/// Their parked values come along: see ``ParkedSelection``.
package struct StoreExtract {
  private let source: any PersistentStore
  private let registry: ModelRegistry?
  private var selection: RowSelection

  /// Creates an extract of a store without objects.
  ///
  /// - Parameters:
  ///   - contents: The store.
  ///   - registry: The versions by whose names parked values are matched with the model; nil if there are none.
  package init(of contents: StoreContents, registry: ModelRegistry? = nil) {
    source = contents.store
    self.registry = registry
    selection = RowSelection(contents.model)
  }

  /// Adds objects.
  package mutating func add(_ keys: RowKeys) {
    var byEntity: [Int: ContiguousArray<Int64>] = [:]
    for index in 0..<keys.count {
      let (key, entity) = keys[index]
      byEntity[entity, default: []].append(key)
    }
    for (entity, keys) in byEntity { selection.add(keys, entityIndex: entity) }
  }

  /// The number of objects in the new store.
  package struct Outcome: Sendable {
    package var objects: Int
    /// The number of objects that were included because others require them.
    package var required: Int
  }

  /// Writes the store to a new file. Large values are in its rows, so that this file is all of it.
  ///
  /// Nothing remains of the file if this fails.
  ///
  /// - Parameter progress: Called with the number of objects written so far, and that of all. An error that it throws
  ///   ends the work.
  /// - Throws: ``PersistenceError/Code/fileAccess`` if there is a file already;
  ///   ``PersistenceError/Code/invalidRequest`` if the store is damaged, so that ends of a relationship don't agree;
  ///   the errors of reading and writing.
  package func write(
    to url: URL, progress: (_ written: Int, _ total: Int) throws -> Void = { _, _ in }
  ) throws -> Outcome {
    // One state, whatever others write meanwhile.
    let generation = try source.generation()
    let source = (generation?.rows as? any PersistentStore) ?? source
    var selection = selection
    let given = selection.count
    try selection.addRequired(in: source)
    let parked = try withParked { reader, _ in try ParkedSelection(of: &selection, in: source, reader) }
    let writer = try StoreWriter(creatingFileAt: url, model: source.model)
    let transfer = StoreTransfer(source, to: writer.identifier, only: selection)
    var written = 0
    let outcome = try writer.closing {
      try transfer.readingAhead { next in
        try writer.insert {
          try progress(written, selection.count)
          let slice = try next()
          written += slice?.inserts.count ?? 0
          return slice
        }
      }
    }
    if let parked {
      let location = StoreLocation(url)
      do {
        try copy(parked, to: location)
      } catch {
        try? location.engine.destroyStore(at: location)
        throw error
      }
    }
    return Outcome(objects: outcome.count, required: selection.count - given)
  }

  /// Runs a closure with a reader of what is parked in the store; returns nil if nothing is.
  private func withParked<T>(_ body: (ParkedReader, ManagedObjectModel) throws -> T) throws -> T? {
    guard let store = source as? any InspectableStore else { return nil }
    return try store.inspect { inspector in
      try ParkedReader(inspector, of: store.model, registry: registry).map { try body($0, store.model) }
    }
  }

  private func copy(_ parked: ParkedSelection, to location: StoreLocation) throws {
    let connection = try location.engine.connect(to: location, options: StoreOptions())
    defer { connection.close() }
    try connection.prepareForMigration()
    try connection.transaction {
      _ = try withParked { reader, model in
        try ParkedTransfer(registry).copyParked(reader, to: connection, model, where: parked.contains)
      }
    }
  }
}

extension StoreTransfer {
  /// The number of slices that wait for insertion while another thread reads the next one.
  private static let slicesAhead = 2

  /// Runs a closure with a function that returns the next slice, which another thread reads meanwhile. The calling
  /// thread must hold nothing of the store that reading needs.
  ///
  /// - Throws: The errors of the closure and of reading.
  package func readingAhead<T>(_ body: (_ next: () throws -> ImportSlice?) throws -> T) throws -> T {
    let threads = ThreadPool(name: "Persist copying", maximum: 1)
    let slices = Pipeline.started(on: threads, ahead: Self.slicesAhead) {
      let slice = try self.next()
      return (part: slice, isLast: slice == nil)
    }
    defer { slices.end() }
    return try body { try slices.next()?.part }
  }
}
