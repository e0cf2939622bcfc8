import Foundation

/// An object of a context that represents an existing or future row of a store.
///
/// A context creates its objects and returns the same one for each row. An object starts as a *fault*, which has only
/// the identity of its row, and reads the row when a property is first used. Changes stay in the object until its
/// context saves.
///
/// ```swift
/// let item = ManagedObject(entity: try context.entity(named: "Item"), insertInto: context)
/// item["name"] = "Tea"
/// try context.save()
/// ```
///
/// A subclass represents the entities that have its class name; see ``ManagedObjectClasses``. It isn't Sendable and
/// must not become so: it belongs to its context, and the context to its creator.
///
/// Declared `nonisolated` so that subclasses remain nonisolated in modules whose default isolation is an actor.
///
/// An object that was deleted and saved, or whose context is gone or was reset, has no context. Values that it had read
/// remain readable, but not after a reset, which turns the object into a fault; everything else reads as empty, and
/// assignments stay in memory. No use of it crashes. A subclass must not look itself up in its context from `deinit`.
nonisolated open class ManagedObject {
  /// The loading state of the object's row.
  @usableFromInline
  package enum Loading: UInt8 {
    /// The row hasn't been used. It may already be read: then the snapshot exists.
    case fault
    /// The row is read and the fetch hook is running: values that it sets don't count as changes.
    case awakening
    case loaded
    /// The store no longer has the row.
    case missing
  }

  /// The pending operation of the next save.
  package enum Change: UInt8 {
    case none, inserted, updated, deleted
  }

  /// Flags of an object that need no field of their own.
  struct Marks: OptionSet {
    let rawValue: UInt8

    /// It was changed since a save last looked.
    static let touched = Marks(rawValue: 1)
    /// Somebody has observed it, so that ``ObservedObjects`` has its observers.
    static let observed = Marks(rawValue: 2)
    /// It is new, and its row has unsaved values; see ``ManagedObject/isDraft``.
    static let draft = Marks(rawValue: 4)
    /// It retains its layout.
    static let holdsLayout = Marks(rawValue: 8)
  }

  /// Changes only when an object that was created without a context is inserted into one.
  ///
  /// Retained only by an object without a table; otherwise the context does. The reference counts of layouts, which
  /// contexts share, would otherwise slow down every thread that creates objects.
  @usableFromInline @exclusivity(unchecked) final var layoutReference: Unmanaged<EntityLayout>
  /// The slots of the properties that the class declares. The layout owns the table.
  @usableFromInline @exclusivity(unchecked) final var slots: UnsafePointer<SlotTable.Entry>

  // The fields below are used only within the context's isolation, one at a time: no access calls out to other code.
  // Checking this at run time would cost 10 to 15 ns for every property access (measured).

  /// Nil for an object without a context. Not retained: a table removes its objects before it is deallocated. It is
  /// unmanaged because loading an unowned reference retains it, which costs a property access more than the rest.
  @exclusivity(unchecked) final var tableReference: Unmanaged<ObjectTable>?
  /// The row's key; without a row, a number that is unique among the process's unsaved objects.
  @exclusivity(unchecked) package final var key: Int64
  /// Created on demand; for an object that left its context before, ``ManagedObjectID/isKeyless`` until then.
  @exclusivity(unchecked) final var identifier: ManagedObjectID? {
    willSet { if identifier?.isKeyless == false { recordChange(.identifier) } }
  }
  /// The row as it was read or saved; for a draft, a row that the context is filling.
  @usableFromInline @exclusivity(unchecked) final var row: RowSnapshot?
  /// The object's index in its change set. Fits into the last eight bytes of the snapshot's storage.
  @exclusivity(unchecked) final var changeIndex: Int32 = -1
  /// Values set since the row was read, and the values of transient attributes. For a draft, only those that its row
  /// can't contain.
  @usableFromInline @exclusivity(unchecked) final var looseValues = SlotValues()
  /// The state of relationships in use; nil for most objects.
  @exclusivity(unchecked) final var relationships: RelationshipState?
  /// One object held as the destination of a to-one relationship, since most objects have one; `related` contains the
  /// others. Not retained: see ``holderCount``.
  @exclusivity(unchecked) final var heldEnd: ObjectReferences.Reference?
  /// The number of objects that hold this one. While it isn't zero, the object retains itself once.
  @exclusivity(unchecked) final var holderCount: Int32 = 0
  /// The object's index among those that both hold others and are held; negative if it isn't one of them.
  @exclusivity(unchecked) final var linkIndex: Int32 = -1
  @usableFromInline @exclusivity(unchecked) package final var loading: Loading {
    didSet { if (oldValue == .missing) != (loading == .missing) { recordChangeOfAll() } }
  }
  @exclusivity(unchecked) package final var change = Change.none {
    willSet { if newValue != change { recordChange(.state) } }
  }
  @exclusivity(unchecked) final var marks: Marks = []
  /// The property that led to ``heldEnd``.
  @exclusivity(unchecked) final var heldSlot = ManagedObject.noSlot
  /// The object's index among those changed since pending changes were processed; negative before its first change.
  @exclusivity(unchecked) final var eventIndex = ChangeTracker.notEntered
  /// The properties of a new object that the program has set.
  @exclusivity(unchecked) final var given = AssignedSlots.none

  /// The data that an object is created from; only contexts create it.
  public struct Origin {
    /// Nothing here is retained: the creator holds everything while it creates the object.
    let layout: Unmanaged<EntityLayout>
    /// Nil for an object that has no context, or is new and has no key yet.
    var table: Unmanaged<ObjectTable>?
    var key: Int64 = 0
    let loading: Loading
    /// Owned by the layout; nil to look it up on the first access of a declared property.
    var slotTable: Unmanaged<SlotTable>?
    /// The context that inserts the object as new; it outlives the initializer call. An object with a table is
    /// registered by its creator.
    var inserting: Unmanaged<ManagedObjectContext>?
  }

  /// The only designated initializer, for contexts. A subclass that gives its stored properties initial values inherits
  /// this and every other initializer.
  public required init(_ origin: Origin) {
    layoutReference = origin.layout
    tableReference = origin.table
    key = origin.key
    loading = origin.loading
    slots = origin.slotTable?._withUnsafeGuaranteedRef { $0.entriesOfFittingClass } ?? SlotTable.empty.entries
    if DeclarationRecording.isActive { DeclarationRecording.current?.leaveOut(self) }
    guard let context = origin.inserting else {
      if loading != .fault { looseValues = origin.initialValues }
      if origin.table == nil { holdLayout() }
      return
    }
    context._withUnsafeGuaranteedRef { context in
      beginDraft(origin.slotTable, in: context)
      if origin.table == nil { context.adopt(self) }
    }
  }

  deinit {
    assert(linkIndex < 0, "The context would examine an object that no longer exists.")
    forgetUnreadable()
    tableReference?._withUnsafeGuaranteedRef { $0.removeEntry(key) }
    if let heldEnd { Self.loseHolder(heldEnd) }
    if marks.contains(.observed) { ObservedObjects.remove(ObjectIdentifier(self)) }
    if marks.contains(.holdsLayout) { layoutReference.release() }
  }

  /// Creates an object of an entity, with or without a context.
  ///
  /// - Parameters:
  ///   - entity: A non-abstract entity of the context's model.
  ///   - context: The context of the new object; nil for none.
  public convenience init(entity: Entity, insertInto context: ManagedObjectContext?) {
    let layout = context?.layout(of: entity) ?? EntityLayout.alone(entity)
    precondition(!entity.isAbstract, "'\(entity.name)' is abstract: only its subentities have objects.")
    self.init(Origin(newOf: Self.self, layout, in: context))
    withExtendedLifetime(layout) {}
  }

  /// Creates an object of the entity with a name.
  ///
  /// - Parameters:
  ///   - name: The name of a non-abstract entity of the context's model; any other name traps. For names from outside,
  ///     use ``ManagedObjectContext/create(_:)``, which throws.
  ///   - context: The context of the new object.
  public convenience init(entity name: String, context: ManagedObjectContext) {
    guard let entity = context.model.entitiesByName[name] else {
      ProgramStop.failure("The context's model has no entity '\(name)'.")
    }
    self.init(entity: entity, insertInto: context)
  }

  /// Creates an object of this class's entity. A subclass may declare an `init(context:)` of its own beside this one.
  public required convenience init(context: ManagedObjectContext, _: Void = ()) {
    self.init(Origin(inserting: Self.self, into: context))
  }

  /// Called once, after the object was inserted into a context.
  open func awakeFromInsert() {}
  /// Called each time the object stops being a fault and has its row. Values set here don't count as changes, so it can
  /// fill transient attributes, which a rollback and undo leave as they are; don't set relationships here.
  open func awakeFromFetch() {}
  /// Called before a save, before validation. Changes made here become part of the save, and cause another call. Saving
  /// the context from here throws.
  open func willSave() {}
  /// Called after a save that wrote the object.
  open func didSave() {}
  /// Called when the object is about to be deleted, before anything else happens.
  open func prepareForDeletion() {}
  /// Called after undo, redo, a rollback or a refresh replaced values that the program had set.
  open func awakeFromSnapshotEvents(_ events: SnapshotEvents) {}
  /// Called before the object discards its row and becomes a fault.
  open func willTurnIntoFault() {}
  /// Called after the object discarded its row; override it to release values derived from the row.
  open func didTurnIntoFault() {}

  /// The computed properties that are accessible by key, including those of superclasses.
  open class var computedProperties: [ComputedProperty] { [] }
  /// The class's own rules for single properties. A save checks them together with the model's.
  open class var validators: [PropertyValidator] { [] }
  /// Validates the object before its first save. An override calls `super` and throws its own errors.
  open func validateForInsert() throws { try validateProperties(all: true) }
  /// Validates the object before a save that changes it.
  open func validateForUpdate() throws { try validateProperties(all: false) }
  /// Validates the deletion of the object: it throws if a delete rule denies it.
  open func validateForDelete() throws { try validateDeletion() }

  /// The entity's name, the identifier, and whether the object is a fault. Nothing is read from the store.
  open var description: String { "<\(layout.entity.name) \(objectID)\(isFault ? ", fault" : "")>" }
}

