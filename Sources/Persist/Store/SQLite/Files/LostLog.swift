package import Foundation

/// A store whose log is missing: the file was copied or moved without its `-wal` file, which contained the latest
/// changes.
///
/// Persist leaves a log beside a file as long as one of its tables is only there, so that a file in WAL mode without
/// tables and without a log has lost one. The file of a store whose creation was interrupted looks the same; it has a
/// mark beside it, an empty file that the first commit makes superfluous.
///
/// - SeeAlso: <https://sqlite.org/wal.html#the_wal_file>
package enum LostLog {
  private static let advice = "Copy the file together with its '-wal' file, or restore a backup. If nothing was saved "
    + "in it yet, delete the file."

  /// The error for a file that contains nothing without its log; nil for any other.
  static func error(storeAt url: URL) -> PersistenceError? {
    guard let header = header(of: url), DatabaseHeader.isWithoutSchema(header) else { return nil }
    return PersistenceError(.storeDamaged, at: .store(url), words(url) + " Without it, the file is empty.", fix: advice)
  }

  /// The error for an encrypted file without a schema, whose mode its header doesn't show; nil if it has a log, or is
  /// being created.
  static func errorIfEncrypted(storeAt url: URL) -> PersistenceError? {
    guard isMissing(of: url) else { return nil }
    return PersistenceError(
      .storeDamaged, at: .store(url),
      "'\(url.lastPathComponent)' is empty, and its log '\(url.lastPathComponent)-wal' is missing.",
      fix: advice)
  }

  /// The addition to a finding of damage; nil if the file has a log, or needs none.
  package static func suspicion(storeAt url: URL) -> String? {
    if header(of: url) != nil {
      return words(url) + " The damage may come from that: the file may be incomplete without it. " + advice
    }
    // The mode of an encrypted file isn't legible.
    guard StoreEncryption.current != nil, isMissing(of: url) else { return nil }
    let name = url.lastPathComponent
    return "'\(name)' has no log '\(name)-wal'. The damage may come from that, if the file is used with one. " + advice
  }

  /// The header of a file that is used with a log and has none; nil for any other. Reading a pipe would wait for a
  /// writer.
  private static func header(of url: URL) -> Data? {
    guard FileState(url)?.isRegular == true, isMissing(of: url), let header = DatabaseHeader.read(url),
      DatabaseHeader.isInWALMode(header)
    else { return nil }
    return header
  }

  private static func words(_ url: URL) -> String {
    "'\(url.lastPathComponent)' is used with a log, and the log '\(url.lastPathComponent)-wal' is missing."
  }

  private static func isMissing(of url: URL) -> Bool {
    FileState(SQLiteFileName.companion(of: url, "-wal")) == nil && FileState(mark(of: url)) == nil
  }

  private static func mark(of url: URL) -> URL { SQLiteFileName.companion(of: url, "-new") }

  /// Marks a store as being created. Without the mark, a store whose creation is interrupted has to be deleted by hand.
  static func markCreation(ofStoreAt url: URL) { try? Data().write(to: mark(of: url)) }

  static func removeMark(ofStoreAt url: URL) { try? FileManager.default.removeItem(at: mark(of: url)) }
}
