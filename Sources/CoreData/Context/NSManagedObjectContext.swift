public import Foundation
public import Persist

/// The kind of a context's queue.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
  /// No queue; treated as a private one.
  case confinementConcurrencyType = 0
  /// A queue of the context's own.
  case privateQueueConcurrencyType = 1
  /// The main queue.
  case mainQueueConcurrencyType = 2

  /// A queue of the context's own, under its newer name.
  public static let privateQueue = Self.privateQueueConcurrencyType
  /// The main queue, under its newer name.
  public static let mainQueue = Self.mainQueueConcurrencyType
}

// Unchecked: as in Core Data, the context's queue guards it, which code enters with `perform` and `performAndWait`.
/// A context of Persist's with a queue, as Core Data's contexts have.
open class NSManagedObjectContext: NSObject, @unchecked Sendable {
  /// The kind of a context's queue, under its newer name.
  public typealias ConcurrencyType = NSManagedObjectContextConcurrencyType

  /// The kind of the context's queue.
  public let concurrencyType: NSManagedObjectContextConcurrencyType
  let queue: ContextQueue
  private var owned: ManagedObjectContext?
  /// A context that Persist created and that owns this one.
  private weak var wrapped: ManagedObjectContext?
  private var made: ManagedObjectContext? {
    get { owned ?? wrapped }
    set { owned = newValue }
  }
  private var observers: [any NSObjectProtocol] = []
  private var settings = ContextSettings()
  private var registrar: UndoManager?
  /// The results of requests with a batch size; nil until there is such a request.
  var faultBatches: FaultBatches?
  /// Data of the application's own. Use it on the context's queue.
  public let userInfo = NSMutableDictionary()

  /// Creates a context; set its coordinator or its parent before using it.
  public init(concurrencyType type: NSManagedObjectContextConcurrencyType) {
    concurrencyType = type
    queue = ContextQueue(type)
  }

  /// Creates a context; set its coordinator or its parent before using it.
  public convenience init(_ type: NSManagedObjectContextConcurrencyType) { self.init(concurrencyType: type) }

  /// Wraps a context that Persist created, for example that of a migration.
  private init(_ base: ManagedObjectContext) {
    concurrencyType = .privateQueueConcurrencyType
    queue = ContextQueue(.privateQueueConcurrencyType)
    wrapped = base
    let coordinator = base.persistentStoreCoordinator
    let model = EntityDescriptions.model(describing: coordinator.managedObjectModel)
    settings.coordinator = NSPersistentStoreCoordinator(
      coordinator, model: model ?? NSManagedObjectModel(coordinator.managedObjectModel, registry: nil))
    super.init()
    base.userInfo[ContextLink.key] = ContextLink(owner: self)
  }

  deinit { for observer in observers { NotificationCenter.default.removeObserver(observer) } }

