public import Foundation

/// Options for opening a store.
///
/// ```swift
/// try coordinator.addStore(at: url, options: .automaticMigration)
/// try coordinator.addStore(at: url, options: StoreOptions(isReadOnly: true))
/// ```
public struct StoreOptions: Sendable {
  // One reference: options are part of everything that opens or migrates a store, and would be copied with it.
  private var content: Content

  private struct Fields {
    var isReadOnly: Bool
    var busyTimeout: Duration
    var pragmas: [String: String]
    var configuration: String?
    var createsIfMissing: Bool
    var migrator: (any StoreMigrator)?
    var backup: MigrationBackup?
    var tracksHistory: Bool
    var historyKeeps: HistoryContent?
    var postsRemoteChangeNotifications: Bool = false
    var queryGenerationLifetime: Duration = .seconds(600)
    var key: StoreEncryption.KeyProvider?
    var isPlainWithoutKey: Bool = false
    var keepsLargeValuesInRows: Bool = false
    var instrument: (any StoreInstrument)?
    var identifier: UUID?
    var knownStore: (any KnownStore)?
    var readsFrom: [StoreLocation] = []
    var enforcesValidation: Bool = false
  }

  // @unchecked: changed only while one value refers to it, and all fields are Sendable.
  private final class Content: @unchecked Sendable {
    @exclusivity(unchecked) var fields: Fields

    init(_ fields: Fields) { self.fields = fields }
  }

  /// The fields, before a change.
  @inline(never)
  private mutating func own() -> Content {
    if !isKnownUniquelyReferenced(&content) { content = Content(content.fields) }
    return content
  }

