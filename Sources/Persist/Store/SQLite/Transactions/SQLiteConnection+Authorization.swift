import LinkedSQLite

/// Answers SQLite's requests for authorization.
private final class Authorizer {
  let answer: (_ action: Int32, _ first: String?, _ second: String?) -> Int32

  init(_ answer: @escaping (Int32, String?, String?) -> Int32) { self.answer = answer }
}

extension SQLiteConnection {
  /// Runs `body`, and asks `answer` about everything that statements prepared in the meantime do, so that no SQL has to
  /// be parsed. Only one authorization lasts at a time.
  ///
  /// - Parameter answer: Called with one of SQLite's action codes and its two names.
  /// - SeeAlso: <https://sqlite.org/c3ref/set_authorizer.html>
  package func authorizing<T>(
    by answer: @escaping (_ action: Int32, _ first: String?, _ second: String?) -> Int32, during body: () throws -> T
  ) rethrows -> T {
    let authorizer = Authorizer(answer)
    // SQLite calls back on this thread while a statement of this connection is prepared, and so only within `body`.
    sqlite3_set_authorizer(
      handle,
      { context, action, first, second, _, _ in
        guard let context else { return SQLITE_OK }
        let authorizer = Unmanaged<Authorizer>.fromOpaque(context).takeUnretainedValue()
        return authorizer.answer(action, first.map { String(cString: $0) }, second.map { String(cString: $0) })
      }, Unmanaged.passUnretained(authorizer).toOpaque())
    defer { sqlite3_set_authorizer(handle, nil, nil) }
    return try withExtendedLifetime(authorizer) { try body() }
  }
}
