import Persist

/// Whether a store is where it was when its life began; see ``StoreLife``.
///
/// The store has a certificate: a row with the number of its database, and with the number of the transaction that
/// wrote the row, which the server keeps with each row as well. The row of a restored dump was written by another
/// transaction, and a database that was created from a template has another number. A replica, before and after it is
/// promoted, has the same rows as its primary server, and so does a database after `pg_upgrade`.
///
/// - SeeAlso: <https://www.postgresql.org/docs/current/ddl-system-columns.html>
enum ServerLife: Hashable, Sendable {
  /// A store without a certificate: of an earlier release, or just copied by Persist.
  case uncertified
  case own
  /// A copy that others made, in rows of a transaction.
  case copied(database: String, row: String)

  static let key = "life"

  /// The number of the connection's database.
  static let database: ServerText = "(SELECT oid::text FROM pg_database WHERE datname = current_database())"

  /// Writes the certificate.
  static let certificate: ServerText = """
    INSERT INTO \(table: "PERSIST_METADATA") \
    VALUES (\(literal: key), convert_to(\(database) || ' ' || pg_current_xact_id()::xid::text, 'UTF8')) \
    ON CONFLICT (key) DO UPDATE SET value = excluded.value
    """

  /// - Parameters:
  ///   - certificate: The content of the row; nil if there is none.
  ///   - row: The number of the transaction that wrote the row.
  init(certificate: String?, writtenBy row: String, in database: String) {
    switch certificate {
    case nil: self = .uncertified
    case "\(database) \(row)": self = .own
    case _?: self = .copied(database: database, row: row)
    }
  }

  /// The number of the life.
  ///
  /// - Parameter mark: The mark in the store's metadata.
  func number(_ mark: String) -> UInt64 {
    switch self {
    case .uncertified, .own: StoreLife.number(mark)
    case .copied(let database, let row):
      StoreLife.number(mark, file: [database, row].map { Int64($0) ?? 0 })
    }
  }
}

extension ServerPool {
  /// Certifies a store that has no certificate, and begins another life of one that others copied.
  ///
  /// - Returns: Whether anything was written. A user without the right to write leaves it to others.
  func certify() throws -> Bool {
    do {
      return try write { transaction in
        try transaction.run([ServerText.lock(address.schema)])
        // Another program may have done this first.
        switch try ServerMark(in: transaction.session).life {
        case .own: return true
        case .uncertified: break
        case .copied:
          var metadata = try StoreMetadata(transaction.session)
          metadata.beginLife()
          transaction.runLast([try metadata.update()])
        }
        transaction.runLast([ServerLife.certificate])
        return true
      }
    } catch let error as PersistenceError where error.isOfMissingRight || error.code == .storeReadOnly {
      return false
    }
  }
}
