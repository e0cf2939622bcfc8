package import Foundation

/// The way to open a database so that neither the file is changed nor another file is created beside it.
///
/// Opening read-only isn't sufficient: a database in WAL mode needs its `-shm` file, which SQLite creates or changes
/// even for a reader.
///
/// - SeeAlso: <https://sqlite.org/wal.html#read_only_databases>
package enum ReadOnlyAccess: Sendable, Equatable {
  /// A rollback journal, or none: a reader only needs locks.
  case plain
  /// A `-wal` and a `-shm` file: others may be writing. The `-shm` file is mapped without write access; SQLite builds a
  /// private index if no process keeps the file current.
  case sharedIndex
  /// A `-wal` file that no process has open, since there is no `-shm` file: the index of the WAL is kept in memory,
  /// which SQLite does in exclusive locking mode, here without taking locks.
  case privateIndex
  /// WAL mode, but without content in a `-wal` file: the database file alone contains all data.
  case immutable

  /// Examines the files and determines the access.
  ///
  /// - Throws: ``PersistenceError/Code/storeOpenFailed`` if there is no such file,
  ///   ``PersistenceError/Code/storeDamaged`` if it isn't a database, ``PersistenceError/Code/storeReadOnly`` if a
  ///   journal has to be rolled back.
  ///   ``PersistenceError/Code/wrongKey`` if it is encrypted and must not be, or the other way around.
  package init(choosingFor url: URL, _ encryption: StoreEncryption?) throws {
    let header = try Self.requireDatabase(at: url, encryption)
    let wal = FileState(SQLiteFileName.companion(of: url, "-wal"))
    let hasIndex = FileState(SQLiteFileName.companion(of: url, "-shm")) != nil
    // The header of an encrypted file doesn't show its mode. Without a log, the file alone contains all data; with a
    // journal, it isn't in WAL mode.
    let isEncrypted = encryption != nil && !DatabaseHeader.isDatabase(header)
    let isWAL = isEncrypted ? FileState(SQLiteFileName.companion(of: url, "-journal")) == nil
      : DatabaseHeader.isInWALMode(header)
    if let wal, wal.size == Self.logHeadSize {
      // Its writer ended before its first change. If it left an index, SQLite would look for the header of this log in
      // it, and fail.
      self = .privateIndex
    } else if let wal, hasIndex {
      self = wal.size > 0 || isWAL ? .sharedIndex : .immutable
    } else if let wal, wal.size > 0 {
      self = .privateIndex
    } else if isWAL || wal != nil {
      self = .immutable
    } else {
      self = .plain
    }
    // SQLite itself only looks for a journal if it locks the file.
    if self == .immutable || self == .privateIndex, try Self.hasHotJournal(url) {
      throw SQLiteConnection.hotJournal(.store(url), "'\(url.lastPathComponent)'")
    }
  }

  var uriParameters: [(name: StaticString, value: StaticString)] {
    switch self {
    case .plain: [("mode", "ro")]
    case .sharedIndex: [("mode", "ro"), ("readonly_shm", "1")]
    case .privateIndex: [("mode", "ro"), ("vfs", Self.fileSystemWithoutLocks)]
    case .immutable: [("mode", "ro"), ("immutable", "1")]
    }
  }

  /// Whether SQLite takes no locks, so that changes by others are only noticed by examining the files.
  var isWithoutLocks: Bool { self == .privateIndex || self == .immutable }

  /// The size of a `-wal` file's header, before its first frame.
  ///
  /// - SeeAlso: <https://sqlite.org/fileformat2.html#the_write_ahead_log>
  private static let logHeadSize: Int64 = 32

  /// The names of SQLite's VFS variants that take no locks.
  ///
  /// - SeeAlso: <https://sqlite.org/vfs.html#standard_unix_vfses>
  private static var fileSystemWithoutLocks: StaticString {
    #if os(Windows)
      "win32-none"
    #else
      "unix-none"
    #endif
  }

  /// - Returns: The first 100 bytes of the file.
  @discardableResult
  static func requireDatabase(at url: URL, _ encryption: StoreEncryption?) throws -> Data {
    var name: String { "'\(url.lastPathComponent)'" }
    guard let state = FileState(url) else {
      let folder = FileState.missingFolder(of: url)
      throw PersistenceError(
        .storeOpenFailed, at: .store(url),
        folder.map { "\(name) doesn't exist: there is no folder '\($0.path)'." }
          ?? "\(name) doesn't exist, or its folder can't be accessed.",
        fix: "Check the path\(folder == nil ? " and the permissions of its folders" : "").")
    }
    guard !state.isFolder else {
      throw PersistenceError(
        .storeOpenFailed, at: .store(url), "\(name) is a folder.", fix: "Name the store's file in it.")
    }
    guard state.isRegular else {
      throw PersistenceError(
        .storeOpenFailed, at: .store(url), "\(name) is a pipe or a device.", fix: "Name the store's file.")
    }
    return try requireDatabase(DatabaseHeader.read(url), of: url, encryption)
  }

  /// Checks that a file begins as databases do.
  ///
  /// - Parameter header: At most the first 100 bytes of the file; nil if it can't be read.
  /// - Returns: The header.
  @discardableResult
  static func requireDatabase(_ header: Data?, of url: URL, _ encryption: StoreEncryption?) throws -> Data {
    var name: String { "'\(url.lastPathComponent)'" }
    guard let header else {
      throw PersistenceError(
        .storeOpenFailed, at: .store(url), "\(name) can't be read.", fix: "Check the file's permissions.")
    }
    guard !header.isEmpty else {
      throw PersistenceError(
        .storeDamaged, at: .store(url), "\(name) is empty.", fix: "Restore it from a backup, or delete it.")
    }
    let isDatabase = header.count == 100 && DatabaseHeader.isDatabase(header)
    if let encryption {
      // A legible header belongs to a plain file, or to one whose settings leave it legible.
      if isDatabase, !encryption.hasLegibleHeader { throw EncryptedFile.notEncrypted(url) }
      return header
    }
    guard isDatabase else {
      if EncryptedFile.mayBe(at: url) { throw EncryptedFile.keyMissing(url) }
      throw PersistenceError(
        .storeDamaged, at: .store(url), "\(name) doesn't have the header of an SQLite database.",
        fix: "Check that it is the right file; if it is, restore it from a backup.")
    }
    return header
  }

  /// Whether a writer ended during a transaction: its journal has content and hasn't been invalidated.
  static func hasHotJournal(_ url: URL) throws -> Bool {
    let journal = SQLiteFileName.companion(of: url, "-journal")
    guard let state = FileState(journal), !state.isFolder, state.size > 0 else { return false }
    do {
      let file = try FileHandle(forReadingFrom: journal)
      defer { try? file.close() }
      return try file.read(upToCount: 1)?.first.map { $0 != 0 } ?? false
    } catch {
      // Its writer may have finished in the meantime.
      guard FileState(journal) != nil else { return false }
      throw PersistenceError(
        .fileAccess, at: .file(journal), "The journal can't be read: \(error.localizedDescription)",
        fix: "Check the file's permissions.")
    }
  }
}
