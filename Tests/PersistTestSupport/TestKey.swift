import LinkedSQLite
public import Foundation
public import Persist

/// The key of the stores of a run with `Scripts/test --key`: the whole suite then works on encrypted stores.
///
/// The key is that of the whole program, so that no test names it. Connections that tests open without Persist get it
/// from ``unlock(_:)``, and the programs that they start from their environment.
public enum TestKey {
  /// Nil in ordinary runs.
  public static let provider: StoreEncryption.KeyProvider? = passphrase.map { text in
    { @Sendable in .passphrase(text) }
  }

  /// A passphrase of this form is a raw key; every connection would take 0.1 s to derive one from another.
  public static let passphrase: String? = {
    guard let digits = ProcessInfo.processInfo.environment["PERSIST_TEST_KEY"], !digits.isEmpty else { return nil }
    return "x'\(digits)'"
  }()

  /// The variable with the passphrase in the environment of programs that tests start.
  public static let variable = "PERSIST_TEST_PASSPHRASE"

  /// Whether the run's stores are encrypted.
  public static var isUsed: Bool { provider != nil }

  /// The command of SQLCipher: of the system, or the one that `Scripts/setup --sqlcipher` unpacks.
  public static let tool: URL? = {
    let own = PackageFolder.url.appendingPathComponent(".build/sqlcipher/root/usr/bin/sqlcipher").path
    return [own, "/usr/bin/sqlcipher", "/usr/local/bin/sqlcipher", "/opt/homebrew/bin/sqlcipher"]
      .first { FileManager.default.isExecutableFile(atPath: $0) }.map { URL(fileURLWithPath: $0) }
  }()

  /// 32 bytes that a text determines.
  public static func bytes(of text: String) -> [UInt8] {
    var random = SeededRandom(seed: text.utf8.reduce(1469) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 })
    return (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }
  }

  /// Sets the key for this process, once.
  public static let install: Void = {
    if let provider { StoreEncryption.setForProgram(provider) }
  }()

  /// Runs code with encrypted stores, whatever those of the run are.
  ///
  /// - Parameter body: Called with the variables that programs which it starts need.
  public static func using<Result>(_ body: (_ environment: [String: String]) throws -> Result) rethrows -> Result {
    let digits = bytes(of: "sample").map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    let text = "x'\(digits)'"
    return try StoreEncryption.using({ .passphrase(text) }) {
      try body(["PERSIST_TEST_KEY": digits, variable: text])
    }
  }

  /// Gives a new connection to a file that isn't a plain store the key of the run.
  public static func unlock(_ connection: OpaquePointer?) {
    guard let key = StoreEncryption.current?.key, let connection, let path = sqlite3_db_filename(connection, "main"),
      !DatabaseHeader.isDatabase(URL(fileURLWithPath: String(cString: path)))
    else { return }
    try? key().withBytes { _ = persist_sqlite3_key(connection, $0.baseAddress, Int32($0.count)) }
  }

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
