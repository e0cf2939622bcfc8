import Foundation

/// Converts the archive of a model to a description.
struct ModelArchiveReader {
  /// The maximum depth of entity inheritance.
  static let inheritanceLimit = 100

  /// The parts that were omitted from the model.
  final class Warnings {
    fileprivate(set) var flaws: [PersistenceError] = []

    func add(_ place: PersistenceError.Place, _ message: String) {
      flaws.append(PersistenceError(.invalidModel, at: place, message))
    }
  }

  let archive: KeyedArchive
  let warnings = Warnings()
  private let root: ArchivedObject

  init(_ archive: KeyedArchive) throws {
    self.archive = archive
    root = try archive.root()
    guard root.isKind(of: "NSManagedObjectModel") else {
      throw PersistenceError(
        .malformedFile, at: root.place(),
        "The archive contains an object of the class \(root.className ?? "unknown"); a model was expected.")
    }
  }

  func model() throws -> ParsedModel {
    let archived = try root.entries("NSEntities")
    let objects = Dictionary(archived.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    var model = ModelDescription()
    for (name, object) in archived {
      guard try object.requiredText("NSEntityName") == name else {
        throw object.expected("'\(name)'", for: "NSEntityName")
      }
      let (entity, composites) = try self.entity(object, inherited: inheritedNames(of: object, among: objects))
      model.entities.append(entity)
      for composite in composites where !model.composites.contains(where: { $0.name == composite.name }) {
        model.composites.append(composite)
      }
    }
    for (name, request) in try root.member("NSFetchRequestTemplates")?.entries ?? [] {
      if let template = try fetchRequest(request) {
        model.fetchRequestTemplates[name] = template
      } else {
        model.unknown["fetch request \(name)"] = try summary(request)
      }
    }
    model.versionIdentifiers = try root.elements("NSVersionIdentifiers")
      .compactMap { try $0.text }.filter { !$0.isEmpty }.sorted()
    for key in root.keys where !Self.modelKeys.contains(key) {
      guard try readConfigurations(key, into: &model) == false else { continue }
      model.unknown[key] = try summary(root.member(key))
    }
    return ParsedModel(model, flaws: warnings.flaws)
  }

  private static let modelKeys: Set<String> = ["NSEntities", "NSFetchRequestTemplates", "NSVersionIdentifiers"]

  /// Reads configurations, by name: each has a list of entities or of their names.
  private func readConfigurations(_ key: String, into model: inout ModelDescription) throws -> Bool {
    guard key.contains("onfiguration"), let configurations = try root.member(key)?.entries else { return false }
    for (name, members) in configurations {
      let entities = try members.elements ?? members.entries?.map(\.value) ?? []
      model.configurations[name] = try entities.compactMap { try $0.text ?? $0.text("NSEntityName") }.sorted()
    }
    return true
  }

  /// Returns the names of all properties of an entity's ancestors.
  private func inheritedNames(
    of entity: ArchivedObject, among objects: [String: ArchivedObject]
  ) throws -> Set<String> {
    var names: Set<String> = []
    var current = entity
    var levels = 0
    while let parent = try current.member("NSSuperentity") {
      levels += 1
      guard levels <= Self.inheritanceLimit else {
        throw PersistenceError(
          .limitExceeded, at: entity.place("NSSuperentity"),
          "Entities inherit from each other over more than \(Self.inheritanceLimit) levels, or in a cycle.")
      }
      // The reference is to the model's entity of that name; a separate copy would contain nothing more.
      current = try parent.text("NSEntityName").flatMap { objects[$0] } ?? parent
      for (name, _) in try current.entries("NSProperties") { names.insert(name) }
    }
    return names
  }
}

extension ModelArchiveReader {
  private func entity(
    _ object: ArchivedObject, inherited: Set<String>
  ) throws -> (EntityDescription, [CompositeDescription]) {
    let name = try object.requiredText("NSEntityName")
    var entity = EntityDescription(name)
    var composites: [CompositeDescription] = []
    (entity.moduleName, entity.className) = Self.moduleAndClass(try object.text("NSClassNameForEntity"))
    entity.isAbstract = try object.flag("NSIsAbstract")
    entity.parent = try object.member("NSSuperentity")?.requiredText("NSEntityName")
    entity.renamingIdentifier = try renamingIdentifier(of: object, named: name)
    entity.versionHashModifier = try object.text("NSVersionHashModifier")
    entity.userInfo = try userInfo(of: object)
    for (propertyName, property) in try object.entries("NSProperties") where !inherited.contains(propertyName) {
      // In early archives, properties shared between entities are proxies.
      let property = try underlyingProperty(of: property)
      guard try property.text("NSPropertyName") == propertyName else {
        throw property.expected("'\(propertyName)'", for: "NSPropertyName")
      }
      if property.isKind(of: "NSAttributeDescription") {
        entity.attributes.append(try attribute(property, of: name, composites: &composites))
      } else if property.isKind(of: "NSRelationshipDescription") {
        entity.relationships.append(try relationship(property))
      } else if property.isKind(of: "NSFetchedPropertyDescription"), let fetched = try fetchedProperty(property) {
        entity.fetchedProperties.append(fetched)
      } else {
        entity.unknown["property \(propertyName)"] = try summary(property)
      }
    }
    try readIndexes(of: object, into: &entity)
    for key in object.keys where !Self.entityKeys.contains(key) {
      entity.unknown[key] = try summary(object.member(key))
    }
    return (entity, composites)
  }

