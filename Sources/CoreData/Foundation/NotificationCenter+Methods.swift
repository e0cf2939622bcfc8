public import Foundation

// Observers whose methods are called, which Objective-C finds by their selectors. The source pass puts references to
// the methods in the place of selectors.
extension NotificationCenter {
  /// Calls a method of an observer for notifications as long as the observer exists.
  public func addObserver<Observer: AnyObject>(
    _ observer: Observer, calling method: @escaping (Observer) -> (Notification) -> Void,
    name: Notification.Name?, object: Any?
  ) {
    MethodObservers.add(observer, to: self, name: name, object: object) { method($0)($1) }
  }

  /// Calls a method of an observer for notifications as long as the observer exists.
  public func addObserver<Observer: AnyObject>(
    _ observer: Observer, calling method: @escaping (Observer) -> (NSNotification) -> Void,
    name: Notification.Name?, object: Any?
  ) {
    MethodObservers.add(observer, to: self, name: name, object: object) { method($0)($1 as NSNotification) }
  }

  /// Calls a method of an observer for notifications as long as the observer exists.
  public func addObserver<Observer: AnyObject>(
    _ observer: Observer, calling method: @escaping (Observer) -> () -> Void, name: Notification.Name?, object: Any?
  ) {
    MethodObservers.add(observer, to: self, name: name, object: object) { observer, _ in method(observer)() }
  }

  /// Ends all observations of an observer, whether its methods are called or it is the token of a block.
  public func removeObserver<Observer: AnyObject>(_ observer: Observer) {
    MethodObservers.remove(observer, from: self, name: nil, object: nil)
    removeObserver(observer as Any)
  }

  /// Ends observations of an observer, whether its methods are called or it is the token of a block.
  public func removeObserver<Observer: AnyObject>(_ observer: Observer, name: Notification.Name?, object: Any?) {
    MethodObservers.remove(observer, from: self, name: name, object: object)
    removeObserver(observer as Any, name: name, object: object)
  }
}

/// The observations of objects whose methods are called.
private enum MethodObservers {
  // Unchecked: used only while the lock is held; the observers' code guards its own state, as on Apple's platforms.
  private struct Entry: @unchecked Sendable {
    weak var observer: AnyObject?
    let center: NotificationCenter
    let name: Notification.Name?
    let object: ObjectIdentifier?
    let token: any NSObjectProtocol
  }

  private static let entries = Locked<[ObjectIdentifier: [Entry]]>([:])

  static func add<Observer: AnyObject>(
    _ observer: Observer, to center: NotificationCenter, name: Notification.Name?, object: Any?,
    _ call: @escaping (Observer, Notification) -> Void
  ) {
    let call = Transferred(call)
    let weak = Transferred(Weak(observer))
    let token = center.addObserver(forName: name, object: object, queue: nil) { notification in
      if let observer = weak.value.object { call.value(observer, notification) }
    }
    let entry = Entry(
      observer: observer, center: center, name: name, object: object.map { ObjectIdentifier($0 as AnyObject) },
      token: token)
    let gone = entries.withLock { entries in
      let gone = entries.values.flatMap { $0.filter { $0.observer == nil } }
      if !gone.isEmpty { entries = entries.mapValues { $0.filter { $0.observer != nil } }.filter { !$0.value.isEmpty } }
      entries[ObjectIdentifier(observer), default: []].append(entry)
      return gone
    }
    for entry in gone { entry.center.removeObserver(entry.token as Any) }
  }

  static func remove(_ observer: AnyObject, from center: NotificationCenter, name: Notification.Name?, object: Any?) {
    let id = object.map { ObjectIdentifier($0 as AnyObject) }
    let removed = entries.withLock { entries in
      let own = entries[ObjectIdentifier(observer)] ?? []
      func ends(_ entry: Entry) -> Bool {
        entry.center === center && (name == nil || entry.name == name) && (id == nil || entry.object == id)
      }
      let kept = own.filter { !ends($0) }
      entries[ObjectIdentifier(observer)] = kept.isEmpty ? nil : kept
      return own.filter(ends)
    }
    for entry in removed { entry.center.removeObserver(entry.token as Any) }
  }
}
