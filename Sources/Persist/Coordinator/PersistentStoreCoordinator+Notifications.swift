public import Foundation

extension PersistentStoreCoordinator {
  private static let notifications = NotificationGroup(prefix: "PersistentStoreCoordinator")

  /// Posted before stores are added, removed or moved, with the keys of ``storesDidChangeNotification``. Before
  /// ``migratePersistentStore(_:to:options:)``, which may fail, only the old store is known, as a removed one.
  ///
  /// Posting starts when the process first accesses this name, ``storesDidChangeNotification`` or
  /// ``willRemoveStoreNotification``.
  public static var storesWillChangeNotification: Notification.Name { notifications.name("StoresWillChange") }
  /// Posted after stores were added, removed or moved to another file, on the thread that made the change. The object
  /// is the coordinator.
  ///
  /// A store moved by ``migratePersistentStore(_:to:options:)`` is another one afterward: the old one is under
  /// ``removedPersistentStoresKey``, the new one under ``addedPersistentStoresKey``, and both are under
  /// ``uuidChangedPersistentStoresKey``. ``setURL(_:for:)`` keeps the store, which is only under the last key.
  public static var storesDidChangeNotification: Notification.Name { notifications.name("StoresDidChange") }
  /// Posted before a store is removed, with its ``StoreInfo`` under ``removedPersistentStoresKey``.
  public static var willRemoveStoreNotification: Notification.Name { notifications.name("WillRemoveStore") }

  /// The user info key for the ``StoreInfo``s of the added stores, as an array.
  public static let addedPersistentStoresKey = "added"
  /// The user info key for the ``StoreInfo``s of the removed stores, as an array.
  public static let removedPersistentStoresKey = "removed"
  /// The user info key for the old and new ``StoreInfo`` of a store that changed its identity, as an array of two.
  public static let uuidChangedPersistentStoresKey = "changed"

  /// - Parameter name: Evaluated, and so accessed, only if the notifications are wanted.
  @inline(never)
  package func post(_ name: @autoclosure () -> Notification.Name, under key: String, stores: [StoreInfo]) {
    if Self.notifications.isWanted { post(name(), [key: stores]) }
  }

  package func post(_ name: @autoclosure () -> Notification.Name, _ stores: [String: [StoreInfo]]) {
    guard Self.notifications.isWanted else { return }
    NotificationCenter.default.post(name: name(), object: self, userInfo: stores)
  }
}
