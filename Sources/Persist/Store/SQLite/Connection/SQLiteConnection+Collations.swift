import LinkedSQLite

extension SQLiteConnection {
  /// Registers the collations for texts: the same code that sorts objects in memory.
  func defineCollations() {
    define(.caseInsensitive) { order(.caseInsensitive, $1, $2, $3, $4) }
    define(.localized) { order(.localized, $1, $2, $3, $4) }
    define(.localizedCaseInsensitive) { order(.localizedCaseInsensitive, $1, $2, $3, $4) }
    define(.localizedStandard) { order(.localizedStandard, $1, $2, $3, $4) }
  }

  private typealias Body = @convention(c) (
    UnsafeMutableRawPointer?, Int32, UnsafeRawPointer?, Int32, UnsafeRawPointer?
  ) -> Int32

  private func define(_ comparison: FetchSortDescriptor.Comparison, _ body: Body) {
    sqlite3_create_collation_v2(handle, "\(comparison.collation)", SQLITE_UTF8, nil, body, nil)
  }
}

private func order(
  _ comparison: FetchSortDescriptor.Comparison, _ leftCount: Int32, _ left: UnsafeRawPointer?, _ rightCount: Int32,
  _ right: UnsafeRawPointer?
) -> Int32 {
  switch comparison.order(text(left, leftCount), text(right, rightCount)) {
  case .less: -1
  case .equal: 0
  case .greater: 1
  }
}

private func text(_ start: UnsafeRawPointer?, _ count: Int32) -> String {
  String(decoding: UnsafeRawBufferPointer(start: start, count: Int(count)), as: UTF8.self)
}
