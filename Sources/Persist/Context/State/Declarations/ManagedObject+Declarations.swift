/// Resolves declared properties to slots.
extension ManagedObject {
  /// Returns the slot of a declared property, for the property wrappers of higher layers.
  ///
  /// - Parameters:
  ///   - key: The key that the property's wrapper stores.
  ///   - owner: The class that declares the property.
  @inlinable @inline(__always)
  public final func slot(of key: DeclarationKey, declaredBy owner: ManagedObject.Type) -> Int {
    let slot = SlotTable.find(key.number, in: kind._withUnsafeGuaranteedRef { $0.slots })
    return slot >= 0 ? slot : findSlot(of: key, declaredBy: owner)
  }

  /// Handles keys shared by two classes in the object's inheritance chain, and prototypes.
  @usableFromInline @inline(never)
  final func findSlot(of key: DeclarationKey, declaredBy owner: ManagedObject.Type) -> Int {
    if isPrototype {
      DeclarationRecording.current?.uses.append((key, owner, self))
      return 0
    }
    let table = layout.slotTable(of: Swift.type(of: self))
    if let slot = table.slot(of: key.number, declaredBy: ObjectIdentifier(owner)) { return slot }
    preconditionFailure(Self.sentence(for: key, of: Swift.type(of: self), in: layout.entity))
  }

  /// Returns the initial value of a declared property in a new object, or nil if it has no default.
  public final func declaredDefault(at slot: Int) -> StoredValue? {
    layout.slotTable(of: Swift.type(of: self)).initialValue(at: slot)
  }

  /// Whether the object has a row, and an attribute no value.
  ///
  /// For a composite attribute this can be a value all of whose parts are nil: its columns are the same.
  package final func isMissingInRow(at slot: Int) -> Bool { snapshot != nil && unobservedValue(at: slot).isNull }

  /// Returns a prototype as the destination of a declared to-one relationship while a key path is resolved; nil
  /// otherwise.
  public final func followedDestination<Object: ManagedObject>(as type: Object.Type) -> Object? {
    guard isPrototype, let record = DeclarationRecording.current, record.destinations != nil else { return nil }
    let object = type.prototype(compositeValue: record.compositeValue) as? Object
    if let object { record.destinations?.append(object) }
    return object
  }

  private static func sentence(for key: DeclarationKey, of type: ManagedObject.Type, in entity: Entity) -> String {
    guard let member = ClassDeclaration(type).members.first(where: { $0.key == key }) else {
      return "A property of \(type) isn't one of its entity '\(entity.name)'."
    }
    guard let property = entity.property(named: member.modelName) else {
      return "\(type) declares '\(member.name)', and the entity '\(entity.name)' has no property '\(member.modelName)'."
    }
    let problem = member.declaration.problem(with: property) ?? "is declared twice."
    return "\(type).\(member.name) can't be used for '\(entity.name)': '\(member.modelName)' \(problem)"
  }
}

extension ManagedObject.Origin {
  /// Creates the origin of a new object of a class's entity, for use in the class's own designated initializer.
  ///
  /// ```swift
  /// final class Item: ManagedObject {
  ///   @Attribute var name = "New Item"
  ///   let label: String
  ///
  ///   init(_ name: String, in context: ManagedObjectContext) {
  ///     label = "made as \(name)"
  ///     super.init(Origin(inserting: Item.self, into: context))
  ///     self.name = name
  ///   }
  ///
  ///   required init(_ origin: Origin) {
  ///     label = "read"
  ///     super.init(origin)
  ///   }
  /// }
  /// ```
  public init(inserting type: ManagedObject.Type, into context: ManagedObjectContext) {
    self = context.origin(serving: type)
  }

