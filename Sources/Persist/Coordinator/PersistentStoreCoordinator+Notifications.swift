public import Foundation

extension PersistentStoreCoordinator {
  /// Posted before stores are added or removed, with the keys of ``storesDidChangeNotification``.
  public static let storesWillChangeNotification = Notification.Name("PersistentStoreCoordinatorStoresWillChange")
  /// Posted after stores were added, removed or moved to another file, on the thread that made the change. The object
  /// is the coordinator.
  public static let storesDidChangeNotification = Notification.Name("PersistentStoreCoordinatorStoresDidChange")
  /// Posted before a store is removed, with its ``StoreInfo`` under ``removedPersistentStoresKey``.
  public static let willRemoveStoreNotification = Notification.Name("PersistentStoreCoordinatorWillRemoveStore")

  /// The user info key for the ``StoreInfo``s of the added stores, as an array.
  public static let addedPersistentStoresKey = "added"
  /// The user info key for the ``StoreInfo``s of the removed stores, as an array.
  public static let removedPersistentStoresKey = "removed"
  /// The user info key for the old and new ``StoreInfo`` of a store that changed its identity, as an array of two.
  public static let uuidChangedPersistentStoresKey = "changed"

  func post(_ name: Notification.Name, _ key: String, _ stores: [StoreInfo]) {
    NotificationCenter.default.post(name: name, object: self, userInfo: [key: stores])
  }
}
