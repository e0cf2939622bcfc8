public import Foundation
import Persist

/// A SQLite file.
public let NSSQLiteStoreType = "SQLite"
/// A store in memory.
public let NSInMemoryStoreType = "InMemory"
/// A binary file, which can't be opened here.
public let NSBinaryStoreType = "Binary"
/// An XML file, which can't be opened here.
public let NSXMLStoreType = "XML"

/// The key of the type in metadata.
public let NSStoreTypeKey = "NSStoreType"
/// The key of the entities' hashes in metadata.
public let NSStoreModelVersionHashesKey = "NSStoreModelVersionHashes"
/// The key of the model's version identifiers in metadata.
public let NSStoreModelVersionIdentifiersKey = "NSStoreModelVersionIdentifiers"

/// The option that migrates a store of another version.
public let NSMigratePersistentStoresAutomaticallyOption = "NSMigratePersistentStoresAutomaticallyOption"
/// The option that infers the mapping model if there is none.
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"
/// The option that opens a store without changing it.
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"
/// The option for how long to wait for other processes, in seconds.
public let NSPersistentStoreTimeoutOption = "NSPersistentStoreTimeoutOption"
/// The option for SQLite's settings, a dictionary.
public let NSSQLitePragmasOption = "NSSQLitePragmasOption"
/// The option that analyzes indexes. Without effect here.
public let NSSQLiteAnalyzeOption = "NSSQLiteAnalyzeOption"
/// The option that compacts the file. Without effect here.
public let NSSQLiteManualVacuumOption = "NSSQLiteManualVacuumOption"
/// The option that opens a store of another version as it is. Without effect here.
public let NSIgnorePersistentStoreVersioningOption = "NSIgnorePersistentStoreVersioningOption"
/// The option for the file's protection. Without effect here.
public let NSPersistentStoreFileProtectionKey = "NSPersistentStoreFileProtectionKey"
/// The option that records a history of changes.
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"
/// The option that destroys a store in use. Without effect here.
public let NSPersistentStoreForceDestroyOption = "NSPersistentStoreForceDestroyOption"
/// The option for the number of connections. Without effect here.
public let NSPersistentStoreConnectionPoolMaxSizeKey = "NSPersistentStoreConnectionPoolMaxSize"
/// The option for the stages of a migration, an ``NSStagedMigrationManager``.
public let NSPersistentStoreStagedMigrationManagerOptionKey = "NSPersistentStoreStagedMigrationManagerOptionKey"
/// The option that postpones parts of a migration. Without effect here.
public let NSPersistentStoreDeferredLightweightMigrationOptionKey =
  "NSPersistentStoreDeferredLightweightMigrationOptionKey"
/// The key of added stores in notifications.
public let NSAddedPersistentStoresKey = "added"
/// The key of removed stores in notifications.
public let NSRemovedPersistentStoresKey = "removed"
/// The key of stores whose identifiers changed in notifications.
public let NSUUIDChangedPersistentStoresKey = "changed"

/// The key of the checksum of the model's version in metadata and in the options of staged migrations.
public let NSPersistentStoreModelVersionChecksumKey = "NSPersistentStoreModelVersionChecksumKey"
/// The option for the classes that a binary store may contain. Without effect here.
public let NSBinaryStoreSecureDecodingClasses = "NSBinaryStoreSecureDecodingClasses"
/// The option that opens old binary stores. Without effect here.
public let NSBinaryStoreInsecureDecodingCompatibilityOption = "NSBinaryStoreInsecureDecodingCompatibilityOption"
/// The option that validates an XML store. Without effect here.
public let NSValidateXMLStoreOption = "NSValidateXMLStoreOption"
/// The key of the oldest version of the operating system in metadata.
public let NSPersistentStoreOSCompatibility = "NSPersistentStoreOSCompatibility"

// Unchecked: what changes is behind the coordinator's lock.
/// An open store.
open class NSPersistentStore: NSObject, @unchecked Sendable {
  /// The coordinator; nil after it is gone.
  public private(set) weak var persistentStoreCoordinator: NSPersistentStoreCoordinator?
  /// The options that the store was added with.
  public let options: [AnyHashable: Any]?
  let info: StoreInfo?

