import LinkedSQLite
package import Foundation
import Synchronization

extension SQLiteConnection {
  /// Gives a new connection its key, before anything else is done with it.
  ///
  /// - Throws: ``PersistenceError/Code/wrongKey``, ``PersistenceError/Code/encryptionUnavailable``, and the error of
  ///   the application's closure.
  static func unlock(_ handle: OpaquePointer, with encryption: StoreEncryption, url: URL?) throws {
    guard StoreEncryption.isAvailable else { throw unavailable(url) }
    // The codec that the key creates reads the defaults, which attaching another database may be changing.
    let code = try defaults.withLock { _ in
      let key = try encryption.key()
      if encryption.hasLegibleHeader, !key.containsSalt, encryption.settings["cipher_salt"] == nil {
        throw PersistenceError(
          .invalidRequest, at: .store(url), "The salt of a file with a plain header isn't stored in it.",
          fix: "Give StoreKey.raw 48 bytes, the last 16 of which are the salt, or set the pragma 'cipher_salt'.")
      }
      return try key.withBytes { bytes in
        persist_sqlite3_key(handle, bytes.baseAddress, Int32(clamping: bytes.count))
      }
    }
    guard code == SQLITE_OK else { throw failure(code, said: String(cString: sqlite3_errmsg(handle)), url: url) }
    // The library would print each page that it can't decrypt to standard error, beside the error that is thrown. Old
    // versions know no such setting.
    _ = sqlite3_exec(handle, SQLText.quietCipher.text, nil, nil, nil)
    for name in CipherSetting.names {
      guard let value = encryption.settings[name] else { continue }
      try run(CipherSetting.statement(name, value), on: handle, url: url)
    }
    try run(.tempStoreMemory, on: handle, url: url)
  }

  private static func unavailable(_ url: URL?) -> PersistenceError {
    PersistenceError(
      .encryptionUnavailable, at: .store(url),
      "A key was given, and the SQLite library of this program can't encrypt. Nothing was written.",
      fix: "Build Persist with its trait SQLCipher.")
  }

  private static func run(_ sql: SQLText, on handle: OpaquePointer, url: URL?) throws {
    let code = sqlite3_exec(handle, sql.text, nil, nil, nil)
    guard code == SQLITE_OK else {
      throw failure(code, said: String(cString: sqlite3_errmsg(handle)), url: url, sql: sql.text)
    }
  }

  /// Decrypts the first page.
  ///
  /// - Throws: ``PersistenceError/Code/wrongKey``, or ``PersistenceError/Code/storeDamaged`` for a file that can't be
  ///   an encrypted store, or whose first page the key decrypts although the file is damaged.
  func requireRightKey() throws {
    do {
      _ = try first(.objectCount) { $0.integer(0) }
    } catch let error as PersistenceError where [.storeDamaged, .sqlite].contains(error.code) {
      // A damaged page has this code; a page that can't be decrypted has others.
      if sqlite3_errcode(handle) & 0xFF == SQLITE_CORRUPT { throw error }
      throw EncryptedFile.undecipherable(url, said: error.engineMessage ?? error.message)
    }
  }

  // MARK: Attached copies

  /// Attaches another database as the copy, with the encryption of this one.
  package func attachCopy(_ url: URL, parameters: [(name: StaticString, value: StaticString)] = []) throws {
    let uri = try SQLiteFileName.uri(for: url, parameters: parameters)
    try withDefaults(of: encryption) {
      // Without a key, SQLCipher uses this database's key, with its salt.
      if let encryption, encryption.settings["cipher_salt"] == nil {
        let key = try encryption.key()
        try key.withBytes { try attach(uri, key: $0) }
      } else {
        try execute(.attachCopy(uri))
      }
    }
  }

  /// Attaches an empty file as the copy, with an encryption of its own.
  func attachNewCopy(_ url: URL, _ other: StoreEncryption?) throws {
    let uri = try SQLiteFileName.uri(for: url, parameters: [("mode", "rw")])
    try withDefaults(of: other) {
      guard let key = try other?.key() else {
        // An explicitly empty key prevents SQLCipher from using this database's key for the attached one.
        return try encryption == nil ? attach(uri) : attach(uri, key: UnsafeRawBufferPointer(start: nil, count: 0))
      }
      try key.withBytes { try attach(uri, key: $0) }
    }
    if let salt = other?.settings["cipher_salt"] {
      try Self.run(CipherSetting.statement("cipher_salt", salt, schema: "copy."), on: handle, url: url)
    }
    // The attached database may be encrypted although this one isn't.
    try Self.run(.tempStoreMemory, on: handle, url: url)
  }

  private func attach(_ uri: String) throws { try execute(.attachCopy(uri)) }

  /// Runs code that attaches a database. It is read as soon as it is attached, so that its settings have to be
  /// SQLCipher's defaults by then.
  private func withDefaults(of other: StoreEncryption?, _ body: () throws -> Void) throws {
    guard let other else { return try body() }
    let (set, reset) = try CipherSetting.defaults(other.settings)
    try Self.defaults.withLock { _ in
      defer { for statement in reset { try? Self.run(statement, on: handle, url: url) } }
      for statement in set { try Self.run(statement, on: handle, url: url) }
      try body()
    }
  }

  /// Runs a statement with a key, which neither the log nor a kept statement gets to see.
  private func attach(_ uri: String, key: UnsafeRawBufferPointer) throws {
    let sql = SQLText.attachEncryptedCopy
    try withoutLog {
      var statement: OpaquePointer?
      defer { sqlite3_finalize(statement) }
      guard sqlite3_prepare_v2(handle, sql.text, -1, &statement, nil) == SQLITE_OK else {
        throw failure(SQLITE_ERROR, sql: sql.text)
      }
      persist_sqlite3_bind_text_copy(statement, 1, uri, sqlite3_uint64(uri.utf8.count))
      // Borrowed: SQLite makes no copy. Null would be another key.
      if key.isEmpty { sqlite3_bind_zeroblob(statement, 2, 0) } else {
        persist_sqlite3_bind_blob_borrowed(statement, 2, key.baseAddress, sqlite3_uint64(key.count))
      }
      let code = sqlite3_step(statement)
      guard code == SQLITE_DONE else { throw failure(code, sql: sql.text) }
    }
  }

  /// SQLCipher's defaults, which belong to the whole program.
  private static let defaults = Mutex<Void>(())
}