  /// The coordinator. It is set once, before the context is used.
  open var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
    get { settings.coordinator ?? settings.parent?.persistentStoreCoordinator }
    set {
      guard newValue !== settings.coordinator else { return }
      settings.coordinator = newValue
      makeAnew()
    }
  }

  /// The parent. It is set once, before the context is used.
  open var parent: NSManagedObjectContext? {
    get { settings.parent }
    set {
      guard newValue !== settings.parent else { return }
      settings.parent = newValue
      makeAnew()
    }
  }

  private func makeAnew() {
    guard let made else { return }
    if !made.registeredObjects.isEmpty { stop("The coordinator of a context with objects can't be changed.") }
    self.made = nil
  }

  var model: NSManagedObjectModel? { persistentStoreCoordinator?.managedObjectModel }

  /// Persist's context. It is created when it is first needed, so that the coordinator or the parent can be set first.
  final var base: ManagedObjectContext {
    if let made { return made }
    let context: ManagedObjectContext
    if let parent = settings.parent {
      context = parent.performAndWait { ManagedObjectContext(parent: parent.base) }
    } else {
      let coordinator = settings.coordinator ?? .empty
      context = ManagedObjectContext(coordinator.base, classes: coordinator.classes)
    }
    made = context
    context.userInfo[ContextLink.key] = ContextLink(self)
    context.mergePolicy = settings.mergePolicy.persistPolicy
    context.name = settings.name
    context.transactionAuthor = settings.transactionAuthor
    context.shouldDeleteInaccessibleFaults = settings.shouldDeleteInaccessibleFaults
    context.retainsRegisteredObjects = settings.retainsRegisteredObjects
    context.automaticallyMergesChangesFromParent = settings.mergesAutomatically
    observers = ContextNotificationRelay.observers(of: context, for: self)
    return context
  }

  /// Returns the context that wraps one of Persist's.
  static func of(_ base: ManagedObjectContext) -> NSManagedObjectContext {
    (base.userInfo[ContextLink.key] as? ContextLink)?.context ?? NSManagedObjectContext(base)
  }

  /// The policy that resolves conflicts of saves: an ``NSMergePolicy``. By default, conflicts are errors.
  open var mergePolicy: Any {
    get { settings.mergePolicy }
    set {
      guard let policy = newValue as? NSMergePolicy else { stop("\(newValue) isn't an NSMergePolicy.") }
      settings.mergePolicy = policy
      made?.mergePolicy = policy.persistPolicy
    }
  }

  /// The context's name, which the history records.
  open var name: String? {
    get { settings.name }
    set { set(newValue, \.name, \.name) }
  }

  /// The author of the context's saves, which the history records.
  open var transactionAuthor: String? {
    get { settings.transactionAuthor }
    set { set(newValue, \.transactionAuthor, \.transactionAuthor) }
  }

  /// Whether an object whose row is gone counts as deleted when it is read.
  open var shouldDeleteInaccessibleFaults: Bool {
    get { settings.shouldDeleteInaccessibleFaults }
    set { set(newValue, \.shouldDeleteInaccessibleFaults, \.shouldDeleteInaccessibleFaults) }
  }

  /// Whether the context retains all of its objects.
  open var retainsRegisteredObjects: Bool {
    get { settings.retainsRegisteredObjects }
    set { set(newValue, \.retainsRegisteredObjects, \.retainsRegisteredObjects) }
  }

  /// Changes a setting, also in Persist's context once that exists.
  private func set<Value>(
    _ value: Value, _ setting: WritableKeyPath<ContextSettings, Value>,
    _ property: ReferenceWritableKeyPath<ManagedObjectContext, Value>
  ) {
    settings[keyPath: setting] = value
    made?[keyPath: property] = value
  }

  /// Whether saves of other contexts over the same coordinator or parent are merged, on the context's queue.
  open var automaticallyMergesChangesFromParent: Bool {
    get { settings.mergesAutomatically }
    set {
      settings.mergesAutomatically = newValue
      withParents { made?.automaticallyMergesChangesFromParent = newValue }
      if newValue { AutomaticMergeRelay.follow(self) }
    }
  }

  /// The oldest age of rows that a fault may use. Persist has no such limit: refreshing an object always reads its row.
  open var stalenessInterval: TimeInterval = -1
  /// Whether delete rules apply when pending changes are processed. Without effect here: they do.
  open var propagatesDeletesAtEndOfEvent = true

  /// Saves the changes to the parent or to the stores.
  ///
  /// - Throws: An error in the domain `NSCocoaErrorDomain` for broken rules, conflicts and failures of stores; the
  ///   errors of the objects' own validation.
  open func save() throws { try bridging { try withParents { try base.save() } } }
  /// Discards all changes and empties the undo manager's stack.
  open func rollback() { withParents { base.rollback() } }
  /// Forgets all objects, which must not be used afterwards.
  open func reset() {
    faultBatches?.removeAll()
    withParents { base.reset() }
  }

  /// The undo manager that registers the context's changes; nil by default.
  open var undoManager: UndoManager? {
    get { registrar }
    set {
      registrar = newValue
      base.undoManager = newValue?.base
    }
  }

  /// Merges what another context saved, as its notification tells.
  open func mergeChanges(fromContextDidSave notification: Notification) {
    let changes = SavedChanges(notification.userInfo ?? [:])
    withParents { base.mergeChanges(from: changes) }
    base.processPendingChanges()
  }

  /// Merges changes that others made, given by objects or identifiers under the keys of notifications, into contexts,
  /// each on its queue.
  open class func mergeChanges(
    fromRemoteContextSave changes: [AnyHashable: Any], into contexts: [NSManagedObjectContext]
  ) {
    let notification = Notification(name: .NSManagedObjectContextDidSave, object: nil, userInfo: changes)
    for context in contexts {
      context.performAndWait { context.mergeChanges(fromContextDidSave: notification) }
    }
  }

  /// Undoes the last group of changes, if there is an undo manager.
  open func undo() { withParents { base.undo() } }
  /// Brings the last undone group of changes back.
  open func redo() { withParents { base.redo() } }
  /// Applies delete rules, registers undo operations and posts notifications for the changes so far.
  open func processPendingChanges() { withParents { base.processPendingChanges() } }
  /// Inserts an object that was created without a context.
  open func insert(_ object: NSManagedObject) { base.insert(object) }
  /// Deletes an object with the next save.
  open func delete(_ object: NSManagedObject) { withParents { base.delete(object) } }
  /// Turns an object into a fault, or reads its row again and keeps the changes.
  open func refresh(_ object: NSManagedObject, mergeChanges: Bool) {
    withParents { base.refresh(object, mergeChanges: mergeChanges) }
  }
  /// Turns all unchanged objects into faults, and reads the rows of changed ones again.
  open func refreshAllObjects() { withParents { base.refreshAllObjects() } }
  /// Does nothing: saves detect conflicts.
  open func detectConflicts(for object: NSManagedObject) {}

  /// Returns the object with an identifier, without checking whether it exists.
  open func object(with id: NSManagedObjectID) -> NSManagedObject { typed(withParents { base.object(with: id) }) }

  /// Returns the object with an identifier, reading its row if necessary.
  ///
  /// - Throws: An error with the code ``NSManagedObjectReferentialIntegrityError`` if there is no such object.
  open func existingObject(with id: NSManagedObjectID) throws -> NSManagedObject {
    typed(try bridging { try withParents { try base.existingObject(with: id) } })
  }

  /// Returns the object with an identifier if the context has it already.
  open func registeredObject(for id: NSManagedObjectID) -> NSManagedObject? {
    base.registeredObject(for: id).map(typed)
  }

  /// Gives unsaved objects their permanent identifiers.
  ///
  /// - Throws: An error of the store that they are assigned to.
  open func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
    try bridging { try withParents { try base.obtainPermanentIDs(for: objects) } }
  }

  /// Chooses the store of a new object. Stops the program if the store can't contain it.
  open func assign(_ object: Any, to store: NSPersistentStore) {
    guard let object = object as? NSManagedObject, let info = store.info else { return }
    do { try base.assign(object, to: info) } catch { stop("\(error)") }
  }

  /// Whether a save would have anything to do.
  open var hasChanges: Bool { made?.hasChanges ?? false }
  /// The new objects that the next save inserts.
  open var insertedObjects: Set<NSManagedObject> { Self.typed(made?.insertedObjects ?? []) }
  /// The objects that the next save updates.
  open var updatedObjects: Set<NSManagedObject> { Self.typed(made?.updatedObjects ?? []) }
  /// The objects that the next save deletes.
  open var deletedObjects: Set<NSManagedObject> { Self.typed(made?.deletedObjects ?? []) }
  /// All objects that the context knows.
  open var registeredObjects: Set<NSManagedObject> { Self.typed(made?.registeredObjects ?? []) }

  /// Executes a batch request, a request for history, or an asynchronous fetch request.
  ///
  /// - Throws: An error in the domain `NSCocoaErrorDomain`.
  @discardableResult
  open func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
    try bridging { try result(of: request) }
  }

  /// Runs a block on the context's queue, later.
  open func perform(_ block: @escaping () -> Void) { queue.run { self.runBlock(block) } }

  /// Runs a block on the context's queue, at once if the calling code runs on it.
  open func performAndWait(_ block: () -> Void) { queue.wait { runBlock(block) } }
}

