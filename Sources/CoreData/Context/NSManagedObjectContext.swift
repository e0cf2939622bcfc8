public import Foundation
public import Persist

public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
  case confinementConcurrencyType = 0
  case privateQueueConcurrencyType = 1
  case mainQueueConcurrencyType = 2
}

/// A context of Persist's with a queue, as Core Data's contexts have.
// Unchecked: as in Core Data, the context's queue guards it, which code enters with `perform` and `performAndWait`.
open class NSManagedObjectContext: NSObject, @unchecked Sendable {
  public typealias ConcurrencyType = NSManagedObjectContextConcurrencyType

  public let concurrencyType: NSManagedObjectContextConcurrencyType
  let queue: ContextQueue
  private var made: ManagedObjectContext?
  private var observers: [any NSObjectProtocol] = []
  private var settings = ContextSettings()
  var storedUndoManager: UndoManager?
  public let userInfo = NSMutableDictionary()

  public init(concurrencyType type: NSManagedObjectContextConcurrencyType) {
    concurrencyType = type
    queue = ContextQueue(type)
  }

  public convenience init(_ type: NSManagedObjectContextConcurrencyType) { self.init(concurrencyType: type) }

  /// Wraps a context that Persist created, for example that of a migration.
  private init(_ base: ManagedObjectContext) {
    concurrencyType = .privateQueueConcurrencyType
    queue = ContextQueue(.privateQueueConcurrencyType)
    made = base
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

  open var mergePolicy: Any {
    get { settings.mergePolicy }
    set {
      guard let policy = newValue as? NSMergePolicy else { stop("\(newValue) isn't an NSMergePolicy.") }
      settings.mergePolicy = policy
      made?.mergePolicy = policy.persistPolicy
    }
  }

  open var name: String? {
    get { settings.name }
    set { set(newValue, \.name, \.name) }
  }

  open var transactionAuthor: String? {
    get { settings.transactionAuthor }
    set { set(newValue, \.transactionAuthor, \.transactionAuthor) }
  }

  open var shouldDeleteInaccessibleFaults: Bool {
    get { settings.shouldDeleteInaccessibleFaults }
    set { set(newValue, \.shouldDeleteInaccessibleFaults, \.shouldDeleteInaccessibleFaults) }
  }

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
  open var propagatesDeletesAtEndOfEvent = true

  open func save() throws { try bridging { try withParents { try base.save() } } }
  open func rollback() { withParents { base.rollback() } }
  open func reset() { withParents { base.reset() } }
  open func undo() { withParents { base.undo() } }
  open func redo() { withParents { base.redo() } }
  open func processPendingChanges() { withParents { base.processPendingChanges() } }
  open func insert(_ object: NSManagedObject) { base.insert(object) }
  open func delete(_ object: NSManagedObject) { withParents { base.delete(object) } }
  open func refresh(_ object: NSManagedObject, mergeChanges: Bool) {
    withParents { base.refresh(object, mergeChanges: mergeChanges) }
  }
  open func refreshAllObjects() { withParents { base.refreshAllObjects() } }
  open func detectConflicts(for object: NSManagedObject) {}

  open func object(with id: NSManagedObjectID) -> NSManagedObject { typed(withParents { base.object(with: id) }) }

  open func existingObject(with id: NSManagedObjectID) throws -> NSManagedObject {
    typed(try bridging { try withParents { try base.existingObject(with: id) } })
  }

  open func registeredObject(for id: NSManagedObjectID) -> NSManagedObject? {
    base.registeredObject(for: id).map(typed)
  }

  open func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
    try bridging { try withParents { try base.obtainPermanentIDs(for: objects) } }
  }

  open func assign(_ object: Any, to store: NSPersistentStore) {
    guard let object = object as? NSManagedObject, let info = store.info else { return }
    do { try base.assign(object, to: info) } catch { stop("\(error)") }
  }

  open var hasChanges: Bool { made?.hasChanges ?? false }
  open var insertedObjects: Set<NSManagedObject> { Self.typed(made?.insertedObjects ?? []) }
  open var updatedObjects: Set<NSManagedObject> { Self.typed(made?.updatedObjects ?? []) }
  open var deletedObjects: Set<NSManagedObject> { Self.typed(made?.deletedObjects ?? []) }
  open var registeredObjects: Set<NSManagedObject> { Self.typed(made?.registeredObjects ?? []) }

  open func perform(_ block: @escaping () -> Void) { queue.run { self.runBlock(block) } }

  open func performAndWait(_ block: () -> Void) { queue.wait { runBlock(block) } }
}

extension NSManagedObjectContext {
  /// The time at which a block of an asynchronous `perform` runs.
  public enum ScheduledTaskType: Sendable {
    case immediate
    case enqueued
  }

  public func performAndWait<Result>(_ block: () throws -> Result) rethrows -> Result {
    try queue.wait { try runBlock(block) }
  }

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
    if let entity = description.entity, model.entities.indices.contains(entity.number - 1),
      model.entities[entity.number - 1] === entity
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

/// The settings of a context that may be changed before it is used.
private struct ContextSettings {
  var coordinator: NSPersistentStoreCoordinator?
  var parent: NSManagedObjectContext?
  var mergePolicy = NSMergePolicy.error
  var name: String?
  var transactionAuthor: String?
  var shouldDeleteInaccessibleFaults = true
  var retainsRegisteredObjects = false
  var mergesAutomatically = false
}

/// Leads from a context of Persist's to the one that wraps it.
private final class ContextLink {
  static let key = "CoreData.NSManagedObjectContext"
  private weak var wrapper: NSManagedObjectContext?
  private let owner: NSManagedObjectContext?

  var context: NSManagedObjectContext? { wrapper }

  init(_ context: NSManagedObjectContext) {
    wrapper = context
    owner = nil
  }

  /// A context of Persist's owns its wrapper, because nothing else does.
  init(owner context: NSManagedObjectContext) {
    wrapper = context
    owner = context
  }
}
