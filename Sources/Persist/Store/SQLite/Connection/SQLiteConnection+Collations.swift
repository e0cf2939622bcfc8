import LinkedSQLite

extension SQLiteConnection {
  /// Registers the collations for texts: the same code that sorts objects in memory.
  func defineCollations() {
    define(.caseInsensitive) { order(.caseInsensitive, text($2, $1), text($4, $3)) }
    define(.localized) { order(.localized, text($2, $1), text($4, $3)) }
    define(.localizedCaseInsensitive) { order(.localizedCaseInsensitive, text($2, $1), text($4, $3)) }
    define(.localizedStandard) { order(.localizedStandard, text($2, $1), text($4, $3)) }
  }

  private typealias Body = @convention(c) (
    UnsafeMutableRawPointer?, Int32, UnsafeRawPointer?, Int32, UnsafeRawPointer?
  ) -> Int32

  private func define(_ comparison: FetchSortDescriptor.Comparison, _ body: Body) {
    sqlite3_create_collation_v2(handle, "\(comparison.collation)", SQLITE_UTF8, nil, body, nil)
  }
}

private func order(_ comparison: FetchSortDescriptor.Comparison, _ left: String, _ right: String) -> Int32 {
  switch comparison.order(left, right) {
  case .less: -1
  case .equal: 0
  case .greater: 1
  }
}

private func text(_ start: UnsafeRawPointer?, _ count: Int32) -> String {
  String(decoding: UnsafeRawBufferPointer(start: start, count: Int(count)), as: UTF8.self)
}
