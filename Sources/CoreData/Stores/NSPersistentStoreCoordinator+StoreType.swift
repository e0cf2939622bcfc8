public import Foundation
import Persist

extension NSPersistentStoreCoordinator {
  /// A type of stores.
  public struct StoreType: RawRepresentable, Sendable, Hashable {
    /// The name.
    public let rawValue: String

    /// Creates a type from its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A SQLite file.
    public static let sqlite = Self(rawValue: NSSQLiteStoreType)
    /// A store in memory.
    public static let inMemory = Self(rawValue: NSInMemoryStoreType)
    /// A binary file, which can't be opened here.
    public static let binary = Self(rawValue: NSBinaryStoreType)
    /// An XML file, which can't be opened here.
    public static let xml = Self(rawValue: NSXMLStoreType)
  }

  /// Adds a store, creating or migrating it if necessary.
  ///
  /// - Throws: An error in the domain `NSCocoaErrorDomain`.
  @discardableResult
  public final func addPersistentStore(
    type: StoreType, configuration: String? = nil, at url: URL, options: [AnyHashable: Any]? = nil
  ) throws -> NSPersistentStore {
    try addPersistentStore(ofType: type.rawValue, configurationName: configuration, at: url, options: options)
  }

  /// Reads the metadata of a store without opening it.
  ///
  /// - Throws: An error in the domain `NSCocoaErrorDomain`.
  public class func metadataForPersistentStore(
    type: StoreType, at url: URL, options: [AnyHashable: Any]? = nil
  ) throws -> [String: Any] {
    try metadataForPersistentStore(ofType: type.rawValue, at: url, options: options)
  }

  /// Sets metadata: those of an open store reach its file with the next save, others at once.
  public class func setMetadata(
    _ metadata: [String: Any]?, type: StoreType, at url: URL, options: [AnyHashable: Any]? = nil
  ) throws {
    try setMetadata(metadata, forPersistentStoreOfType: type.rawValue, at: url, options: options)
  }

  /// Deletes a store's files.
  ///
  /// - Throws: An error in the domain `NSCocoaErrorDomain`.
  public final func destroyPersistentStore(
    at url: URL, type: StoreType, options: [AnyHashable: Any]? = nil
  ) throws {
    try destroyPersistentStore(at: url, ofType: type.rawValue, options: options)
  }

  /// Replaces a store's contents by those of another one.
  ///
  /// - Throws: An error in the domain `NSCocoaErrorDomain`.
  public final func replacePersistentStore(
    at destination: URL, destinationOptions: [AnyHashable: Any]? = nil, withPersistentStoreFrom source: URL,
    sourceOptions: [AnyHashable: Any]? = nil, type: StoreType
  ) throws {
    try replacePersistentStore(at: destination, withPersistentStoreFrom: source, ofType: type.rawValue)
  }

  /// Moves an open store to another file or type.
  ///
  /// - Throws: An error in the domain `NSCocoaErrorDomain`.
  @discardableResult
  public final func migratePersistentStore(
    _ store: NSPersistentStore, to url: URL, options: [AnyHashable: Any]? = nil, type: StoreType
  ) throws -> NSPersistentStore {
    try migratePersistentStore(store, to: url, options: options, withType: type.rawValue)
  }
}

extension NSPersistentStoreCoordinator {
  /// Runs a block on the coordinator's queue, later.
  public final func perform<Result, Failure: Error>(
    _ block: @escaping () throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let block = Transferred(block)
    let outcome: Transferred<Swift.Result<Result, Failure>> = await withCheckedContinuation { continuation in
      queue.run {
        do throws(Failure) { continuation.resume(returning: Transferred(.success(try block.value()))) } catch {
          continuation.resume(returning: Transferred(.failure(error)))
        }
      }
    }
    return try outcome.value.get()
  }

  /// Runs a block on the coordinator's queue and waits for it.
  public final func performAndWait<Result>(_ block: () throws -> Result) rethrows -> Result { try queue.wait(block) }
}
