#if !canImport(os)
  import Foundation

  // Signposts are recorded by Apple's tools only: here they compile and have no effect.

  /// The kinds of signposts.
  public struct OSSignpostType: Hashable, Sendable {
    private let number: UInt8
    private init(_ number: UInt8) { self.number = number }

    /// A point in time.
    public static let event = Self(0)
    /// The beginning of an interval.
    public static let begin = Self(1)
    /// The end of an interval.
    public static let end = Self(2)
  }

  /// The identity of an interval.
  public struct OSSignpostID: Hashable, Sendable {
    /// The number.
    public let rawValue: UInt64

    /// Creates an identity from its number.
    public init(_ value: UInt64) { rawValue = value }
    /// Creates an identity of its own.
    public init(log: OSLog) { rawValue = .random(in: 1...UInt64.max - 2) }
    /// Creates the identity of an object.
    public init(log: OSLog, object: AnyObject) { rawValue = UInt64(UInt(bitPattern: ObjectIdentifier(object))) }

    /// The identity of intervals that don't overlap.
    public static let exclusive = Self(0)
    /// No identity.
    public static let invalid = Self(UInt64.max)
  }

  /// Marks a point in time or one end of an interval.
  public func os_signpost(
    _ type: OSSignpostType, dso: UnsafeRawPointer? = nil, log: OSLog, name: StaticString,
    signpostID: OSSignpostID = .exclusive
  ) {}

  /// Marks a point in time or one end of an interval.
  public func os_signpost(
    _ type: OSSignpostType, dso: UnsafeRawPointer? = nil, log: OSLog, name: StaticString,
    signpostID: OSSignpostID = .exclusive, _ format: StaticString, _ arguments: any CVarArg...
  ) {}

  /// The state of an interval.
  public struct OSSignpostIntervalState: Sendable {
    fileprivate init() {}
  }

  /// Marks intervals.
  public struct OSSignposter: Sendable {
    /// Marks intervals without a subsystem.
    public init() {}
    /// Marks intervals of a subsystem.
    public init(subsystem: String, category: String) {}
    /// Marks intervals of a destination.
    public init(logHandle: OSLog) {}

    /// Returns an identity of its own.
    public func makeSignpostID() -> OSSignpostID { OSSignpostID(.random(in: 1...UInt64.max - 2)) }
    /// Begins an interval.
    public func beginInterval(_ name: StaticString, id: OSSignpostID = .exclusive) -> OSSignpostIntervalState {
      OSSignpostIntervalState()
    }
    /// Begins an interval.
    public func beginInterval(
      _ name: StaticString, id: OSSignpostID = .exclusive, _ message: OSLogMessage
    ) -> OSSignpostIntervalState {
      OSSignpostIntervalState()
    }
    /// Ends an interval.
    public func endInterval(_ name: StaticString, _ state: OSSignpostIntervalState) {}
    /// Ends an interval.
    public func endInterval(_ name: StaticString, _ state: OSSignpostIntervalState, _ message: OSLogMessage) {}
    /// Marks a point in time.
    public func emitEvent(_ name: StaticString, id: OSSignpostID = .exclusive) {}
    /// Runs a body as an interval.
    public func withIntervalSignpost<Result>(
      _ name: StaticString, id: OSSignpostID = .exclusive, around body: () throws -> Result
    ) rethrows -> Result {
      try body()
    }
  }

  // Unchecked: the value is accessed only while the lock is held.
  /// A value behind a lock.
  public struct OSAllocatedUnfairLock<State>: @unchecked Sendable {
    private final class Storage {
      let lock = NSLock()
      var state: State
      init(_ state: State) { self.state = state }
    }

    private let storage: Storage

    /// Creates a lock with a value.
    public init(initialState: State) { storage = Storage(initialState) }
    /// Creates a lock with a value that isn't Sendable.
    public init(uncheckedState: State) { storage = Storage(uncheckedState) }

    /// Runs a body with the value.
    public func withLock<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
      storage.lock.lock()
      defer { storage.lock.unlock() }
      return try body(&storage.state)
    }

    /// Runs a body with the value.
    public func withLockUnchecked<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
      try withLock(body)
    }

    /// Acquires the lock.
    public func lock() where State == Void { storage.lock.lock() }
    /// Releases the lock.
    public func unlock() where State == Void { storage.lock.unlock() }
  }

  extension OSAllocatedUnfairLock where State == Void {
    /// Creates a lock.
    public init() { self.init(initialState: ()) }

    /// Runs a body while the lock is held.
    public func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
      lock()
      defer { unlock() }
      return try body()
    }
  }
#endif
