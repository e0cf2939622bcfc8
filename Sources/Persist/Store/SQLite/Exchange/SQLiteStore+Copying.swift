import Foundation

extension SQLiteStore {
  func backUp(to url: URL) throws { try StoreBackup.copy(self, to: url) }

  func move(
    to location: StoreLocation, options: StoreOptions, exchange: (any PersistentStore) -> Void
  ) throws -> any PersistentStore {
    try pool.closing {
      let copy = try StoreBackup.move(self, to: location.url, options: options)
      exchange(copy)
      return copy
    }
  }
}
