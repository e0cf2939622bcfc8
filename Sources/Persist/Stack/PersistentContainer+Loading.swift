public import Foundation

extension PersistentContainer {
  /// Opens every store of ``persistentStoreDescriptions`` that isn't open yet. Creates stores and their folders if they
  /// don't exist, and migrates stores with another model.
  ///
  /// If a store can't be opened, those opened before it stay open; another call continues with the rest.
  ///
  /// - Throws: The errors of ``PersistentStoreCoordinator/addStore(at:options:)``; ``PersistenceError/Code/fileAccess``
  ///   if the folder can't be created; ``PersistenceError/Code/storeTypeMismatch`` for an unknown store type.
  public func loadPersistentStores() throws {
    for description in persistentStoreDescriptions { try load(description) }
  }

  /// Opens the stores on one of the container's threads, since a migration may take time.
  ///
  /// - Throws: The errors of the blocking call.
  public func loadPersistentStores() async throws {
    try await persistentStoreCoordinator.threads.background.run { try self.loadPersistentStores() }
  }

  private func load(_ description: PersistentStoreDescription) throws {
    switch description.isInMemory ? StoreType.inMemory : description.type {
    case .inMemory:
      let stores = persistentStoreCoordinator.persistentStores
      if stores.contains(where: { $0.type == .inMemory && $0.configuration == description.configuration }) {
        return
      }
      try persistentStoreCoordinator.addInMemoryStore(options: description.options)
    case .sqlite, .postgreSQL:
      guard let url = description.url, description.location != .memory else {
        throw PersistenceError(
          .fileAccess, "The description of a store in a file or on a server has no URL.",
          fix: "Give it a URL, or the type inMemory.")
      }
      guard persistentStoreCoordinator.store(at: url) == nil else { return }
      if url.isFileURL, !description.isReadOnly { try Self.makeFolder(of: url) }
      try persistentStoreCoordinator.addStore(description.location, options: description.options)
    default:
      let types = PersistentStoreCoordinator.registeredStoreTypes
      throw PersistenceError(
        .storeTypeMismatch, at: .store(description.url), "There are no stores of the type '\(description.type)'.",
        fix: "The types are \(types.map(\.rawValue).joined(separator: ", ")).")
    }
  }

  private static func makeFolder(of url: URL) throws {
    let folder = url.deletingLastPathComponent()
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      throw PersistenceError(
        .fileAccess, at: .file(folder), "The store's folder can't be created: \(error.localizedDescription)")
    }
  }

  /// The default folder for stores: a folder with the program's name in the platform's application data folder. It is
  /// created with the first store.
  ///
  /// | platform | folder |
  /// |---|---|
  /// | Linux and others | `$XDG_DATA_HOME/<program>`, `~/.local/share/<program>` |
  /// | macOS | `~/Library/Application Support/<program>` |
  /// | Windows | `%LOCALAPPDATA%\<program>` |
  /// | iOS, tvOS, watchOS, visionOS | the application's own `Library/Application Support` |
  ///
  /// - SeeAlso: <https://specifications.freedesktop.org/basedir-spec/latest/>
  public static func defaultDirectoryURL() -> URL {
    dataFolder(environment: ProcessInfo.processInfo.environment)
  }

  static func dataFolder(environment: [String: String]) -> URL {
    let program = ProcessInfo.processInfo.processName
    #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
      return platformFolder
    #elseif os(macOS)
      return platformFolder.appendingPathComponent(program, isDirectory: true)
    #elseif os(Windows)
      let local = environment["LOCALAPPDATA"].map { URL(fileURLWithPath: $0, isDirectory: true) }
      return (local ?? platformFolder).appendingPathComponent(program, isDirectory: true)
    #else
      // The specification requires relative paths to be ignored as invalid.
      let given = environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
      let home = environment["HOME"] ?? NSHomeDirectory()
      return URL(fileURLWithPath: given ?? "\(home)/.local/share", isDirectory: true)
        .appendingPathComponent(program, isDirectory: true)
    #endif
  }

  #if canImport(Darwin) || os(Windows)
    private static var platformFolder: URL {
      FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
        ?? FileManager.default.temporaryDirectory
    }
  #endif
}