extension ManagedObject {
  /// The object's table; nil for an object without a context.
  @inline(__always)
  package final var table: ObjectTable? {
    get { tableReference?.takeUnretainedValue() }
    set { if let newValue { join(.passUnretained(newValue)) } else { leaveTable() } }
  }

  /// Calls a closure with the layout without counting a reference to it, unlike ``layout``.
  @inlinable @inline(__always)
  final func withLayout<Result>(_ body: (EntityLayout) throws -> Result) rethrows -> Result {
    try layoutReference._withUnsafeGuaranteedRef { try body($0) }
  }

  /// The facts about the object's entity.
  package final var layout: EntityLayout { layoutReference.takeUnretainedValue() }

  /// The number of slots of the object's rows.
  @inlinable @inline(__always)
  final var rowSlotCount: Int { withLayout { $0.rowSlotCount } }

  /// The object's identifier, temporary until its first save.
  ///
  /// After the save, the temporary identifier still resolves to the object: contexts look the object up by it, and
  /// predicates created with the unsaved object still match.
  public final var objectID: ManagedObjectID {
    // A permanent identifier stays. Keys below 0 are those of a parent's new objects.
    if key < 0 || table?.isTemporary != false { recordRead(.identifier) }
    if let identifier {
      if !identifier.isKeyless { return identifier }
      let made = identifier.withKey(key)
      self.identifier = made
      return made
    }
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

  /// Whether the object's row hasn't been used.
  public final var isFault: Bool { loading == .fault }
  /// Whether the next save inserts a row for the object.
  public final var isInserted: Bool {
    recordRead(.state)
    return change == .inserted
  }
  /// Whether the object has unsaved changes and isn't new.
  public final var isUpdated: Bool {
    recordRead(.state)
    return change == .updated
  }
  /// Whether the next save deletes the object's row, or the row was found to be deleted. As in Core Data, it is false
  /// after the save that deletes the row, when the object has no ``RedeclarableMembers/managedObjectContext``.
  public final var isDeleted: Bool {
    recordRead(.state)
    return change == .deleted || loading == .missing
  }
  /// Whether the object is new, changed or marked for deletion.
  public final var hasChanges: Bool {
    recordRead(.state)
    return change != .none && table != nil
  }
}

extension ManagedObject: Hashable {
  public static func == (left: ManagedObject, right: ManagedObject) -> Bool { left === right }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension ManagedObject: OrderedSetElement {
  final var placeNumber: UInt64 { UInt64(UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()) &>> 4) }
}

extension ManagedObject: CustomStringConvertible {}

extension ManagedObject {
  /// Returns the object as an instance of a class, or nil if it isn't one.
  ///
  /// The class nearly always matches exactly, which takes one comparison instead of a runtime cast.
  @inline(__always)
  final func asObject<Object: ManagedObject>(of type: Object.Type) -> Object? {
    Swift.type(of: self) == type ? unsafeDowncast(self, to: type) : self as? Object
  }
}
