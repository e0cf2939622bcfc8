public import Foundation
import Persist

public let NSSQLiteStoreType = "SQLite"
public let NSInMemoryStoreType = "InMemory"
public let NSBinaryStoreType = "Binary"
public let NSXMLStoreType = "XML"

public let NSStoreTypeKey = "NSStoreType"
public let NSStoreModelVersionHashesKey = "NSStoreModelVersionHashes"
public let NSStoreModelVersionIdentifiersKey = "NSStoreModelVersionIdentifiers"

public let NSMigratePersistentStoresAutomaticallyOption = "NSMigratePersistentStoresAutomaticallyOption"
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"
public let NSPersistentStoreTimeoutOption = "NSPersistentStoreTimeoutOption"
public let NSSQLitePragmasOption = "NSSQLitePragmasOption"
public let NSSQLiteAnalyzeOption = "NSSQLiteAnalyzeOption"
public let NSSQLiteManualVacuumOption = "NSSQLiteManualVacuumOption"
public let NSIgnorePersistentStoreVersioningOption = "NSIgnorePersistentStoreVersioningOption"
public let NSPersistentStoreFileProtectionKey = "NSPersistentStoreFileProtectionKey"
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"
public let NSPersistentStoreForceDestroyOption = "NSPersistentStoreForceDestroyOption"
public let NSPersistentStoreConnectionPoolMaxSizeKey = "NSPersistentStoreConnectionPoolMaxSize"
public let NSPersistentStoreStagedMigrationManagerOptionKey = "NSPersistentStoreStagedMigrationManagerOptionKey"
public let NSPersistentStoreDeferredLightweightMigrationOptionKey =
  "NSPersistentStoreDeferredLightweightMigrationOptionKey"
public let NSAddedPersistentStoresKey = "added"
public let NSRemovedPersistentStoresKey = "removed"
public let NSUUIDChangedPersistentStoresKey = "changed"

/// An open store.
// Unchecked: what changes is behind the coordinator's lock.
open class NSPersistentStore: NSObject, @unchecked Sendable {
  public private(set) weak var persistentStoreCoordinator: NSPersistentStoreCoordinator?
  public let options: [AnyHashable: Any]?
  let info: StoreInfo?

  init(_ info: StoreInfo, of coordinator: NSPersistentStoreCoordinator, options: [AnyHashable: Any]?) {
    self.info = info
    self.options = options
    persistentStoreCoordinator = coordinator
    super.init()
    OpenStores.add(self)
  }

  open var type: String { info?.type.rawValue ?? "" }
  open var url: URL? { info?.url ?? (type == NSInMemoryStoreType ? URL(string: "memory://\(identifier ?? "")") : nil) }
  open var identifier: String! { info?.identifier ?? "" }
  open var isReadOnly: Bool { info?.isReadOnly ?? false }
  open var configurationName: String { info?.configuration ?? "PF_DEFAULT_CONFIGURATION_NAME" }

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
