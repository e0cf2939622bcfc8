import LinkedSQLite

extension SQLiteConnection {
  /// Registers the collations for texts: the same code that sorts objects in memory.
  func defineCollations() {
    define(.caseInsensitive) { order(by: .caseInsensitive, of: text($2, $1), to: text($4, $3)) }
    define(.localized) { order(by: .localized, of: text($2, $1), to: text($4, $3)) }
    define(.localizedCaseInsensitive) { order(by: .localizedCaseInsensitive, of: text($2, $1), to: text($4, $3)) }
    define(.localizedStandard) { order(by: .localizedStandard, of: text($2, $1), to: text($4, $3)) }
  }

  private typealias Body = @convention(c) (
    UnsafeMutableRawPointer?, Int32, UnsafeRawPointer?, Int32, UnsafeRawPointer?
  ) -> Int32

  private func define(_ comparison: FetchSortDescriptor.Comparison, _ body: Body) {
    sqlite3_create_collation_v2(handle, "\(comparison.collation)", SQLITE_UTF8, nil, body, nil)
  }
}

private func order(by comparison: FetchSortDescriptor.Comparison, of left: String, to right: String) -> Int32 {
  switch comparison.order(left, right) {
  case .less: -1
  case .equal: 0
  case .greater: 1
  }
}

private func text(_ start: UnsafeRawPointer?, _ count: Int32) -> String {
  String(decoding: UnsafeRawBufferPointer(start: start, count: Int(count)), as: UTF8.self)
}
