public import Foundation

extension PersistentStoreCoordinator {
  /// Posted before stores are added or removed, with the keys of ``storesDidChangeNotification``.
  public static let storesWillChangeNotification = Notification.Name("PersistentStoreCoordinatorStoresWillChange")
  /// Posted after stores were added or removed, or went on in another file, by the thread that did it. The object is
  /// the coordinator.
  public static let storesDidChangeNotification = Notification.Name("PersistentStoreCoordinatorStoresDidChange")
  /// Posted before a store is removed, with its ``StoreInfo`` under ``removedPersistentStoresKey``.
  public static let willRemoveStoreNotification = Notification.Name("PersistentStoreCoordinatorWillRemoveStore")

  /// Under this key user info has the ``StoreInfo``s of the stores that were added, as an array.
  public static let addedPersistentStoresKey = "added"
  /// Under this key user info has the ``StoreInfo``s of the stores that were removed, as an array.
  public static let removedPersistentStoresKey = "removed"
  /// Under this key user info has the former and the present ``StoreInfo`` of a store that changed its identity, as an
  /// array of two.
  public static let uuidChangedPersistentStoresKey = "changed"

  func post(_ name: Notification.Name, _ key: String, _ stores: [StoreInfo]) {
    NotificationCenter.default.post(name: name, object: self, userInfo: [key: stores])
  }
}
