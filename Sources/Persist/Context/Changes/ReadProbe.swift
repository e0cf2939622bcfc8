import Observation
import Synchronization

/// Finds out whether the current thread is within `withObservationTracking`, which no public function tells.
///
/// A registrar that nothing has observed yet is told of a read under a key path that holds a ``Signal``. Only while the
/// thread tracks does the registrar have anything to do with the key path: it enters it into a set, and so asks the
/// signal for its hash. A read that nobody tracks costs a look at a variable of the thread, and neither memory nor a
/// lock.
///
/// The registrar that has been caught in a tracking becomes that of the object that was read, so that it lives for as
/// long as the object's observers, and the next object finds a new one.
///
/// A context has one, which is used within its isolation as all that is its own.
final class ReadProbe {
  /// A registrar that belongs to no object yet.
  private final class Spare {
    /// Stands for every object.
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

    @inline(__always)
    var isCaught: Bool {
      registrar.access(Subject(), keyPath: path)
      return signal.isHashed.load(ordering: .relaxed)
    }
  }

  /// Notes that it was asked for its hash. Afterwards the thread of any observer may ask again.
  private final class Signal: Hashable, Sendable {
    let isHashed = Atomic<Bool>(false)

    static func == (left: Signal, right: Signal) -> Bool { left === right }

    func hash(into hasher: inout Hasher) {
      isHashed.store(true, ordering: .relaxed)
      hasher.combine(ObjectIdentifier(self))
    }
  }

  // Held by hand: counting the reference would cost each read several times what the rest does.
  @exclusivity(unchecked) private var spare = Unmanaged.passRetained(Spare())
  @exclusivity(unchecked) private var pauseCount: Int32 = 0
  /// Whether any object of the context has ever been observed.
  var hasObservedObjects = false

  deinit { spare.release() }

  /// Serves the objects that belong to no context.
  static let ofLooseObjects = LockProtected(ReadProbe())

  /// Whether the current thread tracks what it reads. If so, ``takeRegistrar()`` is to be called.
  @inline(__always)
  var isTracking: Bool { pauseCount == 0 && spare._withUnsafeGuaranteedRef { $0.isCaught } }

  /// Whether what is read now is none of an observer's business.
  var isPaused: Bool { pauseCount > 0 }

  /// The registrar that takes part in the thread's tracking, for an object that has none.
  func takeRegistrar() -> ObservationRegistrar {
    let caught = spare.takeRetainedValue()
    spare = .passRetained(Spare())
    return caught.registrar
  }

  /// Begins what reads objects for the context's own purposes, as a fetch does that compares unsaved values.
  func pause() { pauseCount += 1 }

  /// Ends what ``pause()`` began.
  func resume() { pauseCount -= 1 }
}
