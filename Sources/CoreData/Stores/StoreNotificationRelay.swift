import Foundation
import Persist

/// Posts a coordinator's notifications under Core Data's names.
// Unchecked: immutable after its creation.
final class StoreNotificationRelay: @unchecked Sendable {
  private var observers: [any NSObjectProtocol] = []

  init(_ coordinator: NSPersistentStoreCoordinator) {
    let names: [(Notification.Name, Notification.Name)] = [
      (PersistentStoreCoordinator.storesWillChangeNotification, .NSPersistentStoreCoordinatorStoresWillChange),
      (PersistentStoreCoordinator.storesDidChangeNotification, .NSPersistentStoreCoordinatorStoresDidChange),
      (PersistentStoreCoordinator.willRemoveStoreNotification, .NSPersistentStoreCoordinatorWillRemoveStore),
      (PersistentStoreCoordinator.remoteStoreDidChangeNotification, .NSPersistentStoreRemoteChange),
    ]
    let weak = Transferred(Weak(coordinator))
    observers = names.map { own, name in
      NotificationCenter.default.addObserver(forName: own, object: coordinator.base, queue: nil) { notification in
        guard let coordinator = weak.value.object else { return }
        var info = notification.userInfo ?? [:]
        for (key, value) in info {
          if let token = value as? HistoryToken { info[key] = NSPersistentHistoryToken(token) }
          if let stores = value as? [StoreInfo] {
            info[key] = stores.map { NSPersistentStore($0, of: coordinator, options: nil) }
          }
        }
        if let uuid = info[PersistentStoreCoordinator.storeUUIDKey] { info[NSStoreUUIDKey] = uuid }
        NotificationCenter.default.post(name: name, object: coordinator, userInfo: info)
      }
    }
  }

  deinit { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
}
