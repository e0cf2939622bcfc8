public import Foundation

// Unchecked: as in Core Data, a description isn't changed while its store is added.
/// A store that a container adds.
open class NSPersistentStoreDescription: NSObject, NSCopying, @unchecked Sendable {
  /// The file.
  open var url: URL?
  /// The type.
  open var type = NSSQLiteStoreType
  /// The name of the model's configuration; nil for the whole model.
  open var configuration: String?
  /// Whether the store is added on another thread.
  open var shouldAddStoreAsynchronously = false
  private var values: [String: NSObject] = [
    NSMigratePersistentStoresAutomaticallyOption: NSNumber(value: true),
    NSInferMappingModelAutomaticallyOption: NSNumber(value: true),
  ]

  /// Describes a SQLite store without a file.
  public override init() { super.init() }

  /// Describes a SQLite store.
  public init(url: URL) { self.url = url }

  /// The options of adding the store.
  open var options: [String: NSObject] { values }

  /// Sets or removes an option.
  open func setOption(_ option: NSObject?, forKey key: String) { values[key] = option }

  /// Whether the store can't be changed.
  open var isReadOnly: Bool {
    get { flag(NSReadOnlyPersistentStoreOption) }
    set { values[NSReadOnlyPersistentStoreOption] = NSNumber(value: newValue) }
  }

  /// The time to wait for other processes, in seconds.
  open var timeout: TimeInterval {
    get { (values[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? 240 }
    set { values[NSPersistentStoreTimeoutOption] = NSNumber(value: newValue) }
  }

  /// SQLite's settings.
  open var sqlitePragmas: [String: NSObject] { values[NSSQLitePragmasOption] as? [String: NSObject] ?? [:] }

  /// Sets or removes one of SQLite's settings.
  open func setValue(_ value: NSObject?, forPragmaNamed name: String) {
    var pragmas = sqlitePragmas
    pragmas[name] = value
    values[NSSQLitePragmasOption] = NSDictionary(dictionary: pragmas)
  }

  /// Whether a store of another version is migrated.
  open var shouldMigrateStoreAutomatically: Bool {
    get { flag(NSMigratePersistentStoresAutomaticallyOption) }
    set { values[NSMigratePersistentStoresAutomaticallyOption] = NSNumber(value: newValue) }
  }

  /// Whether the mapping model is inferred if there is none.
  open var shouldInferMappingModelAutomatically: Bool {
    get { flag(NSInferMappingModelAutomaticallyOption) }
    set { values[NSInferMappingModelAutomaticallyOption] = NSNumber(value: newValue) }
  }

  private func flag(_ key: String) -> Bool { (values[key] as? NSNumber)?.boolValue ?? false }

  /// Returns a copy.
  open func copy(with zone: NSZone? = nil) -> Any {
    let other = NSPersistentStoreDescription()
    (other.url, other.type, other.configuration) = (url, type, configuration)
    other.shouldAddStoreAsynchronously = shouldAddStoreAsynchronously
    other.values = values
    return other
  }
}
