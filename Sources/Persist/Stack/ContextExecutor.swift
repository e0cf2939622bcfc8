/// An actor that owns a context and runs on a thread of its own, so that saving and fetching in it may block.
///
/// An ordinary actor shares Swift's threads: one that waits for another process's lock there holds up tasks that have
/// nothing to do with it. What a context actor does is synchronous code as on the main actor:
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
/// It is what SwiftData calls a model actor.
public protocol ContextActor: Actor {
  /// The actor's context and thread. Made in the actor's initialiser, and for this actor alone.
  nonisolated var contextExecutor: ContextExecutor { get }
}

extension ContextActor {
  nonisolated public var unownedExecutor: UnownedSerialExecutor { contextExecutor.asUnownedSerialExecutor() }

  /// The context that belongs to the actor.
  public var context: ManagedObjectContext { contextExecutor.context }
}

/// Runs the code of one ``ContextActor`` on a thread of its own, which ends when the actor has been idle for a while.
public final class ContextExecutor: SerialExecutor {
  // Unsafe: only `ContextActor.context` reads it, on the actor that this executor was made for; the context has been
  // made here and was given to nobody else.
  nonisolated(unsafe) fileprivate let context: ManagedObjectContext
  private let threads = ThreadPool(name: "Persist context actor", maximum: 1)

  /// An executor for one actor, with a new context over the container's stores.
  public convenience init(_ container: PersistentContainer) { self.init(container.persistentStoreCoordinator) }

  /// An executor for one actor, with a new context over the coordinator's stores.
  public init(_ coordinator: PersistentStoreCoordinator) { context = ManagedObjectContext(coordinator) }

  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    threads.add { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}