  init(_ info: StoreInfo, of coordinator: NSPersistentStoreCoordinator, options: [AnyHashable: Any]?) {
    self.info = info
    self.options = options
    persistentStoreCoordinator = coordinator
    super.init()
    OpenStores.add(self)
  }

  /// The type.
  open var type: String { info?.type.rawValue ?? "" }
  /// The file; for a store in memory, a URL with its identifier.
  open var url: URL? {
    get { info?.url ?? (type == NSInMemoryStoreType ? URL(string: "memory://\(identifier ?? "")") : nil) }
    set { if let newValue { _ = persistentStoreCoordinator?.setURL(newValue, for: self) } }
  }
  /// The identifier in the metadata.
  open var identifier: String! { info?.identifier ?? "" }
  /// Whether the store can't be changed.
  open var isReadOnly: Bool { info?.isReadOnly ?? false }
  /// The name of the model's configuration; `PF_DEFAULT_CONFIGURATION_NAME` for the whole model.
  open var configurationName: String { info?.configuration ?? "PF_DEFAULT_CONFIGURATION_NAME" }

  /// Reads the metadata of a store without opening it.
  ///
  /// - Throws: An error in the domain `NSCocoaErrorDomain`.
  open class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url)
  }

  /// Sets the metadata of a store without opening it.
  ///
  /// - Throws: An error in the domain `NSCocoaErrorDomain`.
  open class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
    try NSPersistentStoreCoordinator.setMetadata(metadata, forPersistentStoreOfType: NSSQLiteStoreType, at: url)
  }

  /// The metadata, which the next save stores.
  open var metadata: [String: Any]! {
    get { persistentStoreCoordinator?.metadata(for: self) ?? [:] }
    set { persistentStoreCoordinator?.setMetadata(newValue, for: self) }
  }

  open override func isEqual(_ other: Any?) -> Bool { (other as? NSPersistentStore)?.identifier == identifier }
  open override var hash: Int { identifier.hashValue }
}

/// Metadata as a dictionary.
enum MetadataDictionary {
  static func dictionary(_ metadata: StoreMetadata) -> [String: Any] {
    var values = metadata.values.compactMapValues(any)
    values[NSStoreUUIDKey] = metadata.identifier
    return values
  }

  static func metadata(_ values: [String: Any], over old: StoreMetadata) -> StoreMetadata {
    var metadata = old
    for key in old.values.keys where values[key] == nil { metadata.values[key] = nil }
    for (key, value) in values where key != NSStoreUUIDKey { metadata.values[key] = propertyList(value) }
    return old.replacingApplicationValues(by: metadata)
  }

  private static func any(_ value: PropertyList) -> Any? {
    switch value {
    case .boolean(let value): NSNumber(value: value)
    case .integer(let value): NSNumber(value: value)
    case .unsigned(let value): NSNumber(value: value)
    case .real(let value): NSNumber(value: value)
    case .string(let value): value
    case .date(let value): value
    case .data(let value): value
    case .array(let values): values.compactMap(any)
    case .dictionary(let values): values.compactMapValues(any)
    case .uid(let value): NSNumber(value: value)
    case .null: nil
    }
  }

  private static func propertyList(_ value: Any) -> PropertyList? {
    switch value {
    case let value as String: return .string(value)
    case let value as Date: return .date(value)
    case let value as Data: return .data(value)
    case let value as Bool where Swift.type(of: value) == Bool.self: return .boolean(value)
    case let value as Double where Swift.type(of: value) == Double.self: return .real(value)
    case let number as NSNumber:
      return number.doubleValue == Double(number.int64Value) ? .integer(number.int64Value) : .real(number.doubleValue)
    case let values as [String: Any]: return .dictionary(values.compactMapValues(propertyList))
    case let values as [Any]: return .array(values.compactMap(propertyList))
    default: return nil
    }
  }
}
