import Observation

/// The registrars of the objects that have been observed.
///
/// Few objects ever are. Their registrars are found by the objects' addresses, so that objects need no field for them;
/// a mark shows which objects have one. An object removes itself when it is deallocated.
enum ObservedObjects {
  private static let observers = LockProtected<[ObjectIdentifier: ObjectObservers]>(Dictionary())

  static func observers(of object: ManagedObject) -> ObjectObservers? {
    let id = ObjectIdentifier(object)
    return observers.withLock { $0[id] }
  }

  static func insert(_ observers: ObjectObservers, for object: ManagedObject) {
    let id = ObjectIdentifier(object)
    Self.observers.withLock { $0[id] = observers }
  }

  static func remove(_ id: ObjectIdentifier) {
    // Released without the lock, because observers may hold other objects.
    withExtendedLifetime(observers.withLock { $0.removeValue(forKey: id) }) {}
  }
}

/// An observation of an object that doesn't track reads; it ends when it is released.
package final class ObjectObservation {
  let receive: (Set<ObservedProperty>) -> Void
  /// Called when the object has left its context.
  let end: () -> Void

  package init(receive: @escaping (Set<ObservedProperty>) -> Void, end: @escaping () -> Void) {
    self.receive = receive
    self.end = end
  }
}

/// The observers of one object.
///
/// `@unchecked Sendable`: the registrar is Sendable, and the observations are accessed only within the isolation of the
/// object's context. The table with the observers of all objects is shared by all isolations.
package final class ObjectObservers: @unchecked Sendable {
  let registrar: ObservationRegistrar
  private var observations: [WeakObservation] = []

  private struct WeakObservation {
    weak var observation: ObjectObservation?
  }

  init(_ registrar: ObservationRegistrar) { self.registrar = registrar }

  package func add(_ observation: ObjectObservation) {
    observations.removeAll { $0.observation == nil }
    observations.append(WeakObservation(observation: observation))
  }

  /// Notifies every observer of changes to the object's properties.
  func notify(_ changed: Set<ObservedProperty>, of object: ManagedObject) {
    for property in changed { registrar.willSet(object, keyPath: property.path) }
    registrar.willSet(object, keyPath: ObservedProperty.whole.path)
    for observer in observations { observer.observation?.receive(changed) }
  }

  /// Notifies the observers that the object has left its context permanently.
  func objectHasLeft() {
    for observer in observations { observer.observation?.end() }
  }
}