  private static let entityKeys: Set<String> = [
    "NSClassNameForEntity", "NSCompoundIndexes", "NSEntityName", "NSFetchIndexDescriptions", "NSIsAbstract",
    "NSManagedObjectModel", "NSProperties", "NSRenamingIdentifier", "NSSubentities", "NSSuperentity", "NSUniqueTuples",
    "NSUserInfo", "NSVersionHashModifier",
  ]

  /// Splits `Shop.Item` into module and class, like the readers of sources.
  private static func moduleAndClass(_ name: String?) -> (module: String?, name: String?) {
    guard let name, !name.isEmpty, name != "NSManagedObject" else { return (nil, nil) }
    guard let dot = name.lastIndex(of: ".") else { return (nil, name) }
    return (String(name[..<dot]), String(name[name.index(after: dot)...]))
  }

  private func relationship(_ object: ArchivedObject) throws -> RelationshipDescription {
    let name = try object.requiredText("NSPropertyName")
    guard
      let destination = try object.text("_NSDestinationEntityName")
        ?? object.member("NSDestinationEntity")?.text("NSEntityName")
    else { throw object.expected("The name of an entity", for: "_NSDestinationEntityName") }
    let inverse = try object.text("_NSInverseRelationshipName")
      ?? object.member("NSInverseRelationship").map(propertyName)
    let rule = Int(exactly: try object.integer("NSDeleteRule", default: 1))
    guard let deleteRule = rule.flatMap(DeleteRule.init(rawValue:)) else {
      throw object.expected("A delete rule, 0 to 3,", for: "NSDeleteRule")
    }
    var relationship = RelationshipDescription(
      name: name, destination: destination, inverse: inverse,
      minimumCount: Int(clamping: try object.integer("NSMinCount")), maximumCount: try maximumCount(object),
      isOptional: try object.flag("NSIsOptional"), isTransient: try object.flag("NSIsTransient"),
      isOrdered: try object.flag("NSIsOrdered"), deleteRule: deleteRule,
      renamingIdentifier: try renamingIdentifier(of: object, named: name),
      versionHashModifier: try object.text("NSVersionHashModifier"), userInfo: try userInfo(of: object),
      isIndexedBySpotlight: try object.flag("NSIndexedBySpotlight"))
    relationship.unknown = try unknown(in: object, besides: Self.relationshipKeys)
    return relationship
  }

  private static let relationshipKeys: Set<String> = [
    "NSDeleteRule", "NSDestinationEntity", "NSInverseRelationship", "NSIsOrdered", "NSMaxCount", "NSMinCount",
    "_NSDestinationEntityName", "_NSInverseRelationshipName",
  ]

