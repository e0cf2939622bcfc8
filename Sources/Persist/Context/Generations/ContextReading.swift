/// The way in which a context reads the stores of its coordinator: the state to which it is pinned or its replicas, and
/// its classes. Other contexts that are created from it read the same rows, on any thread.
struct ContextReading: Sendable {
  private let coordinator: PersistentStoreCoordinator
  private let generation: QueryGeneration?
  private let replicas: ReplicaView?
  private let classes: [ManagedObject.Type]
  private let mapping: ManagedObjectClasses.Mapping?
  private let hooks: ManagedObjectContext.Hooks

  init(of context: ManagedObjectContext) {
    coordinator = context.persistentStoreCoordinator
    // A save reads the newest state of the stores.
    generation = context.isReadingNewest ? nil : context.queryGeneration
    replicas = context.isReadingNewest ? nil : context.replicaView
    classes = context.classes
    mapping = context.sharedClasses
    hooks = context.hooks
  }

  /// Creates a context without unsaved changes. If no context has read the pinned state yet, the first one to read
  /// acquires it for all.
  func makeContext(monitor: ReadMonitor?) -> ManagedObjectContext {
    let context = ManagedObjectContext(coordinator, classes: classes, from: mapping, hooks: hooks)
    context.queryGeneration = generation
    context.replicaView = replicas
    context.readMonitor = monitor
    return context
  }
}
