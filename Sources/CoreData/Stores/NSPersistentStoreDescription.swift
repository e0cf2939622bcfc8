public import Foundation

// Unchecked: as in Core Data, a description isn't changed while its store is added.
open class NSPersistentStoreDescription: NSObject, NSCopying, @unchecked Sendable {
  open var url: URL?
  open var type = NSSQLiteStoreType
  open var configuration: String?
  open var shouldAddStoreAsynchronously = false
  private var values: [String: NSObject] = [
    NSMigratePersistentStoresAutomaticallyOption: NSNumber(value: true),
    NSInferMappingModelAutomaticallyOption: NSNumber(value: true),
  ]

  public override init() { super.init() }

  public init(url: URL) { self.url = url }

  open var options: [String: NSObject] { values }

  open func setOption(_ option: NSObject?, forKey key: String) { values[key] = option }

  open var isReadOnly: Bool {
    get { flag(NSReadOnlyPersistentStoreOption) }
    set { values[NSReadOnlyPersistentStoreOption] = NSNumber(value: newValue) }
  }

  open var timeout: TimeInterval {
    get { (values[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? 240 }
    set { values[NSPersistentStoreTimeoutOption] = NSNumber(value: newValue) }
  }

  open var sqlitePragmas: [String: NSObject] { values[NSSQLitePragmasOption] as? [String: NSObject] ?? [:] }

  open func setValue(_ value: NSObject?, forPragmaNamed name: String) {
    var pragmas = sqlitePragmas
    pragmas[name] = value
    values[NSSQLitePragmasOption] = NSDictionary(dictionary: pragmas)
  }

  open var shouldMigrateStoreAutomatically: Bool {
    get { flag(NSMigratePersistentStoresAutomaticallyOption) }
    set { values[NSMigratePersistentStoresAutomaticallyOption] = NSNumber(value: newValue) }
  }

  open var shouldInferMappingModelAutomatically: Bool {
    get { flag(NSInferMappingModelAutomaticallyOption) }
    set { values[NSInferMappingModelAutomaticallyOption] = NSNumber(value: newValue) }
  }

  private func flag(_ key: String) -> Bool { (values[key] as? NSNumber)?.boolValue ?? false }

  open func copy(with zone: NSZone? = nil) -> Any {
    let other = NSPersistentStoreDescription()
    (other.url, other.type, other.configuration) = (url, type, configuration)
    other.shouldAddStoreAsynchronously = shouldAddStoreAsynchronously
    other.values = values
    return other
  }
}
