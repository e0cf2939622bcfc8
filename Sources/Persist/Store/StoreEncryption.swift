import LinkedSQLite
import Synchronization

/// The encryption of a store's file, and of everything that is written on its behalf.
///
/// Opening a store passes on the key of its options by itself. The other operations on files, such as reading the
/// metadata of a store that isn't open, take it from the code that they run in:
///
/// ```swift
/// let metadata = try StoreEncryption.using({ .raw(try secrets.bytes("store")) }) {
///   try PersistentStoreCoordinator.metadata(at: url)
/// }
/// ```
public struct StoreEncryption: Sendable {
  /// Provides the key when a connection is opened.
  public typealias KeyProvider = @Sendable () throws -> StoreKey

  /// Whether the SQLite library of the program can encrypt: SQLCipher's, which the trait `SQLCipher` of the package
  /// selects.
  public static var isAvailable: Bool { persist_sqlite3_has_keys() == 1 }

  package let key: KeyProvider
  /// SQLCipher's settings of the file that aren't its defaults, by the names of its pragmas in lower case.
  let settings: [String: String]

  package init(_ key: @escaping KeyProvider, settings: [String: String] = [:]) {
    self.key = key
    self.settings = CipherSetting.settings(among: settings)
  }

  /// Whether the file begins as plain ones do, as `cipher_plaintext_header_size` says.
  var hasLegibleHeader: Bool { settings["cipher_plaintext_header_size"].flatMap { Int($0) } ?? 0 > 0 }

  /// The size of a page in bytes.
  var pageSize: Int64 { settings["cipher_page_size"].flatMap { Int64($0) } ?? 4096 }

  // MARK: The encryption of the running code

  private enum Scope: Sendable {
    case plain
    case encrypted(StoreEncryption)
  }

  @TaskLocal private static var ownScope: Scope?
  /// Whether a scope was ever begun. Most programs never do, and the first use of a task's value of a type takes 28,000
  /// instructions.
  private static let hasScopes = Atomic(false)
  /// The scope of the running code. A relaxed load suffices: whoever began a scope set the flag before.
  private static var scope: Scope? { hasScopes.load(ordering: .relaxed) ? ownScope : nil }
  private static let ofProgram = Mutex<StoreEncryption?>(nil)

  /// The encryption for connections whose options have no key; nil for plain files.
  package static var current: StoreEncryption? {
    switch scope {
    case .encrypted(let encryption): encryption
    case .plain: nil
    case nil: ofProgram.withLock { $0 }
    }
  }

  /// Whether the running code is to use plain files.
  static var isPlainRequested: Bool { if case .plain = scope { true } else { false } }

  /// Sets the encryption of the whole program, for code that ``using(_:_:)`` doesn't apply to: of a command-line
  /// program, and of tests.
  package static func setForProgram(_ key: KeyProvider?, settings: [String: String] = [:]) {
    ofProgram.withLock { $0 = key.map { StoreEncryption($0, settings: settings) } }
  }

  /// The key of the whole program.
  package static var keyOfProgram: KeyProvider? { ofProgram.withLock { $0?.key } }

  /// Runs code in which stores that are given without options have a key.
  ///
  /// - Parameters:
  ///   - key: The key of the stores; nil for stores that aren't encrypted.
  ///   - settings: SQLCipher's settings of the stores, as in ``StoreOptions/pragmas``.
  ///   - body: The code.
  @_semantics("optimize.sil.specialize.generic.never")
  public static func using<T>(
    _ key: KeyProvider?, settings: [String: String] = [:], _ body: () throws -> T
  ) rethrows -> T {
    try using(key.map { StoreEncryption($0, settings: settings) }, body)
  }

  /// Runs code in which stores that are given without options are encrypted like another one.
  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  package static func using<T>(_ encryption: StoreEncryption?, _ body: () throws -> T) rethrows -> T {
    hasScopes.store(true, ordering: .relaxed)
    return try $ownScope.withValue(encryption.map { .encrypted($0) } ?? .plain, operation: body)
  }
}

extension StoreOptions {
  /// The encryption of the store: of these options, or else of the running code.
  package var encryption: StoreEncryption? {
    key.map { StoreEncryption($0, settings: pragmas) } ?? (isPlainWithoutKey ? nil : StoreEncryption.current)
  }

  /// The options with an encryption that doesn't depend on the running code.
  func with(_ encryption: StoreEncryption?) -> StoreOptions {
    var options = self
    options.isPlainWithoutKey = true
    options.key = encryption?.key
    if let encryption { options.pragmas.merge(encryption.settings) { $1 } }
    return options
  }

  /// Runs code in which stores that are given without options are encrypted as in these.
  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  package func encrypting<T>(_ body: () throws -> T) rethrows -> T {
    guard key != nil || isPlainWithoutKey else { return try body() }
    return try StoreEncryption.using(encryption, body)
  }

  /// The encryption of a copy of a store that is opened with these options: its own, or else the store's.
  func encryptionOfCopy(of store: StoreEncryption?) -> StoreEncryption? {
    if key != nil || StoreEncryption.isPlainRequested { return encryption }
    return store
  }
}
