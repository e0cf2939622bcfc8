import Foundation

/// Files that may be encrypted databases: nothing in them tells what they are.
enum EncryptedFile {
  /// Whether a file consists of whole pages, and the bytes of the first one are as evenly distributed as those of
  /// encrypted ones. Very few files of other kinds are both.
  static func mayBe(at url: URL) -> Bool {
    guard let size = FileState(url)?.size, size >= 512, size % 512 == 0,
      let page = DatabaseHeader.read(url, atMost: 4096), !DatabaseHeader.isDatabase(page)
    else { return false }
    var counts = [Int](repeating: 0, count: 256)
    for byte in page { counts[Int(byte)] += 1 }
    // Pearson's statistic, with 255 degrees of freedom: above 400 once in a hundred million pages.
    let expected = Double(page.count) / 256
    let deviation = counts.reduce(0) { $0 + (Double($1) - expected) * (Double($1) - expected) } / expected
    return deviation < 400
  }

  /// The error for an encrypted store that is opened without a key.
  static func keyMissing(_ url: URL) -> PersistenceError {
    PersistenceError(
      .wrongKey, at: .store(url),
      "'\(url.lastPathComponent)' is encrypted and no key was given, or it isn't an SQLite database.",
      fix: "Set StoreOptions.key (for the command line: --key-file or --key-env).")
  }

  /// The error for a plain store that is opened with a key.
  static func notEncrypted(_ url: URL?) -> PersistenceError {
    PersistenceError(
      .wrongKey, at: .store(url), "'\(url?.lastPathComponent ?? "")' isn't encrypted, and a key was given.",
      fix: "Open it without the key. A copy with a key is encrypted: migratePersistentStore(_:to:options:), or "
        + "'persist copy' with --new-key-file.")
  }

  /// The error for a page, other than the first one, that SQLCipher can't decrypt.
  static func damagedPage(_ url: URL?, said: String, sql: String? = nil) -> PersistenceError {
    PersistenceError(
      .storeDamaged, at: PersistenceError.Place(store: url, sql: sql),
      "A page of '\(url?.lastPathComponent ?? "")' can't be decrypted: the file is damaged.", engineMessage: said,
      fix: "Restore the store from a backup.")
  }

  /// The error for a file that SQLCipher can't decrypt.
  static func undecipherable(_ url: URL?, said: String) -> PersistenceError {
    let name = "'\(url?.lastPathComponent ?? "")'"
    guard let url, FileState(url)?.isRegular == true, !mayBe(at: url), !DatabaseHeader.isDatabase(url) else {
      return PersistenceError(
        .wrongKey, at: .store(url),
        "\(name) can't be decrypted: the key or a setting of SQLCipher is another one, or the file is damaged.",
        engineMessage: said, fix: "Check the key. If it is right, restore the store from a backup.")
    }
    return PersistenceError(
      .storeDamaged, at: .store(url), "\(name) is damaged, or isn't an encrypted store.", engineMessage: said,
      fix: "Check that it is the right file; if it is, restore it from a backup.")
  }
}