  /// Whether the store is read-only. Then nothing is written, neither to the file nor beside it.
  public var isReadOnly: Bool {
    get { content.fields.isReadOnly }
    set { own().fields.isReadOnly = newValue }
  }
  /// The maximum time that a save or a fetch waits for other writers of the same process, and for another process or
  /// connection to release the file.
  ///
  /// It limits the total wait. Zero fails immediately. Canceling the waiting task ends the wait.
  ///
  /// - Throws: Saving and fetching throw ``PersistenceError/Code/storeBusy`` when the wait runs out.
  /// - SeeAlso: <https://sqlite.org/c3ref/busy_timeout.html>
  public var busyTimeout: Duration {
    get { content.fields.busyTimeout }
    set { own().fields.busyTimeout = newValue }
  }
  /// SQLite pragmas by name, set on every connection after Persist's own, such as `["synchronous": "FULL"]`.
  ///
  /// - SeeAlso: <https://sqlite.org/pragma.html>
  public var pragmas: [String: String] {
    get { content.fields.pragmas }
    _modify { yield &own().fields.pragmas }
  }
  /// The configuration of the model whose entities the store contains; nil for all.
  public var configuration: String? {
    get { content.fields.configuration }
    set { own().fields.configuration = newValue }
  }
  /// Whether to create the store if it doesn't exist.
  public var createsIfMissing: Bool {
    get { content.fields.createsIfMissing }
    set { own().fields.createsIfMissing = newValue }
  }
  /// Migrates a store of another model version to the coordinator's; nil to reject such a store.
  public var migrator: (any StoreMigrator)? {
    get { content.fields.migrator }
    set { own().fields.migrator = newValue }
  }
  /// The copy of the store to create before it is migrated; nil for none.
  public var backup: MigrationBackup? {
    get { content.fields.backup }
    set { own().fields.backup = newValue }
  }
  /// Whether the store records who changes which objects, from now on.
  ///
  /// A store that has a history continues it even if this is false, whoever opens it, until
  /// ``PersistentStoreCoordinator/disableHistory(of:keepingPast:)`` switches it off.
  public var tracksHistory: Bool {
    get { content.fields.tracksHistory }
    set { own().fields.tracksHistory = newValue }
  }
  /// The content of the store's history: nil, the default, continues what the store does.
  ///
  /// Any content switches the history on, as ``tracksHistory`` does, and applies to every program that uses the store.
  /// ``HistoryContent/changes`` also deletes the old values that were kept.
  public var historyKeeps: HistoryContent? {
    get { content.fields.historyKeeps }
    set { own().fields.historyKeeps = newValue }
  }
  /// Whether the coordinator posts ``PersistentStoreCoordinator/remoteStoreDidChangeNotification`` when this program or
  /// another one has written to the store. False by default.
  public var postsRemoteChangeNotifications: Bool {
    get { content.fields.postsRemoteChangeNotifications }
    set { own().fields.postsRemoteChangeNotifications = newValue }
  }
  /// The time for which a context pinned by ``ManagedObjectContext/setQueryGeneration(from:)`` can continue to read a
  /// state of the store after others have written. Ten minutes by default.
  ///
  /// SQLite's log grows with every write until no context reads an older state. A state that is still the newest one
  /// holds nothing back, and doesn't expire.
  ///
  /// - Throws: Reading throws ``PersistenceError/Code/queryGenerationExpired`` after this time.
  public var queryGenerationLifetime: Duration {
    get { content.fields.queryGenerationLifetime }
    set { own().fields.queryGenerationLifetime = newValue }
  }
  /// The key of the store, with which it is encrypted by SQLCipher; nil, the default, for a plain file.
  ///
  /// The closure is called for each connection and from any thread, and its result is wiped as soon as the connection
  /// has it. Only a store in a file has a key, and only a program that is built with the trait `SQLCipher` of the
  /// package can use it. SQLCipher's settings, such as `cipher_plaintext_header_size`, are ``pragmas``.
  ///
  /// ```swift
  /// var options = StoreOptions.automaticMigration
  /// options.key = { .raw(try secrets.bytes(named: "store")) }
  /// try coordinator.addStore(at: url, options: options)
  /// ```
  ///
  /// - Throws: Opening throws ``PersistenceError/Code/wrongKey``, ``PersistenceError/Code/encryptionUnavailable`` and
  ///   the errors of the closure.
  public var key: StoreEncryption.KeyProvider? {
    get { content.fields.key }
    set { own().fields.key = newValue }
  }
  /// Whether a missing key means a plain store, whatever the running code's stores are.
  var isPlainWithoutKey: Bool {
    get { content.fields.isPlainWithoutKey }
    set { own().fields.isPlainWithoutKey = newValue }
  }
  /// Whether imported rows contain their large values, so that the store is a single file.
  package var keepsLargeValuesInRows: Bool {
    get { content.fields.keepsLargeValuesInRows }
    set { own().fields.keepsLargeValuesInRows = newValue }
  }
  /// The observer of the store's work; nil for none.
  package var instrument: (any StoreInstrument)? {
    get { content.fields.instrument }
    set { own().fields.instrument = newValue }
  }
  /// The identifier of a store that is created; nil for a new one.
  package var identifier: UUID? {
    get { content.fields.identifier }
    set { own().fields.identifier = newValue }
  }
  /// The state in which `addStore` found the store that it calls a migrator for; nil except during that call.
  package var knownStore: (any KnownStore)? {
    get { content.fields.knownStore }
    set { own().fields.knownStore = newValue }
  }
  /// Replicas of the store's server, from which contexts with ``ManagedObjectContext/readsFromReplicas`` read. None by
  /// default.
  ///
  /// The schema is that of the store, and each context uses one of the replicas. Only stores on servers have replicas:
  /// opening another store with them throws ``PersistenceError/Code/invalidRequest``.
  ///
  /// ```swift
  /// var options = StoreOptions.automaticMigration
  /// options.readsFrom = [try .postgreSQL("postgresql://shop@replica.example.com/shop")]
  /// try coordinator.addStore(.postgreSQL("postgresql://shop@db.example.com/shop"), options: options)
  /// ```
  public var readsFrom: [StoreLocation] {
    get { content.fields.readsFrom }
    _modify { yield &own().fields.readsFrom }
  }
  /// Whether the server enforces the model's validation rules as well, by constraints of its tables. False by default.
  ///
  /// Constraints also bind programs that write with SQL, and requests that validate nothing, such as batch updates. A
  /// row that violates one fails with a validation error that names the entity and the property. Required attributes,
  /// minimums, maximums and lengths are enforced; patterns, predicates and relationships aren't, nor is a required
  /// attribute of a uniqueness constraint, whose values rows may exchange. Rows that violate a new constraint already
  /// stay as they are until they are changed.
  ///
  /// Once made, the constraints bind every program and follow each migration in place, with or without this option.
  /// Only stores on servers have them: opening another store with this option throws
  /// ``PersistenceError/Code/invalidRequest``.
  public var enforcesValidation: Bool {
    get { content.fields.enforcesValidation }
    set { own().fields.enforcesValidation = newValue }
  }