extension NSManagedObjectContext {
  /// The time at which a block of an asynchronous `perform` runs.
  public enum ScheduledTaskType: Sendable {
    /// At once if the calling code runs on the context's queue, otherwise as soon as the queue is free.
    case immediate
    /// After the blocks that are already waiting.
    case enqueued
  }

  /// Runs a block on the context's queue, at once if the calling code runs on it.
  public func performAndWait<Result>(_ block: () throws -> Result) rethrows -> Result {
    try queue.wait { try runBlock(block) }
  }

  /// Runs a block on the context's queue, later.
  public func perform<Result, Failure: Error>(
    schedule: ScheduledTaskType = .immediate, _ block: @escaping () throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let block = Transferred(block)
    let outcome: Transferred<Swift.Result<Result, Failure>> = await withCheckedContinuation { continuation in
      queue.run {
        continuation.resume(
          returning: Transferred(
            self.runBlock {
              do throws(Failure) { return .success(try block.value()) } catch { return .failure(error) }
            }))
      }
    }
    return try outcome.value.get()
  }

  private static let currentKey = "CoreData.NSManagedObjectContext"

  /// The context whose block runs on this thread.
  static var current: NSManagedObjectContext? {
    Thread.current.threadDictionary[currentKey] as? NSManagedObjectContext
  }