  /// Returns the origin of a new object of an entity, and the owner of what it refers to, which must outlive the
  /// object's creation.
  package static func new(
    _ type: ManagedObject.Type, of entity: Entity, in context: ManagedObjectContext?
  ) -> (origin: Self, owner: AnyObject) {
    if let context { return (Self(newOf: type, context.layout(of: entity), in: context), context) }
    let layout = EntityLayout.alone(entity)
    let kind = ObjectKind(layout, type: type, slotTable: layout.slotTable(of: type))
    return (Self(newOf: kind), kind)
  }

  package var entity: Entity { layout._withUnsafeGuaranteedRef { $0.entity } }

  /// Creates the origin of a new object of a class, which the context inserts.
  init(newOf type: ManagedObject.Type, _ layout: EntityLayout, in context: ManagedObjectContext) {
    let kind = context.unsavedTable.kind(of: layout, as: type)
    self.init(kind: kind, loading: .loaded, inserting: .passUnretained(context))
  }

  /// Creates the origin of a new object of a class, which the caller inserts into the context.
  init(looseOf type: ManagedObject.Type, _ layout: EntityLayout, in context: ManagedObjectContext) {
    let kind = context.unsavedTable.kind(of: layout, as: type)
    self.init(newOf: kind._withUnsafeGuaranteedRef { $0.detached })
  }

  /// Creates the origin of a new object without a context.
  ///
  /// - Parameter kind: The object's kind, which the caller holds until the object is created.
  init(newOf kind: ObjectKind) { self.init(kind: .passUnretained(kind), loading: .loaded) }

  private var layout: Unmanaged<EntityLayout> { kind._withUnsafeGuaranteedRef { $0.layoutReference } }
}

extension ManagedObject.Origin {
  /// The object's initial values besides its row: the model's defaults, and for a new object also those of its class.
  var initialValues: SlotValues {
    kind._withUnsafeGuaranteedRef { kind in
      if let table = kind.table, !table._withUnsafeGuaranteedRef({ $0.isTemporary }) { return SlotValues() }
      let modelValues = kind.layoutReference._withUnsafeGuaranteedRef { $0.initialValues }
      return loading == .loaded ? kind.slotTable.values(orElse: modelValues) : modelValues
    }
  }
}

extension ManagedObjectContext {
  /// Returns the slots of a class's declared properties. Those of the entities' own classes are cached.
  func slotTable(of type: ManagedObject.Type, _ layout: EntityLayout) -> SlotTable {
    classes[layout.index] == type ? slotTable(of: layout) : layout.slotTable(of: type)
  }
}

extension EntityLayout {
  /// Returns the slots of a class's declared properties in objects of this entity.
  func slotTable(of type: ManagedObject.Type) -> SlotTable {
    if type == ManagedObject.self { return .empty }
    return slotTables.table(of: ObjectIdentifier(type)) { ClassDeclaration(type).slotTable(for: entity) }
  }
}

/// Prototypes: objects without an entity, which show the declarations of their class.
extension ManagedObject {
  /// The layout of prototypes. All accesses to a prototype go to slot 0, which reads as empty for every kind of
  /// property.
  private static let prototypeLayout: EntityLayout? = {
    let relationship = RelationshipDescription("any", toMany: "Prototype")
    let entity = EntityDescription("Prototype", relationships: [relationship])
    // The description is valid; if it weren't, no class could be examined, and accessing declared properties would
    // fail.
    let model = try? ManagedObjectModel(ModelDescription(entities: [entity]))
    return model.flatMap { EntityLayouts(of: $0).first }
  }()

  final var isPrototype: Bool { layout === Self.prototypeLayout }

  final class func prototype() -> ManagedObject {
    guard let layout = prototypeLayout else { preconditionFailure("There is no layout for prototypes.") }
    let kind = ObjectKind(layout, type: self, slotTable: .empty)
    return withExtendedLifetime(kind) { self.init(Origin(newOf: kind)) }
  }

  /// Creates a prototype whose composite attributes have the given value.
  final class func prototype(compositeValue value: StoredValue?) -> ManagedObject {
    let object = prototype()
    if let value { object.replacePending(with: SlotValues([value])) }
    return object
  }
}
