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
    static let newlyChanged = Marks(rawValue: 1)
    /// Somebody has observed it, so that ``ObservedObjects`` has its observers.
    static let observed = Marks(rawValue: 2)
    /// It is new, and its row has unsaved values; see ``ManagedObject/isDraft``.
    static let draft = Marks(rawValue: 4)
    /// It retains its kind.
    static let holdsKind = Marks(rawValue: 8)
    /// It has changed since pending changes were processed; see ``ChangeTracker``.
    static let entered = Marks(rawValue: 32)
    /// It both holds others and is held; see ``HeldCycles``.
    static let link = Marks(rawValue: 64)
  }

  // An object takes 72 bytes, and 80 with those of the allocator, which rounds to multiples of 16: a field more costs
  // every object 16 bytes. What few objects need is in `additions`, and what many have in common in `kind`.
  //
  // The fields are used only within the context's isolation, one at a time: no access calls out to other code. Checking
  // this at run time would cost 10 to 15 ns for every property access (measured).

  /// Not retained by an object with a table, whose context does.
  @usableFromInline @exclusivity(unchecked) final var kind: Unmanaged<ObjectKind>
  /// The row's key; without a row, a number that is unique among the process's unsaved objects.
  @exclusivity(unchecked) package final var key: Int64
  /// The row as it was read or saved; for a draft, a row that the context is filling.
  @usableFromInline @exclusivity(unchecked) final var row: RowSnapshot?
  /// The object's index in its change set. Fits into the last eight bytes of the snapshot's storage.
  @exclusivity(unchecked) final var changeIndex: Int32 = -1
  /// One object held as the destination of a to-one relationship, since most objects have one; `related` contains the
  /// others. Not retained: see ``holderCount``.
  @exclusivity(unchecked) final var heldEnd: ObjectReferences.Reference?
  /// Unsaved values, relationships in use and the identifier; none for most objects.
  @usableFromInline @exclusivity(unchecked) final var additions = ObjectAdditions.none
  /// ``holderCount``; for a link of ``HeldCycles``, its index there.
  @exclusivity(unchecked) final var holderCountOrLink: Int32 = 0
  @usableFromInline @exclusivity(unchecked) package final var loading: Loading {
    didSet { if (oldValue == .missing) != (loading == .missing) { recordChangeOfAll() } }
  }
  @exclusivity(unchecked) package final var change = Change.none {
    willSet { if newValue != change { recordChange(.state) } }
  }
  @exclusivity(unchecked) final var marks: Marks = []
  /// The property that led to ``heldEnd``.
  @exclusivity(unchecked) final var heldSlot = ManagedObject.noSlot

  /// The data that an object is created from; only contexts create it.
  public struct Origin {
    /// Not retained: the creator holds it while it creates the object.
    let kind: Unmanaged<ObjectKind>
    var key: Int64 = 0
    let loading: Loading
    /// The context that inserts the object as new; it outlives the initializer call. An object with a key is registered
    /// by its creator.
    var inserting: Unmanaged<ManagedObjectContext>?
  }

  /// The only designated initializer, for contexts. A subclass that gives its stored properties initial values inherits
  /// this and every other initializer.
  public required init(_ origin: Origin) {
    kind = origin.kind
    key = origin.key
    loading = origin.loading
    if DeclarationRecording.isActive { DeclarationRecording.current?.leaveOut(self) }
    guard let context = origin.inserting else {
      if loading != .fault { replaceLoose(with: origin.initialValues) }
      if tableReference == nil { holdKind() }
      return
    }
    context._withUnsafeGuaranteedRef { context in
      beginDraft(in: context)
      if origin.key == 0 { context.adopt(self) }
    }
  }

  deinit {
    assert(!marks.contains(.link), "The context would examine an object that no longer exists.")
    forgetUnreadable()
    tableReference?._withUnsafeGuaranteedRef { $0.removeEntry(key) }
    if let heldEnd { Self.loseHolder(heldEnd) }
    if marks.contains(.observed) { ObservedObjects.remove(ObjectIdentifier(self)) }
    releaseKind()
  }

  /// Creates an object of an entity, with or without a context.
  ///
  /// - Parameters:
  ///   - entity: A non-abstract entity of the context's model.
  ///   - context: The context of the new object; nil for none.
  public convenience init(entity: Entity, insertInto context: ManagedObjectContext?) {
    precondition(!entity.isAbstract, "'\(entity.name)' is abstract: only its subentities have objects.")
    let (origin, owner) = Origin.new(Self.self, of: entity, in: context)
    self.init(origin)
    withExtendedLifetime(owner) {}
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
  /// The object's identifier, temporary until its first save.
  ///
  /// After the save, the temporary identifier still resolves to the object: contexts look the object up by it, and
  /// predicates created with the unsaved object still match.
  public final var objectID: ManagedObjectID {
    // A permanent identifier stays. Keys below 0 are those of a parent's new objects.
    if key < 0 || table?.isTemporary != false { recordRead(.identifier) }
    if let identifier { return identifier }
    let made = makeIdentifier()
    identifier = made
    return made
  }

  @inline(never)
  private final func makeIdentifier() -> ManagedObjectID {
    if let siblings = table?.siblings { return siblings.objectID(of: layout, key: key) }
    if table == nil {
      if key > 0, let keyless = kind._withUnsafeGuaranteedRef({ $0.keyless }) { return keyless.withKey(key) }
      key = Int64(bitPattern: ManagedObjectID.nextTemporaryNumber())
    }
    return ManagedObjectID(
      entityName: layout.entity.name, storeIdentifier: "", key: .temporary(UInt64(bitPattern: key)))
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
