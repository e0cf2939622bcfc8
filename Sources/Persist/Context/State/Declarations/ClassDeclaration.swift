/// The declarations of a managed object class, determined once per class by creating one instance.
///
/// The instance, called the *prototype*, has no context and no entity, and is released again. Creating it evaluates the
/// initial values of plain stored properties, but no defaults of declared ones.
@_documentation(visibility: internal)
public struct ClassDeclaration: Sendable {
  /// One declared property.
  public struct Member: Sendable {
    /// The variable's name.
    public let name: String
    /// Distinguishes the property from others of its class.
    public let key: DeclarationKey
    /// The class that declares it, possibly a superclass.
    public let owner: ManagedObject.Type
    /// The declaration: kind, type, default and options.
    public let declaration: any PropertyDeclaration

    /// The name in the model.
    public var modelName: String { declaration.modelName ?? name }
  }

  /// The described class.
  public let type: ManagedObject.Type
  /// Its superclasses in ascending order, excluding ``ManagedObject``.
  public let parents: [ManagedObject.Type]
  /// The declared properties, from the topmost superclass down, those of each class in source order.
  public let members: [Member]
  /// Declarations that can't be distinguished or accessed.
  public let problems: [PersistenceError]

  /// By the class's address. Integers are keys of other dictionaries too; the first one with keys of another type takes
  /// half a million instructions.
  private static let known = LockProtected<[Int: ClassDeclaration]>(Dictionary())

  /// Determines the declarations of a class.
  public init(_ type: ManagedObject.Type) {
    let identity = Int(bitPattern: ObjectIdentifier(type))
    if let known = Self.known.withLock({ $0[identity] }) {
      self = known
      return
    }
    // Not under the lock: creating the prototype may examine further classes.
    self.init(lookingAt: type)
    let made = self
    Self.known.withLock { $0[identity] = made }
  }

  private init(lookingAt type: ManagedObject.Type) {
    var prototype: ManagedObject?
    let record = DeclarationRecording.record { prototype = type.prototype() }
    var left = record.declarations
    guard !left.isEmpty else {
      // Without a mirror, which takes a million instructions for the first class, and most of that for each other one.
      (self.type, parents, members, problems) = (type, Self.superclasses(of: type), [], [])
      return
    }
    var members: [Member] = []
    var problems: [PersistenceError] = []
    let levels = Self.levels(of: prototype)
    for (owner, mirror) in levels {
      var keys: [Int: String] = Dictionary()
      for child in mirror.children {
        guard let property = child.value as? any DeclaredProperty, let label = child.label,
          let index = left.firstIndex(where: { $0.key == property.key })
        else { continue }
        let name = label.hasPrefix("_") ? String(label.dropFirst()) : label
        let declaration = left.remove(at: index).declaration
        members.append(Member(name: name, key: property.key, owner: owner, declaration: declaration))
        if let other = keys.updateValue(name, forKey: Int(property.key.number)) {
          problems.append(Self.indistinct(name, other, of: owner))
        }
      }
    }
    if !left.isEmpty, prototype is any CustomReflectable {
      problems.append(
        PersistenceError(
          .invalidModel, at: .entity("\(type)"),
          "The class \(type) has a custom mirror, which hides its properties.",
          fix: "Remove its conformance to CustomReflectable."))
    }
    self.type = type
    parents = levels.dropFirst().map(\.owner)
    self.members = levels.reversed().flatMap { level in members.filter { $0.owner == level.owner } }
    self.problems = problems
  }

  private static func indistinct(_ name: String, _ other: String, of owner: ManagedObject.Type) -> PersistenceError {
    PersistenceError(
      .invalidModel, at: .property("\(owner)", name),
      "'\(name)' and '\(other)' of the class \(owner) are declared at the same source position.",
      fix: "Write them on separate lines.")
  }

  private static func superclasses(of type: ManagedObject.Type) -> [ManagedObject.Type] {
    Array(
      sequence(first: type) { _getSuperclass($0) as? ManagedObject.Type }.dropFirst()
        .prefix { $0 != ManagedObject.self })
  }

  /// Returns the class and its superclasses in ascending order, each with a mirror of its own stored properties.
  private static func levels(of object: ManagedObject?) -> [(owner: ManagedObject.Type, mirror: Mirror)] {
    guard let object else { return [] }
    return Array(
      sequence(first: Mirror(reflecting: object)) { $0.superclassMirror }
        .compactMap { mirror in (mirror.subjectType as? ManagedObject.Type).map { ($0, mirror) } }
        .prefix { $0.0 != ManagedObject.self })
  }
}

extension ClassDeclaration {
  /// Returns the declared properties along a key path that starts at this class; nil if it uses none, or uses them
  /// other than one after another.
  ///
  /// ```swift
  /// ClassDeclaration(Item.self).members(along: \Item.category?.name)?.map(\.name)          // category, name
  /// ```
  public func members(along keyPath: AnyKeyPath) -> [Member]? {
    let root = type.prototype()
    let record = DeclarationRecording.record {
      DeclarationRecording.current?.destinations = []
      _ = root[keyPath: keyPath]
    }
    let objects = [root] + (record.destinations ?? [])
    guard !record.uses.isEmpty, record.uses.count <= objects.count,
      zip(record.uses, objects).allSatisfy({ $0.object === $1 })
    else { return nil }
    let members = record.uses.compactMap { use in
      ClassDeclaration(use.owner).members.first { $0.key == use.key && $0.owner == use.owner }
    }
    return members.count == record.uses.count ? members : nil
  }

  /// Returns the declared property that a key path consists of; nil if there is none or more than one.
  public func member(at keyPath: AnyKeyPath) -> Member? {
    guard let members = members(along: keyPath), members.count == 1 else { return nil }
    return members.first
  }

  /// Returns the result of a key path that starts at this class, for objects whose composite attributes have the given
  /// value.
  package func result(of keyPath: AnyKeyPath, forComposites value: StoredValue) -> Any? {
    let root = type.prototype(compositeValue: value)
    var result: Any?
    _ = DeclarationRecording.record {
      DeclarationRecording.current?.destinations = []
      DeclarationRecording.current?.compositeValue = value
      result = root[keyPath: keyPath]
    }
    return result
  }

  /// Returns the slots of the class's properties in objects of an entity, omitting properties that the entity doesn't
  /// have or that don't match the declaration.
  func slotTable(for entity: Entity) -> SlotTable {
    var places: [SlotTable.Member] = []
    var values: [SlotTable.InitialValue] = []
    for member in members {
      guard let property = entity.property(named: member.modelName),
        member.declaration.problem(with: property) == nil
      else { continue }
      places.append(
        SlotTable.Member(key: member.key.number, owner: ObjectIdentifier(member.owner), slot: property.slot))
      if let make = member.declaration.initialValue {
        values.append(SlotTable.InitialValue(slot: property.slot, make: make))
      }
    }
    return SlotTable(
      places, initialValues: values, mismatchReason: GeneratedClasses.mismatchReason(of: type, serving: entity))
  }
}
