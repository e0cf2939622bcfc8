import Foundation
import Persist

extension StoreOptions {
  /// Reads Core Data's dictionary of options.
  ///
  /// - Parameter model: The model that the store is opened with.
  init(_ options: [AnyHashable: Any]?, configuration: String?, model: NSManagedObjectModel) throws {
    self.init()
    self.configuration = configuration == "PF_DEFAULT_CONFIGURATION_NAME" ? nil : configuration
    guard let options else { return }
    isReadOnly = Self.flag(options[NSReadOnlyPersistentStoreOption])
    tracksHistory = Self.flag(options[NSPersistentHistoryTrackingKey])
    postsRemoteChangeNotifications = Self.flag(options[NSPersistentStoreRemoteChangeNotificationPostOptionKey])
    if let seconds = options[NSPersistentStoreTimeoutOption] as? NSNumber {
      busyTimeout = .milliseconds(Int64(seconds.doubleValue * 1000))
    }
    if let pragmas = options[NSSQLitePragmasOption] as? [String: Any] {
      self.pragmas = pragmas.mapValues { "\($0)" }
    }
    if let staged = options[NSPersistentStoreStagedMigrationManagerOptionKey] as? NSStagedMigrationManager {
      migrator = try staged.migrator(to: model)
    } else if Self.flag(options[NSMigratePersistentStoresAutomaticallyOption]) {
      var automatic = AutomaticMigrator()
      automatic.infersMapping = Self.flag(options[NSInferMappingModelAutomaticallyOption])
      automatic.managerFactory = { MigrationManagerBridge.automatic($0, $1) }
      automatic.policies = MigrationPolicyBridge.policies
      migrator = automatic
    }
  }

  private static func flag(_ value: Any?) -> Bool {
    switch value {
    case let value as Bool: value
    case let number as NSNumber: number.boolValue
    case is NSDictionary: true
    default: false
    }
  }
}
