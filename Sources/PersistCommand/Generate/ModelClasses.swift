import Persist

/// The Swift classes of a model's entities, and which of them are generated.
struct ModelClasses {
  /// Xcode's Codegen setting of an entity.
  enum CodeGeneration {
    /// Class Definition.
    case whole
    /// Category/Extension: the class itself is the user's.
    case properties
    /// Manual/None.
    case manual

    init(_ description: EntityDescription) {
      self =
        switch description.unknown["codeGenerationType"] {
        case "class": .whole
        case "category": .properties
        default: .manual
        }
    }
  }

  struct Class {
    let entity: Entity
    let name: String
    /// Nil for the module whose code is generated.
    let module: String?
    let codeGeneration: CodeGeneration
    /// Whether a file is generated for the entity.
    let isGenerated: Bool
    /// Whether the same options generate a file for the entity in its own module, which is another one.
    let isGeneratedElsewhere: Bool

    /// Whether the model states the module.
    fileprivate var hasStatedModule: Bool { entity.description.moduleName?.isEmpty == false }
  }

  /// By entity name.
  let byEntity: [String: Class]
  /// By class name: of several entities that share a class, the one that it belongs to.
  private let byName: [String: Class]
  /// In the order of the entities' numbers.
  let all: [Class]
  /// The names of classes of this module from which classes of other modules inherit, directly or not.
  private var inheritedElsewhere: Set<String> = []

  init(_ model: ManagedObjectModel, _ options: GenerateOptions, report: (String, _ entity: String) -> Void) {
    var owners: [String: Entity] = [:]
    var all: [Class] = []
    for entity in model.entities {
      let name = Self.name(of: entity, report: report)
      let module = entity.description.moduleName.flatMap { $0.isEmpty || $0 == options.module ? nil : $0 }
      let codeGeneration = CodeGeneration(entity.description)
      let isElsewhere = options.module != nil && module != nil
      let owner = owners[name]
      if let owner {
        report(
          "The class '\(name)' already belongs to '\(owner.name)', so '\(entity.name)' gets no class. Give it another "
            + "class name.", entity.name)
      } else {
        owners[name] = entity
      }
      let hasFile = owner == nil && !(codeGeneration == .manual && options.skipsManual)
      all.append(
        Class(
          entity: entity, name: name, module: isElsewhere ? module : nil, codeGeneration: codeGeneration,
          isGenerated: hasFile && !isElsewhere, isGeneratedElsewhere: hasFile && isElsewhere))
    }
    self.all = all
    byName = Dictionary(all.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    byEntity = Dictionary(all.map { ($0.entity.name, $0) }, uniquingKeysWith: { first, _ in first })
    guard options.module != nil else { return }
    for type in all { markSuperclasses(of: type) }
  }

  /// Records the superclasses of a class that belongs to another module, or may be generated in another one because the
  /// model leaves its module open.
  private mutating func markSuperclasses(of type: Class) {
    var isElsewhere = type.module != nil
    for superclass in superclasses(of: type) where superclass.module == nil {
      if superclass.hasStatedModule && !type.hasStatedModule { isElsewhere = true }
      // The superclasses of an open class have to be open too.
      if isElsewhere { inheritedElsewhere.insert(superclass.name) }
    }
  }

  /// Whether classes of other modules inherit from a class of this module.
  func isInheritedElsewhere(_ type: Class) -> Bool { inheritedElsewhere.contains(type.name) }

  /// The class name from the model, or the entity's name if the model has none that is valid in Swift.
  private static func name(of entity: Entity, report: (String, _ entity: String) -> Void) -> String {
    guard let given = entity.description.className else { return SwiftName.identifier(entity.name) }
    if given.hasPrefix("_Tt") || given.contains(":") {
      let name = SwiftName.identifier(entity.name)
      report(
        "'\(given)' is an Objective-C runtime name; the class is generated as '\(name)', and must be registered under "
          + "the entity's name.", entity.name)
      return name
    }
    let name = SwiftName.identifier(given)
    if name != given {
      report("'\(given)' isn't a valid name for a Swift class; the class is generated as '\(name)'.", entity.name)
    }
    return name
  }

  /// The class of the superentity, from which a generated class inherits.
  func parent(of type: Class) -> Class? { type.entity.superentity.flatMap { byEntity[$0.name] } }

  /// The way in which a class names the list of its module's classes.
  enum ListDeclaration {
    /// It is the superclass's list.
    case inherited
    /// With the conformance to `GeneratedObject`.
    case conformance
    /// With the conformance, in a declaration that classes of other modules override.
    case overridable
    /// Instead of the list of the superclass's module.
    case overriding
  }

  func listDeclaration(of type: Class) -> ListDeclaration {
    // A class that the user writes has only an extension, whose declarations neither override nor can be overridden.
    let isOwn = type.codeGeneration == .properties
    let superclasses = superclasses(of: type)
    guard let topmost = superclasses.last(where: { $0.isGenerated || $0.isGeneratedElsewhere }) else {
      return isInheritedElsewhere(type) && !isOwn ? .overridable : .conformance
    }
    let isOverridable = topmost.isGeneratedElsewhere && topmost.codeGeneration != .properties
    return isOverridable && !isOwn && !superclasses.contains(where: \.isGenerated) ? .overriding : .inherited
  }

  /// The generated classes of this module, and the classes of other modules that their code names, with the
  /// superclasses of these: naming others would need imports of modules that may import this one.
  var listed: [Class] {
    let own = all.filter(\.isGenerated)
    let named = own.flatMap { type -> [Class] in
      type.entity.properties.filter { $0.declaringEntity == type.entity.name }.compactMap { property -> Class? in
        switch property.kind {
        case .attribute: nil
        case .relationship(let relationship): self.named(relationship.destination)
        case .fetchedProperty(let fetched): self.named(fetched.request.entity)
        }
      }
    }
    let names = Set((own + named).flatMap { [$0] + superclasses(of: $0) }.map(\.name))
    return all.filter { type in
      names.contains(type.name) && byName[type.name]?.entity.name == type.entity.name
        && (type.isGenerated || type.module != nil)
    }
  }

  /// The classes from which a class inherits, from the bottom up.
  private func superclasses(of type: Class) -> [Class] {
    var result: [Class] = []
    var seen: Set<String> = [type.name]
    var next = superclass(of: type)
    while let current = next, seen.insert(current.name).inserted {
      result.append(current)
      next = superclass(of: current)
    }
    return result
  }

  /// The class from which a class inherits, as that of the entity that it belongs to.
  private func superclass(of type: Class) -> Class? { parent(of: type).flatMap { byName[$0.name] } }

  /// The class for objects of an entity; entities that share a class have the same one.
  func named(_ entity: String) -> Class? { byEntity[entity] }
}