  /// Returns the maximum count. Models built in code may use -1 for no limit, which is otherwise 0.
  private func maximumCount(_ object: ArchivedObject) throws -> Int {
    let count = Int(clamping: try object.integer("NSMaxCount"))
    return count == -1 ? 0 : count
  }

  /// Nil if there is no usable request.
  private func fetchedProperty(_ object: ArchivedObject) throws -> FetchedPropertyDescription? {
    let name = try object.requiredText("NSPropertyName")
    guard let request = try object.member("NSFetchRequest").flatMap(fetchRequest) else { return nil }
    var property = FetchedPropertyDescription(
      name, request: request, isOptional: try object.flag("NSIsOptional"),
      renamingIdentifier: try renamingIdentifier(of: object, named: name), userInfo: try userInfo(of: object))
    property.unknown = try unknown(in: object, besides: ["NSFetchRequest"])
    return property
  }
}

extension ModelArchiveReader {
  /// The keys common to all kinds of properties. `_P` packs flags that also have separate keys.
  static let propertyKeys: Set<String> = [
    "NSEntity", "NSIndexedBySpotlight", "NSIsIndexed", "NSIsOptional", "NSIsTransient", "NSPropertyName",
    "NSRenamingIdentifier", "NSUserInfo", "NSValidationPredicates", "NSValidationWarnings", "NSVersionHashModifier",
    "_P",
  ]

  /// Returns the renaming identifier. Archives always contain one; it is significant only if it differs from the name.
  func renamingIdentifier(of object: ArchivedObject, named name: String) throws -> String? {
    try object.text("NSRenamingIdentifier").flatMap { $0 == name || $0.isEmpty ? nil : $0 }
  }

  func userInfo(of object: ArchivedObject) throws -> [String: String] {
    guard let info = try object.member("NSUserInfo") else { return Dictionary() }
    guard let entries = try info.entries else {
      warnings.add(object.place("NSUserInfo"), "The user info isn't a dictionary with string keys and is ignored.")
      return Dictionary()
    }
    var result: [String: String] = Dictionary()
    for (key, value) in entries { result[key] = try summary(value) }
    return result
  }

  func unknown(in object: ArchivedObject, besides known: Set<String>) throws -> [String: String] {
    var result: [String: String] = Dictionary()
    for key in object.keys where !known.contains(key) && !Self.propertyKeys.contains(key) {
      result[key] = try summary(object.member(key))
    }
    return result
  }

  /// Summarizes an object: its value if it has one, the values that it contains, or its class.
  func summary(_ object: ArchivedObject?) throws -> String? {
    guard let object else { return nil }
    switch try object.storedValue {
    case .string(let text)?, .uri(let text)?: return text
    case .boolean(let value)?: return value ? "YES" : "NO"
    case .integer(let value)?: return String(value)
    case .double(let value)?: return "\(value)"
    case .decimal(let value)?: return value.description
    case .date(let value)?: return "\(value.timeIntervalSinceReferenceDate)"
    case .data(let value)?: return value.base64EncodedString()
    case .uuid(let value)?: return value.uuidString
    case .null?, .objectID?, .composite?, nil: break
    }
    if let elements = try object.elements {
      let summaries = try elements.map { try $0.storedValue == nil ? $0.className ?? "" : summary($0) ?? "" }
      return summaries.joined(separator: ", ")
    }
    return object.className
  }

  /// Returns the name of a property, which may be given as a string, as the property itself, or as a proxy for it.
  func propertyName(_ object: ArchivedObject) throws -> String {
    if let text = try object.text { return text }
    return try underlyingProperty(of: object).requiredText("NSPropertyName")
  }

  /// Returns the property itself, or the one that a proxy represents.
  func underlyingProperty(of object: ArchivedObject) throws -> ArchivedObject {
    guard object.className == "_NSPropertyDescriptionProxy" else { return object }
    for key in object.keys {
      if let member = try object.member(key), member.isKind(of: "NSPropertyDescription") { return member }
    }
    throw object.expected("A property that the proxy stands for", for: object.keys.joined(separator: ", "))
  }
}
