package import Foundation

/// The keys of inserted rows, by their temporary numbers.
///
/// Numbers come from a counter, so that those of one save are mostly consecutive and fit in an array.
package struct TemporaryKeys {
  private var base: UInt64 = 0
  private var dense: [Int64] = []
  private var sparse: [UInt64: Int64] = Dictionary()

  package init() {}

  /// - Parameter keys: Temporary numbers and the keys of their rows.
  package init(_ keys: [(number: UInt64, key: Int64)]) {
    guard let least = keys.lazy.map(\.number).min(), let greatest = keys.lazy.map(\.number).max() else { return }
    if greatest - least < UInt64(keys.count) * 4 {
      base = least
      // No row has the key 0.
      dense = Array(repeating: 0, count: Int(greatest - least) + 1)
      for (number, key) in keys { dense[Int(number - least)] = key }
    } else {
      sparse = Dictionary(keys.map { ($0.number, $0.key) }, uniquingKeysWith: { first, _ in first })
    }
  }

  package subscript(number: UInt64) -> Int64? {
    guard number >= base else { return sparse[number] }
    let index = number - base
    guard index < UInt64(dense.count) else { return sparse[number] }
    let key = dense[Int(index)]
    return key == 0 ? nil : key
  }

  /// The key of a row that another row refers to.
  ///
  /// - Parameters:
  ///   - identifier: The identifier of the store that is written.
  ///   - url: The store's place, for messages.
  /// - Throws: ``PersistenceError/Code/objectNotFound`` for an unsaved object that isn't part of the save, and
  ///   ``PersistenceError/Code/foreignObject`` for one of another store.
  package func key(
    of id: ManagedObjectID, inStore identifier: String, at url: @autoclosure () -> URL?
  ) throws -> Int64 {
    switch id.key {
    case .permanent(let key):
      guard id.storeIdentifier == identifier else {
        throw PersistenceError(
          .foreignObject, at: PersistenceError.Place(entity: id.entityName, row: key, store: url()),
          "A relationship can't lead to an object of another store.",
          fix: "Put both objects into one store, or store the other's URI in an attribute.")
      }
      return key
    case .temporary(let number): return try key(ofNumber: number, entityName: id.entityName, url())
    }
  }

  /// The key of a row to update or delete.
  ///
  /// - Throws: ``PersistenceError/Code/objectNotFound`` for an unsaved object that isn't part of the save.
  package func key(
    of key: ManagedObjectID.Key, _ entity: Entity, at url: @autoclosure () -> URL?
  ) throws -> Int64 {
    switch key {
    case .permanent(let key): key
    case .temporary(let number): try self.key(ofNumber: number, entityName: entity.name, url())
    }
  }

  @inline(never)
  private func key(ofNumber number: UInt64, entityName: String, _ url: @autoclosure () -> URL?) throws -> Int64 {
    if let key = self[number] { return key }
    throw PersistenceError(
      .objectNotFound, at: PersistenceError.Place(entity: entityName, store: url()),
      "A saved object refers to an unsaved one that isn't part of the save.",
      fix: "Save both together.")
  }
}
