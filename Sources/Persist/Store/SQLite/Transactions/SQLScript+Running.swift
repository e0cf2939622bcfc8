import LinkedSQLite

extension SQLScript {
  /// Calls `body` for each statement in turn, prepared and ready to run, with the fraction of the text that is done
  /// after it.
  ///
  /// - Throws: Errors with file, line and column, including those of `body`.
  package func forEachStatement(
    on connection: SQLiteConnection, _ body: (SQLiteStatement, _ part: Double) throws -> Void
  ) throws {
    var position = range.lowerBound
    while position < range.upperBound {
      let start = firstWord(from: position)
      let (statement, length) = try prepare(at: start, on: connection)
      position = start + length
      guard let statement else { continue }
      defer { statement.finalize() }
      statement.begin()
      do {
        try body(statement, Double(position - range.lowerBound) / Double(range.count))
      } catch let error as PersistenceError {
        throw placed(error, at: start, in: start..<position)
      }
    }
  }

  /// - Returns: Nil in place of a statement if only whitespace and comments remained.
  private func prepare(
    at start: Int, on connection: SQLiteConnection
  ) throws -> (statement: SQLiteStatement?, length: Int) {
    do {
      return try bytes.withUnsafeBufferPointer { bytes in
        let rest = UnsafeBufferPointer(rebasing: bytes[start...])
        return try rest.withMemoryRebound(to: CChar.self) { try connection.prepareFirst(of: $0) }
      }
    } catch let error as PersistenceError {
      let offset = Int(persist_sqlite3_error_offset(connection.handle))
      throw placed(error, at: start + max(0, offset), in: start..<range.upperBound)
    }
  }
}

extension SQLiteConnection {
  /// Prepares the first statement of a zero-terminated text.
  ///
  /// - Returns: The statement, which the caller finalizes, and its length in bytes; nil if there is none.
  fileprivate func prepareFirst(
    of text: UnsafeBufferPointer<CChar>
  ) throws -> (statement: SQLiteStatement?, length: Int) {
    var prepared: OpaquePointer?
    var tail: UnsafePointer<CChar>?
    let code = sqlite3_prepare_v3(handle, text.baseAddress, Int32(clamping: text.count), 0, &prepared, &tail)
    guard code == SQLITE_OK else { throw failure(code) }
    let length = text.baseAddress.flatMap { start in tail.map { $0 - start } } ?? text.count
    guard let prepared else { return (nil, max(length, 1)) }
    counts.prepared += 1
    return (SQLiteStatement(handle: prepared, connection: self), length)
  }
}
