import Foundation

/// An object of a context: one row of a store, or one that is going to be.
///
/// A context makes its objects and hands out one for each row. An object begins as a *fault*, which knows only which
/// row it stands for, and reads the row when a property is first used. Changes stay in the object until its context
/// saves.
///
/// ```swift
/// let item = ManagedObject(entity: try context.entity(named: "Item"), insertInto: context)
/// item["name"] = "Tea"
/// try context.save()
/// ```
///
/// A subclass serves the entities whose class name it has; see ``ManagedObjectClasses``. It isn't Sendable and must not
/// become so: it belongs to its context, and the context to whoever made that.
///
/// It is declared `nonisolated` so that subclasses stay it in modules whose default isolation is an actor's.
///
/// An object whose context is gone, that was reset, or that was deleted and saved, has no context any more. What it had
/// read stays readable; everything else reads as empty, and assignments stay in memory. No use of it crashes. A
/// subclass must not look itself up in its context from its `deinit`.
nonisolated open class ManagedObject {
  /// Whether the object holds its row.
  @usableFromInline
  enum Loading: UInt8 {
    /// The row wasn't used yet. It may have been read all the same: the snapshot is then there.
    case fault
    /// The row is there, and the fetch hook runs: what it sets doesn't count as a change.
    case awakening
    case loaded
    /// The store has no such row any more.
    case missing
  }

  /// What the next save does with the object.
  enum Change: UInt8 {
    case none, inserted, updated, deleted
  }

  /// Another one only while an object that was made without a context enters one.
  @usableFromInline @exclusivity(unchecked) final var layout: EntityLayout
  /// Where the properties that the class declares stand. The layout holds the table.
  @usableFromInline @exclusivity(unchecked) final var slots: UnsafePointer<SlotTable.Entry>

  // The fields below are used only within the isolation of the context, one at a time: no access calls out to other
  // code while it lasts. Checking that at run time costs 10 to 15 ns for every use of a property (measured).

  /// Nil for an object without a context. Not counted: a table takes its objects out before it goes.
  @exclusivity(unchecked) final unowned(unsafe) var table: ObjectTable?
  /// The row's key; a number that no other unsaved object of the process has, while there is no row.
  @exclusivity(unchecked) final var key: Int64
  @exclusivity(unchecked) final var identifier: ManagedObjectID?
  @usableFromInline @exclusivity(unchecked) final var snapshot: RowSnapshot?
  /// The object's place in the context's set of objects changed in the same way. It stands in what the snapshot leaves
  /// of its last eight bytes.
  @exclusivity(unchecked) final var changeIndex: Int32 = -1
  /// What was set since the row was read, by property slot, and the values of transient attributes; empty for none.
  @usableFromInline @exclusivity(unchecked) final var pending: ContiguousArray<StoredValue?>
  /// The to-many relationships that were used, by property slot; empty for none.
  @exclusivity(unchecked) final var toManys: ContiguousArray<ToManyMembers?> = []
  /// Rows that were read ahead for the other ends of the object's relationships.
  @exclusivity(unchecked) final var companions: PrefetchedRows?
  /// One object that this one holds because a to-one relationship led to it, which most objects have one of; and the
  /// others. Not counted: see ``holderCount``.
  @exclusivity(unchecked) final var heldEnd: ObjectReferences.Reference?
  @exclusivity(unchecked) final var related: RelatedObjects?
  /// The number of objects that hold this one. While any do, it retains itself once.
  @exclusivity(unchecked) final var holderCount: Int32 = 0
  /// The object's place among those that hold others and are held themselves; below 0 for one that isn't such.
  @exclusivity(unchecked) final var linkIndex: Int32 = -1
  @usableFromInline @exclusivity(unchecked) final var loading: Loading
  @exclusivity(unchecked) final var change = Change.none
  /// Whether the object was changed since a save last looked.
  @exclusivity(unchecked) final var isTouched = false
  /// The property that ``heldEnd`` was reached by.
  @exclusivity(unchecked) final var heldSlot = ManagedObject.noSlot
  /// The object's place among those changed since pending changes were processed; below 0 before its first change.
  @exclusivity(unchecked) final var eventIndex = ChangeTracker.notEntered
  /// The properties of a new object that the program has set.
  @exclusivity(unchecked) final var given = GivenSlots.none

  /// Where a new object comes from; only contexts make one.
  public struct Origin {
    /// Nothing here is counted: whoever makes an object holds all of it meanwhile.
    let layout: Unmanaged<EntityLayout>
    /// Nil for an object that is new, or of no context.
    var table: Unmanaged<ObjectTable>?
    var key: Int64 = 0
    let loading: Loading
    /// Held by the layout; nil for the first access of a property to find.
    var slotTable: Unmanaged<SlotTable>?
    /// The context that takes the object in as a new one; it outlives the call that makes the object.
    var inserting: Unmanaged<ManagedObjectContext>?
  }

  /// The one designated initialiser, for contexts. A subclass with stored properties gives them values where it
  /// declares them, and so inherits this and every other initialiser.
  public required init(_ origin: Origin) {
    layout = origin.layout.takeUnretainedValue()
    table = origin.table?.takeUnretainedValue()
    key = origin.key
    loading = origin.loading
    slots = origin.slotTable?._withUnsafeGuaranteedRef { $0.entriesOfFittingClass } ?? SlotTable.empty.entries
    pending = origin.initialValues
    if DeclarationRecording.isActive { DeclarationRecording.current?.leaveOut(self) }
    if let context = origin.inserting { context.takeUnretainedValue().adopt(self, layout) }
  }

  deinit {
    table?.map.remove(key)
    if let heldEnd { Self.loseHolder(heldEnd) }
  }

  /// A new object of an entity, in a context or in none.
  ///
  /// - Parameter entity: of the context's model, and not abstract.
  public convenience init(entity: Entity, insertInto context: ManagedObjectContext?) {
    let layout = context?.layout(of: entity) ?? EntityLayout.alone(entity)
    precondition(!entity.isAbstract, "'\(entity.name)' is abstract: only its subentities have objects.")
    self.init(Origin(newOf: Self.self, layout, in: context))
    withExtendedLifetime(layout) {}
  }

  /// A new object of the entity with a name.
  ///
  /// - Parameter name: of an entity of the context's model that isn't abstract; another one stops the program. For
  ///   names from outside there is ``ManagedObjectContext/create(_:)``, which throws.
  public convenience init(entity name: String, context: ManagedObjectContext) {
    guard let entity = context.model.entitiesByName[name] else {
      ProgramStop.failure("The context's model has no entity '\(name)'.")
    }
    self.init(entity: entity, insertInto: context)
  }

  /// A new object of the entity that this class serves.
  public required convenience init(context: ManagedObjectContext) {
    self.init(Origin(inserting: Self.self, into: context))
  }

  /// Called once, when the object was put into a context as a new one.
  open func awakeFromInsert() {}
  /// Called each time the object stops being a fault and holds its row. What it sets doesn't count as a change, so
  /// that it may fill transient attributes; relationships aren't to be set here.
  open func awakeFromFetch() {}
  /// Called before a save, before validation. What it changes belongs to the save, and it is called again then. It
  /// isn't to save the context: that throws.
  open func willSave() {}
  /// Called after a save that wrote the object.
  open func didSave() {}
  /// Called when the object is being deleted, before anything else happens.
  open func prepareForDeletion() {}
  /// Called after undo, redo, a rollback or a refresh gave the object other values than the program had set.
  open func awakeFromSnapshotEvents(_ events: SnapshotEvents) {}
  /// Called before the object forgets its row and becomes a fault.
  open func willTurnIntoFault() {}
  open func didTurnIntoFault() {}

  /// The properties that the class computes and that are to be reached by key, those of its superclasses included.
  open class var computedProperties: [ComputedProperty] { [] }
  /// The class's own rules for single properties; a save puts the object's values to them with the model's.
  open class var validators: [PropertyValidator] { [] }
  /// Checks the object before its first save. An override calls `super`, and throws its own error for a rule of its
  /// own.
  open func validateForInsert() throws { try validateProperties(all: true) }
  /// Checks the object before a save that changes it.
  open func validateForUpdate() throws { try validateProperties(all: false) }
  /// Checks whether the object may be deleted: whether a delete rule denies it.
  open func validateForDelete() throws { try validateDeletion() }
}