  private func runBlock<Result>(_ block: () throws -> Result) rethrows -> Result {
    if settings.mergesAutomatically, made != nil { withParents { base.perform {} } }
    let thread = Thread.current.threadDictionary
    let former = thread[Self.currentKey]
    thread[Self.currentKey] = self
    defer {
      thread[Self.currentKey] = former
      if made != nil { withParents { base.processPendingChanges() } }
    }
    return try block()
  }

  /// Runs a block that may reach into parent contexts, on whose queues it waits.
  final func withParents<Result>(_ body: () throws -> Result) rethrows -> Result {
    guard let parent = settings.parent else { return try body() }
    return try parent.performAndWait { try parent.withParents(body) }
  }

  final func typed(_ object: ManagedObject) -> NSManagedObject {
    guard let object = object as? NSManagedObject else { stop("\(object) isn't an object of this module's class.") }
    return object
  }

  static func typed(_ objects: Set<ManagedObject>) -> Set<NSManagedObject> {
    Set(objects.lazy.compactMap { $0 as? NSManagedObject })
  }

  /// Returns the entity of the context's model that a description means.
  final func resolve(_ description: NSEntityDescription) -> Entity? {
    let model = base.persistentStoreCoordinator.managedObjectModel
    if let entity = description.entity, model.entities.indices.contains(entity.index),
      model.entities[entity.index] === entity
    {
      return entity
    }
    return description.name.flatMap { model.entitiesByName[$0] }
  }

  final func managedObjectClass(of description: NSEntityDescription) -> NSManagedObject.Type {
    description.name.flatMap { persistentStoreCoordinator?.classes[$0] as? NSManagedObject.Type }
      ?? description.managedObjectClass
  }

  final func entity(servedBy type: NSManagedObject.Type) -> NSEntityDescription {
    let entities = model?.entities ?? []
    if let entity = entities.first(where: { managedObjectClass(of: $0) == type }) { return entity }
    if let entity = entities.first(where: { $0.name == String(describing: type) }) { return entity }
    stop("No entity of the context's model has the class \(type).")
  }
}
