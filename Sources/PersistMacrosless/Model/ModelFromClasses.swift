import Persist

/// A model under construction: the combined declarations of its classes, and all problems in them.
struct ModelFromClasses {
  private(set) var description: ModelDescription
  private(set) var problems: [PersistenceError] = []
  /// The given classes by entity name.
  private(set) var classes: [String: ManagedObject.Type] = [:]

  private var names: [ObjectIdentifier: String] = [:]
  private var needingInverse: [(entity: String, relationship: String)] = []
  /// The relationships that name properties as their inverses, by the property's class and name.
  private var claimed: [ClaimedProperty: PersistenceError.Place] = [:]
  private var compositeTypes: [String: any CompositeValue.Type] = [:]

  private struct ClaimedProperty: Hashable {
    let owner: ObjectIdentifier
    let name: String
  }

  init(_ types: [ManagedObject.Type], version: String?, configurations: [String: [ManagedObject.Type]]) {
    description = ModelDescription(versionIdentifiers: version.map { [$0] } ?? [])
    let types = unique(types)
    for type in types { name(type) }
    for type in types { add(type) }
    description.joinInverses()
    checkInverses()
    for (name, members) in configurations.sorted(by: { $0.key < $1.key }) { addConfiguration(name, members) }
  }

  /// Returns this value if it has no problems.
  ///
  /// - Throws: `PersistenceError.Code.invalidModel` with all problems, including those of the model as a whole.
  func checked() throws -> ModelFromClasses {
    var problems = problems
    do {
      try ManagedObjectModel(description).checkDerivations()
    } catch let error as PersistenceError {
      problems += error.errors.isEmpty ? [error] : error.errors
    }
    guard !problems.isEmpty else { return self }
    throw PersistenceError.combining(problems, as: .invalidModel, "The classes have \(problems.count) problems.")
  }

  /// The name of a class's entity; nil if the class isn't part of the model.
  func entityName(of type: ManagedObject.Type) -> String? { names[ObjectIdentifier(type)] }

  mutating func report(_ place: PersistenceError.Place, _ message: String, fix: String) {
    problems.append(PersistenceError(.invalidModel, at: place, message, fix: fix))
  }

  mutating func needInverse(of relationship: String, in entity: String) {
    needingInverse.append((entity, relationship))
  }

  /// Records that a relationship names a property as its inverse.
  ///
  /// - Returns: another relationship that has already named the property; nil if there is none.
  mutating func claim(
    _ property: ClassDeclaration.Member, asInverseOf place: PersistenceError.Place
  ) -> PersistenceError.Place? {
    let key = ClaimedProperty(owner: ObjectIdentifier(property.owner), name: property.modelName)
    if let other = claimed[key], other != place { return other }
    claimed[key] = place
    return nil
  }

  private mutating func addConfiguration(_ name: String, _ members: [ManagedObject.Type]) {
    description.configurations[name] = []
    for type in members {
      if let entity = entityName(of: type) {
        description.configurations[name]?.append(entity)
      } else {
        report(
          .entity(String(describing: type)), "The configuration '\(name)' contains \(type), which the model doesn't.",
          fix: "List \(type) among the model's classes, or remove it from the configuration.")
      }
    }
  }

  private func unique(_ types: [ManagedObject.Type]) -> [ManagedObject.Type] {
    var seen: Set<ObjectIdentifier> = []
    return types.filter { seen.insert(ObjectIdentifier($0)).inserted }
  }

  private mutating func name(_ type: ManagedObject.Type) {
    let name = type.ownTraits?.name ?? String(describing: type)
    names[ObjectIdentifier(type)] = name
    if let other = classes.updateValue(type, forKey: name) {
      report(
        .entity(name), "The classes \(String(reflecting: other)) and \(String(reflecting: type)) have the same entity.",
        fix: "Give one of them a different name in its entity traits.")
    }
  }

  /// Adds the entity of a class: its own declarations, and those of its parents that aren't entities.
  private mutating func add(_ type: ManagedObject.Type) {
    guard let name = entityName(of: type) else { return }
    let declaration = ClassDeclaration(type)
    let parent = declaration.parents.first { entityName(of: $0) != nil }
    let inherited = parent.map { Set(ClassDeclaration($0).parents.map(ObjectIdentifier.init) + [ObjectIdentifier($0)]) }
    problems += declaration.problems
    var entity = EntityDescription(
      name, className: String(describing: type), moduleName: Self.module(of: type),
      parent: parent.flatMap { entityName(of: $0) })
    for member in declaration.members where inherited?.contains(ObjectIdentifier(member.owner)) != true {
      guard let described = member.declaration as? any DescribedDeclaration else { continue }
      described.add(member, to: &entity, &self)
    }
    type.ownTraits?.apply(to: &entity, &self)
    description.entities.append(entity)
  }

  private static func module(of type: ManagedObject.Type) -> String? {
    String(reflecting: type).split(separator: ".").first.map(String.init)
  }

  private mutating func checkInverses() {
    for (entity, name) in needingInverse {
      let relationship = description.entities.first { $0.name == entity }?.relationships.first { $0.name == name }
      guard let relationship, relationship.inverse == nil else { continue }
      let owner = classes[relationship.destination].map { "\($0)" } ?? relationship.destination
      report(
        .property(entity, name), "No relationship leads back from '\(relationship.destination)' to '\(name)'.",
        fix: "Name the one that does, on either side: @Relationship(inverse: \\\(owner).…). If there should be "
          + "none, write @Relationship(oneWay: true).")
    }
  }
}

extension ModelFromClasses {
  /// Adds a composite type and the types of its parts to the model unless it has them, and returns the type's name in
  /// it.
  mutating func addComposite(_ type: any CompositeValue.Type) -> String {
    let name = String(describing: type)
    if let known = compositeTypes.updateValue(type, forKey: name) {
      if known != type {
        report(
          .entity(name),
          "\(String(reflecting: known)) and \(String(reflecting: type)) are one composite type, '\(name)'.",
          fix: "Rename one of them.")
      }
      return name
    }
    // Registered before its parts are examined, because a type may, incorrectly, contain itself.
    let index = description.composites.count
    description.composites.append(CompositeDescription(name, elements: []))
    do {
      let defaults = try type.constantParts()
      let former = Dictionary(grouping: type.renamedParts.sorted { $0.key < $1.key }, by: \.value)
      let elements = try type.elements()
      for name in former.keys.sorted() where !elements.contains(where: { $0.name == name }) {
        report(
          .property(String(describing: type), name),
          "\(type) renames a part to '\(name)', which it doesn't have.", fix: "Correct 'renamedParts'.")
      }
      description.composites[index].elements = elements.map { part in
        var element = AttributeDescription(
          part.name, part.type.attributeType, isOptional: part.isOptional, default: defaults[part.name] ?? .null,
          renamingIdentifier: former[part.name]?.map(\.key).joined(separator: ","))
        if let inner = part.type.wrappedType as? any CompositeValue.Type { element.compositeName = addComposite(inner) }
        return element
      }
    } catch {
      report(
        .entity(name), "The parts of the composite type \(name) can't be found: \(error)",
        fix: "Make every part a StorableValue, and let the compiler synthesize the Codable conformance.")
    }
    return name
  }
}