  /// Creates options; without arguments, those of a store that is created if missing and isn't migrated.
  @inline(never)
  public init(
    isReadOnly: Bool = false, busyTimeout: Duration = .seconds(5), pragmas: [String: String] = [:],
    configuration: String? = nil, createsIfMissing: Bool = true, migrator: (any StoreMigrator)? = nil,
    tracksHistory: Bool = false, historyKeeps: HistoryContent? = nil
  ) {
    content = Content(
      Fields(
        isReadOnly: isReadOnly, busyTimeout: busyTimeout, pragmas: pragmas, configuration: configuration,
        createsIfMissing: createsIfMissing, migrator: migrator, tracksHistory: tracksHistory,
        historyKeeps: historyKeeps))
  }

  /// - Throws: ``PersistenceError/Code/invalidRequest`` for options that only servers have.
  func requireNoServerOptions(at url: URL?) throws {
    if enforcesValidation {
      throw PersistenceError(
        .invalidRequest, at: .store(url), "A store in a file or in memory doesn't enforce validation rules by itself.",
        fix: "Leave enforcesValidation false, or open a store on a server.")
    }
    guard !readsFrom.isEmpty else { return }
    throw PersistenceError(
      .invalidRequest, at: .store(url), "A store in a file or in memory has no replicas.",
      fix: "Leave readsFrom empty, or open a store on a server.")
  }

  /// Whether the options switch the history on.
  var requestsHistory: Bool { tracksHistory || historyKeeps != nil }
}

/// The content of a store's history.
#if hasAttribute(nonexhaustive)
  @nonexhaustive(warn)
#endif
public enum HistoryContent: Sendable, Hashable, CaseIterable {
  /// The changed objects, and the names of the changed properties: the default, as in Core Data.
  case changes
  /// In addition, the values that updates replaced and deletions removed, in ``HistoryChange/oldValues``, so that
  /// ``ManagedObjectContext/revert(_:)`` can restore them.
  case oldValues
}

/// The knowledge of a store that `addStore` hands to a migrator with the options: a `StoreDifference`.
package protocol KnownStore: Sendable {}

/// The migrator that `addStore` calls if a store has a different model from the coordinator's.
///
/// The migration layer implements it; the store layer only declares it, to preserve the order of the layers.
public protocol StoreMigrator: Sendable {
  /// Whether work that can be postponed is left to ``PersistentStoreCoordinator/finishDeferredMigration(within:)``:
  /// false by default.
  var defersWork: Bool { get }

  /// Whether `addStore` leaves the store open during the migration: false by default.
  ///
  /// A migrator that passes its options on to ``AutomaticMigrator`` can return true: the store is then migrated in
  /// place, and used afterward, with the connection that is open. Any other migrator requires that the store is closed.
  var continuesWithOpenStore: Bool { get }

  /// Migrates the store at `url` to `model`, or leaves it unchanged and throws.
  ///
  /// - Parameters:
  ///   - url: The file of the store.
  ///   - model: The target model.
  ///   - registry: Every known version, including the store's if it is known.
  ///   - options: The options for opening the store afterward: timeout, pragmas.
  func migrateStore(at url: URL, to model: ManagedObjectModel, registry: ModelRegistry?, options: StoreOptions) throws

  /// Called by `addStore` for a store that has the coordinator's model already; throwing rejects the store. Does
  /// nothing by default.
  func examineStore(at url: URL, of model: ManagedObjectModel, options: StoreOptions) throws

  /// Called when a store that needed no migration and has parked values was opened for writing; does nothing by
  /// default.
  func maintainStore(
    at url: URL, model: ManagedObjectModel, registry: ModelRegistry?, options: StoreOptions) throws
}

extension StoreMigrator {
  /// False: all work is done before the store is opened.
  public var defersWork: Bool { false }

  /// False: the store is closed while it is migrated.
  public var continuesWithOpenStore: Bool { false }

  /// Accepts every store.
  public func examineStore(at url: URL, of model: ManagedObjectModel, options: StoreOptions) throws {}

  /// Does nothing.
  public func maintainStore(
    at url: URL, model: ManagedObjectModel, registry: ModelRegistry?, options: StoreOptions
  ) throws {}
}

/// A copy of a store created before it is migrated.
///
/// A failed migration leaves the store unchanged by itself. The copy protects against faults that no program can
/// handle, such as a disk that loses acknowledged writes: if the store is damaged after a failure, it is restored from
/// the copy.
///
/// ```swift
/// var options = StoreOptions.automaticMigration
/// options.backup = .kept(at: backups.appendingPathComponent("before-2.0.sqlite"))
/// try coordinator.addStore(at: url, options: options)
/// ```
public enum MigrationBackup: Sendable, Hashable {
  /// A file in a hidden folder beside the store, removed when the migration has ended.
  case removedAfterward
  /// A file that is kept; it must not exist yet.
  case kept(at: URL)
}
