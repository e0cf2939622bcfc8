public import Observation

/// Managed objects take part in Swift's observation: `withObservationTracking` calls its `onChange` for the properties
/// that were read.
extension ManagedObject: Observable {}

extension ManagedObject {
  /// Records that a property was read, for an observer that tracks what the current thread reads.
  @usableFromInline @inline(never)
  final func recordRead(at slot: Int) {
    // Nearly every read ends here, without touching a reference count.
    guard !marks.contains(.observed), let tableReference else { return recordUncommonRead(at: slot) }
    if tableReference._withUnsafeGuaranteedRef({ $0.readProbe.isTracking }) { recordFirstRead(at: slot) }
  }

  final func recordRead(_ property: ObservedProperty) { recordRead(at: property.slot) }

  @inline(never)
  private final func recordFirstRead(at slot: Int) {
    if let table { recordFirstRead(at: slot, table.readProbe.takeRegistrar()) }
  }

  private final func recordFirstRead(at slot: Int, _ registrar: ObservationRegistrar) {
    becomeObserved(by: ObjectObservers(registrar))
    registrar.access(self, keyPath: ObservedProperty(slot: slot).path)
  }

  /// Does the same as ``recordRead(at:)`` for an object that was observed before or has no context.
  @inline(never)
  private final func recordUncommonRead(at slot: Int) {
    guard table?.readProbe.isPaused != true else { return }
    if let observers = observers {
      observers.registrar.access(self, keyPath: ObservedProperty(slot: slot).path)
      return
    }
    // Objects that record a key path's reads can't be observed.
    guard KeyPathRecording.current == nil, !DeclarationRecording.isActive else { return }
    let registrar = ReadProbe.ofLooseObjects.withLock { probe in probe.isTracking ? probe.takeRegistrar() : nil }
    if let registrar { recordFirstRead(at: slot, registrar) }
  }

  /// The observers of the object; nil if it has never been observed.
  final var observers: ObjectObservers? {
    marks.contains(.observed) ? ObservedObjects.observers(of: self) : nil
  }

  /// The observers of the object, created on demand so that another one can be added.
  package final var observersForAdding: ObjectObservers {
    if let observers { return observers }
    let made = ObjectObservers(ObservationRegistrar())
    becomeObserved(by: made)
    return made
  }

  /// Adds the object to the observed ones.
  final func becomeObserved(by observers: ObjectObservers) {
    ObservedObjects.insert(observers, for: self)
    markObserved()
    table?.readProbe.hasObservedObjects = true
  }
}
