import LinkedSQLite
import Foundation
public import Persist

/// The key of the stores of a run with `Scripts/test --key`: the whole suite then works on encrypted stores.
///
/// The key is that of the whole program, so that no test names it. Connections that tests open without Persist get it
/// from SQLite, which calls for every connection that is opened in the process.
public enum TestKey {
  /// Nil in ordinary runs.
  public static let provider: StoreEncryption.KeyProvider? = {
    guard let digits = ProcessInfo.processInfo.environment["PERSIST_TEST_KEY"], !digits.isEmpty else { return nil }
    // A passphrase of this form is a raw key; every connection would take 0.1 s to derive one from another.
    return { .passphrase("x'\(digits)'") }
  }()

  /// 32 bytes that a text determines.
  public static func bytes(of text: String) -> [UInt8] {
    var random = SeededRandom(seed: text.utf8.reduce(1469) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 })
    return (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }
  }

  /// Sets the key for this process, once.
  public static let install: Void = {
    guard let provider else { return }
    StoreEncryption.setForProgram(provider)
    #if SQLCipher
      let entry: @convention(c) (
        OpaquePointer?, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, OpaquePointer?
      ) -> Int32 = { handle, _, _ in
        guard let handle, let path = sqlite3_db_filename(handle, "main"), path.pointee != 0,
          let provider = TestKey.provider
        else { return SQLITE_OK }
        let code = try? provider().withBytes {
          sqlite3_key_v2(handle, "main", $0.baseAddress, Int32($0.count))
        }
        return code ?? SQLITE_ERROR
      }
      // SQLite declares the function without its parameters, and calls it with them.
      _ = sqlite3_auto_extension(unsafeBitCast(entry, to: (@convention(c) () -> Void).self))
    #endif
  }()

  /// Encrypts a plain store of the collection, once it is copied.
  static func encrypt(_ store: URL) throws {
    guard let provider, DatabaseHeader.isDatabase(store) else { return }
    let plain = store.deletingLastPathComponent().appendingPathComponent("plain-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: plain, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: plain) }
    let moved = plain.appendingPathComponent(store.lastPathComponent)
    let (name, stem) = (store.lastPathComponent, store.deletingPathExtension().lastPathComponent)
    for part in [name, "\(name)-wal", "\(name)-journal", ".\(stem)_SUPPORT", ".\(name)_SUPPORT"] {
      let source = store.deletingLastPathComponent().appendingPathComponent(part)
      guard FileManager.default.fileExists(atPath: source.path) else { continue }
      try FileManager.default.moveItem(at: source, to: plain.appendingPathComponent(part))
    }
    try StoreEncryption.using(nil) {
      try StoreBackup.copy(storeAt: moved, to: store, StoreEncryption(provider))
    }
  }
}
