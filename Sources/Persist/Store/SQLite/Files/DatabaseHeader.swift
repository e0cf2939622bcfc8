import LinkedSQLite
package import Foundation

/// The first bytes of a database, which identify it.
///
/// They are read through SQLite's own file layer. If another connection of this process holds locks on the file,
/// opening and closing a descriptor outside SQLite would release them all.
///
/// - SeeAlso: <https://sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>
package enum DatabaseHeader {
  private static let size: Int32 = 100
  private static let mark = Data("SQLite format 3\0".utf8)

  /// Whether a file begins as databases do; false if it can't be read.
  package static func isDatabase(_ url: URL) -> Bool { read(url).map(isDatabase) ?? false }

  /// Whether a file begins as databases do, or may be an encrypted one.
  package static func mayBeDatabase(_ url: URL) -> Bool { isDatabase(url) || EncryptedFile.mayBe(at: url) }

  /// Whether bytes from the beginning of a file are those of a database.
  static func isDatabase(_ header: Data) -> Bool { header.starts(with: mark) }

  /// Whether a database's file has never contained a table: its schema format isn't set. The log may contain some.
  ///
  /// - SeeAlso: <https://sqlite.org/fileformat2.html#schema_format_number>
  static func isWithoutSchema(_ header: Data) -> Bool {
    isDatabase(header) && header.count > 47 && header.dropFirst(44).prefix(4).allSatisfy { $0 == 0 }
  }

  /// Whether a database is read and written with a log.
  ///
  /// - SeeAlso: <https://sqlite.org/fileformat2.html#file_format_version_numbers>
  static func isInWALMode(_ header: Data) -> Bool {
    isDatabase(header) && header.count > 19 && header[header.startIndex + 19] == 2
  }

  /// At most 100 bytes; nil if the file can't be read.
  static func read(_ url: URL) -> Data? { read(url, atMost: size) }

  /// At most as many bytes; nil if the file can't be read.
  static func read(_ url: URL, atMost size: Int32) -> Data? {
    guard let layer = sqlite3_vfs_find(nil), let open = layer.pointee.xOpen,
      let name = sqlite3_create_filename(SQLiteFileName.resolvedPath(url), "", "", 0, nil)
    else { return nil }
    defer { sqlite3_free_filename(name) }
    let memory = UnsafeMutableRawPointer.allocate(byteCount: Int(layer.pointee.szOsFile), alignment: 16)
    defer { memory.deallocate() }
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: Int(layer.pointee.szOsFile))
    let file = memory.assumingMemoryBound(to: sqlite3_file.self)
    guard open(layer, name, file, SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB, nil) == SQLITE_OK else { return nil }
    defer { _ = file.pointee.pMethods?.pointee.xClose?(file) }
    return read(file, atMost: size)
  }

  /// At most 100 bytes of an open file; nil if it can't be read.
  static func read(_ file: UnsafeMutablePointer<sqlite3_file>, atMost size: Int32 = size) -> Data? {
    guard let methods = file.pointee.pMethods else { return nil }
    var (count, bytes): (Int64, Data) = (0, Data(count: Int(size)))
    guard methods.pointee.xFileSize?(file, &count) == SQLITE_OK else { return nil }
    let length = Int32(clamping: min(Int64(size), count))
    let code = bytes.withUnsafeMutableBytes { methods.pointee.xRead?(file, $0.baseAddress, length, 0) }
    return length == 0 ? Data() : code == SQLITE_OK ? bytes.prefix(Int(length)) : nil
  }
}