extension ManagedObject {
  public final var entity: Entity { layout.entity }

  /// Nil where the object belongs to no context, or to none any more.
  public final var managedObjectContext: ManagedObjectContext? { table?.context }

  /// The object's identifier: temporary until it is saved for the first time.
  ///
  /// A temporary identifier goes on leading to the object after the save: contexts look the object up by it, and
  /// predicates made with the unsaved object go on matching.
  public final var objectID: ManagedObjectID {
    if let identifier { return identifier }
    if table == nil { key = Int64(bitPattern: ManagedObjectID.nextTemporaryNumber()) }
    let made =
      if let siblings = table?.siblings {
        siblings.objectID(of: layout, key: key)
      } else {
        ManagedObjectID(entityName: layout.entity.name, storeIdentifier: "", key: .temporary(UInt64(bitPattern: key)))
      }
    identifier = made
    return made
  }

  /// Whether the object's row wasn't used yet.
  public final var isFault: Bool { loading == .fault }
  /// Whether the next save makes a row for the object.
  public final var isInserted: Bool { change == .inserted }
  /// Whether the object has unsaved changes, and isn't new.
  public final var isUpdated: Bool { change == .updated }
  /// Whether the next save deletes the object's row, or the row was found to be gone. After the save that deletes the
  /// row it is false, as in Core Data: the object then has no ``managedObjectContext``.
  public final var isDeleted: Bool { change == .deleted || loading == .missing }
  /// Whether the object is new, changed or to be deleted.
  public final var hasChanges: Bool { change != .none && table != nil }

  /// Leaves the context for good.
  final func detach() {
    if table != nil { _ = objectID }
    letGoOfRelated()
    table?.map.remove(key)
    table = nil
  }
}

extension ManagedObject: Hashable {
  public static func == (left: ManagedObject, right: ManagedObject) -> Bool { left === right }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension ManagedObject: CustomStringConvertible {
  /// The entity and the identifier; a description never reads a row.
  public var description: String {
    "<\(layout.entity.name) \(objectID)\(isFault ? ", fault" : "")>"
  }
}
