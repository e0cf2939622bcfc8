/// An actor that owns a context and runs on its own thread, so that saving and fetching in it may block.
///
/// Ordinary actors share Swift's threads, so one that waits for another process's lock delays unrelated tasks. The code
/// of a context actor is synchronous, as on the main actor:
///
/// ```swift
/// actor Importer: ContextActor {
///   let contextExecutor: ContextExecutor
///   init(_ container: PersistentContainer) { contextExecutor = ContextExecutor(container) }
///
///   func add(_ name: String) throws -> ManagedObjectID {
///     let item = try context.create("Item")
///     item["name"] = name
///     try context.save()
///     return item.objectID
///   }
/// }
///
/// let id = try await Importer(container).add("Tea")
/// ```
///
/// The counterpart of SwiftData's model actor.
public protocol ContextActor: Actor {
  /// The actor's context and thread. Create it in the actor's initializer, and only for that actor.
  nonisolated var contextExecutor: ContextExecutor { get }
}

extension ContextActor {
  nonisolated public var unownedExecutor: UnownedSerialExecutor { contextExecutor.asUnownedSerialExecutor() }

  /// The actor's context.
  public var context: ManagedObjectContext { contextExecutor.context }
}

/// Runs the code of one ``ContextActor`` on its own thread, which ends after the actor has been idle for a while.
public final class ContextExecutor: SerialExecutor {
  // Unsafe: only `ContextActor.context` reads it, on the actor that this executor was created for; the context is
  // created here and never shared.
  nonisolated(unsafe) fileprivate let context: ManagedObjectContext
  private let threads = ThreadPool(name: "Persist context actor", maximum: 1)

  /// Creates an executor for one actor, with a new context over the container's stores.
  public init(_ container: PersistentContainer) { context = container.newContext() }

  /// Creates an executor for one actor, with a new context over the coordinator's stores.
  public init(_ coordinator: PersistentStoreCoordinator) { context = ManagedObjectContext(coordinator) }

  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    threads.add { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}
