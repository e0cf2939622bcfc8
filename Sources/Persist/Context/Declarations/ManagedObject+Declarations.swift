/// How declared properties find their slots.
extension ManagedObject {
  /// The slot of a declared property, for the property wrappers of layers above.
  ///
  /// - Parameters:
  ///   - key: what the property's wrapper holds.
  ///   - owner: the class that declares the property.
  @inlinable @inline(__always)
  public final func slot(of key: DeclarationKey, declaredBy owner: ManagedObject.Type) -> Int {
    let slot = SlotTable.find(key.number, in: slots)
    return slot >= 0 ? slot : findSlot(of: key, declaredBy: owner)
  }

  /// For an object that has no table yet, for keys that two classes of the object's line share, and for prototypes.
  @usableFromInline @inline(never)
  final func findSlot(of key: DeclarationKey, declaredBy owner: ManagedObject.Type) -> Int {
    if isPrototype {
      DeclarationRecording.current?.uses.append((key, owner, self))
      return 0
    }
    let table = layout.slotTable(of: Swift.type(of: self))
    slots = table.entries
    if let slot = table.slot(of: key.number, declaredBy: ObjectIdentifier(owner)) { return slot }
    preconditionFailure(Self.sentence(for: key, of: Swift.type(of: self), in: layout.entity))
  }

  /// What a new object has for a declared property; nil where it has no default.
  public final func declaredDefault(at slot: Int) -> StoredValue? {
    layout.slotTable(of: Swift.type(of: self)).initialValue(at: slot)
  }

  /// What stands at the other end of a declared to-one relationship while a key path is followed; nil otherwise.
  public final func followedDestination<Object: ManagedObject>(as type: Object.Type) -> Object? {
    guard isPrototype, let notes = DeclarationRecording.current, notes.destinations != nil else { return nil }
    let object = type.prototype() as? Object
    if let object { notes.destinations?.append(object) }
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
  /// For a designated initialiser of a class's own: a new object of the entity that the class serves.
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
    self.init(newOf: type, context.layout(serving: type), in: context)
  }

  /// A new object of a class, in a context or in none.
  ///
  /// - Parameter layout: is held by the caller until the object is made.
  init(newOf type: ManagedObject.Type, _ layout: EntityLayout, in context: ManagedObjectContext?) {
    let table = context?.slotTable(of: type, layout) ?? layout.slotTable(of: type)
    self.init(
      layout: .passUnretained(layout), loading: .loaded, slotTable: .passUnretained(table),
      inserting: context.map(Unmanaged.passUnretained))
  }

  var isNew: Bool { table == nil && loading == .loaded }
}

extension ManagedObject.Origin {
  /// What the object begins with beside its row: defaults, of a new one its class's own too.
  var initialValues: ContiguousArray<StoredValue?> {
    if let table, !table._withUnsafeGuaranteedRef({ $0.isTemporary }) { return [] }
    let modelValues = layout._withUnsafeGuaranteedRef { $0.initialValues }
    guard isNew, let slotTable else { return modelValues }
    return slotTable._withUnsafeGuaranteedRef { $0.values(orElse: modelValues) }
  }
}

extension ManagedObjectContext {
  /// The slots of a class's declared properties. Those of the classes that serve the entities are at hand.
  func slotTable(of type: ManagedObject.Type, _ layout: EntityLayout) -> SlotTable {
    classes[layout.index] == type ? slotTables[layout.index] : layout.slotTable(of: type)
  }
}

extension EntityLayout {
  /// The slots of a class's declared properties in objects of this entity.
  func slotTable(of type: ManagedObject.Type) -> SlotTable {
    if type == ManagedObject.self { return .empty }
    return slotTables.table(of: ObjectIdentifier(type)) { ClassDeclaration(type).slotTable(for: entity) }
  }
}

/// Prototypes: objects of no entity, which show what their class declares.
extension ManagedObject {
  /// The layout of prototypes. Whatever is asked of a prototype is asked of slot 0, which reads as empty in every way
  /// that a property can be read.
  private static let prototypeLayout: EntityLayout? = {
    let relationship = RelationshipDescription("any", toMany: "Prototype")
    let entity = EntityDescription("Prototype", relationships: [relationship])
    // The description is right; were it not, no class could be looked at, and declared properties would say so.
    let model = try? ManagedObjectModel(ModelDescription(entities: [entity]))
    return model.flatMap { EntityLayout.layouts(of: $0).first }
  }()

  final var isPrototype: Bool { layout === Self.prototypeLayout }

  final class func prototype() -> ManagedObject {
    guard let layout = prototypeLayout else { preconditionFailure("There is no layout for prototypes.") }
    return self.init(Origin(layout: .passUnretained(layout), loading: .loaded))
  }
}
