extension SQLiteStore {
  /// Reads only keys and versions.
  func versions(of keys: [Int64], in entity: Entity) throws -> [Int64: Int64] {
    guard !map.absent.contains(entity.name), !keys.isEmpty else { return Dictionary() }
    let sql = SQLText.versions(in: map[entity].table, keys: "[" + keys.map(String.init).joined(separator: ",") + "]")
    return try pool.readOnce { connection in
      var versions: [Int64: Int64] = Dictionary()
      versions.reserveCapacity(keys.count)
      try connection.query(sql) { row in versions[row.integer(0)] = row.integer(1) }
      return versions
    }
  }

  /// SQLite's own count, which each connection maintains of changes by others: all of this store's writes use the
  /// connection that is queried. If this store is currently writing, the call returns nil instead of waiting, and the
  /// caller tries again.
  ///
  /// - SeeAlso: <https://sqlite.org/pragma.html#pragma_data_version>
  func foreignChangeCount() throws -> Int64? {
    guard url != nil, !isReadOnly else { return nil }
    return try pool.withIdleWriter { connection in try connection.first(.dataVersion) { $0.integer(0) } } ?? nil
  }
}
