import Observation
import Synchronization

/// Determines whether the current thread is within `withObservationTracking`, for which there is no public function.
///
/// A registrar that isn't observed yet is notified of a read with a key path that contains a ``Signal``. The registrar
/// uses the key path only while the thread tracks reads: it inserts it into a set, and thus asks the signal for its
/// hash. An untracked read costs one check of a thread-local variable, and neither memory nor a lock.
///
/// A registrar that takes part in a tracking becomes that of the object being read, so that it lives as long as the
/// object's observers, and a new one is created for the next object.
///
/// A context has one probe, which is used only within the context's isolation.
package final class ReadProbe {
  /// A registrar that doesn't belong to an object yet.
  // @unchecked Sendable: one probe after another uses it, each within its context's isolation, and only the signal
  // changes. The key path contains nothing but the signal.
  private final class Spare: @unchecked Sendable {
    /// Represents every object.
    struct Subject: Observable {
      subscript(signal: Signal) -> Int { 0 }
    }

    // Declared before the registrar, whose size only the library knows, so that the offsets of these two are constants.
    private let signal: Signal
    private let path: KeyPath<Subject, Int>
    let registrar = ObservationRegistrar()

    init() {
      signal = Signal()
      path = \Subject[signal]
    }

    /// Whether the registrar takes part in a tracking.
    var isUsed: Bool { signal.isHashed.load(ordering: .relaxed) }

    @inline(__always)
    var isCaught: Bool {
      registrar.access(Subject(), keyPath: path)
      return isUsed
    }
  }

  /// The registrar of a probe that has ended. Creating one takes 20,000 instructions, and on a server each request has
  /// a context of its own.
  private static let left = LockProtected<Spare?>(nil)

  /// Records that its hash was requested. Any observer's thread may request it again later.
  private final class Signal: Hashable, Sendable {
    let isHashed = Atomic<Bool>(false)

    static func == (left: Signal, right: Signal) -> Bool { left === right }

    func hash(into hasher: inout Hasher) {
      isHashed.store(true, ordering: .relaxed)
      hasher.combine(ObjectIdentifier(self))
    }
  }

  // Retained manually: counting references would cost each read several times as much as everything else.
  @exclusivity(unchecked) private var spare: Unmanaged<Spare>
  @exclusivity(unchecked) private var pauseCount: Int32 = 0
  /// Whether any object of the context has ever been observed.
  var hasObservedObjects = false

  init() { spare = .passRetained(Self.left.withLock { $0.take() } ?? Spare()) }

  deinit {
    let spare = spare.takeRetainedValue()
    if !spare.isUsed { Self.left.withLock { $0 = spare } }
  }

  /// The probe for objects without a context.
  static let ofLooseObjects = LockProtected(ReadProbe())

  /// Whether the current thread tracks its reads. If so, ``takeRegistrar()`` must be called.
  @inline(__always)
  var isTracking: Bool { pauseCount == 0 && spare._withUnsafeGuaranteedRef { $0.isCaught } }

  /// Whether reads are currently hidden from observers.
  var isPaused: Bool { pauseCount > 0 }

  /// The registrar that takes part in the thread's tracking, for an object that has none.
  func takeRegistrar() -> ObservationRegistrar {
    let caught = spare.takeRetainedValue()
    spare = .passRetained(Spare())
    return caught.registrar
  }

  /// Begins reads for the context's own purposes, such as those of a fetch that compares unsaved values.
  package func pause() { pauseCount += 1 }

  /// Ends the reads begun by ``pause()``.
  package func resume() { pauseCount -= 1 }
}
