extension SQLiteStore {
  func monitorChanges(_ report: @escaping @Sendable () -> Void) throws -> (any StoreMonitor)? {
    guard let url else { return nil }
    return try SQLiteStoreMonitor(url, options: pool.options, report)
  }
}
