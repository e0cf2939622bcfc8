import Foundation

/// Reads Xcode's source format of a mapping model: `xcmapping.xml`, an XML object store.
///
/// Information that the file leaves to Xcode's compiler is derived from the two models: names, types, `$source.name`
/// for attributes and the manager's functions for relationships.
struct XMLMappingReader {
  private let url: URL
  private let file: URL
  private let source: ManagedObjectModel
  private let destination: ManagedObjectModel
  private let objects: [String: MarkupElement]
  private let mappings: [MarkupElement]

  init(_ url: URL, from source: ManagedObjectModel, to destination: ManagedObjectModel) throws {
    self.url = url
    self.source = source
    self.destination = destination
    file = url.appendingPathComponent("xcmapping.xml")
    let elements = try MarkupReader.root(of: file).children(named: "object")
    objects = Dictionary(
      elements.compactMap { element in element.attributes["id"].map { ($0, element) } },
      uniquingKeysWith: { first, _ in first })
    let mappings = elements.filter { $0.attributes["type"] == "XDDEVENTITYMAPPING" }
    // The file still contains entity mappings that were deleted in Xcode's editor: only those listed in the mapping
    // model are part of it.
    let model = elements.first { $0.attributes["type"] == "XDDEVMAPPINGMODEL" }
    let list = model?.children(named: "relationship").first { $0.attributes["name"] == "entitymappings" }
    self.mappings =
      if let list {
        (list.attributes["idrefs"] ?? "").split(separator: " ").compactMap { id in
          mappings.first { $0.attributes["id"] == String(id) }
        }
      } else {
        mappings
      }
  }

  func mappingModel() throws -> MappingModel {
    let header = try MappingModelFile(at: url)
    let ordered = mappings.enumerated().ordered {
      (number($0.element), $0.offset) < (number($1.element), $1.offset)
    }.map(\.element)
    return MappingModel(
      url.stem, from: header.sourceVersion, to: header.destinationVersion,
      entityMappings: try ordered.map(entityMapping), url: url)
  }

  private func number(_ element: MarkupElement) -> Int { text("mappingnumber", of: element).flatMap { Int($0) } ?? 0 }

  private func entityMapping(_ element: MarkupElement) throws -> EntityMapping {
    let sourceEntity = try text("sourcename", of: element).map { try entity($0, of: source, element) }
    let destinationEntity = try text("destinationname", of: element).map { try entity($0, of: destination, element) }
    let policy = text("migrationpolicyclassname", of: element)
    var mapping = EntityMapping(
      text("name", of: element), from: sourceEntity?.name, to: destinationEntity?.name,
      type: policy == nil && sourceEntity?.name == destinationEntity?.name
        && sourceEntity?.fingerprint == destinationEntity?.fingerprint ? .copy : nil,
      policy: policy, userInfo: try userInfo(of: element))
    mapping.sourceExpression = try expression("sourceexpressiondata", of: element)
      ?? sourceEntity.map { .sourceObjects(of: $0.name) }
    // Names that the destination lacks are remains of other versions; Xcode's compiler drops them.
    mapping.attributeMappings = try related("attributemappings", of: element).compactMap { property in
      guard let name = text("name", of: property), destinationEntity?.attribute(named: name) != nil else { return nil }
      return try attributeMapping(name, property, from: sourceEntity)
    }
    mapping.relationshipMappings = try related("relationshipmappings", of: element).compactMap { property in
      guard let name = text("name", of: property),
        let relationship = destinationEntity?.relationship(named: name)
      else { return nil }
      return try relationshipMapping(relationship, property, from: sourceEntity)
    }
    return mapping
  }

  private func attributeMapping(
    _ name: String, _ element: MarkupElement, from source: Entity?
  ) throws -> PropertyMapping {
    let automatic: FetchExpression? = source?.attribute(named: name) == nil ? nil : .source(name)
    return PropertyMapping(
      name, valueExpression: try expression("valueexpressiondata", of: element) ?? automatic,
      userInfo: try userInfo(of: element))
  }

  private func relationshipMapping(
    _ relationship: RelationshipDescription, _ element: MarkupElement, from source: Entity?
  ) throws -> PropertyMapping {
    PropertyMapping(
      relationship.name,
      valueExpression: try expression("valueexpressiondata", of: element) ?? named(element)
        ?? automatic(relationship, from: source),
      userInfo: try userInfo(of: element))
  }

  /// The expression of a relationship for which the editor sets an entity mapping and the key path to its source
  /// objects.
  private func named(_ element: MarkupElement) throws -> FetchExpression? {
    guard let mapping = text("sourcemappingname", of: element), let path = text("sourcekeypath", of: element) else {
      return nil
    }
    return try PersistenceError.placing({ $0.file = file }) {
      .destinationInstances(ofMapping: mapping, for: try FetchExpression(path))
    }
  }

  /// The default expression of a relationship, which comes from the source's namesake.
  private func automatic(_ relationship: RelationshipDescription, from entity: Entity?) -> FetchExpression? {
    guard let old = entity?.relationship(named: relationship.name) else { return nil }
    let given = source.destination(of: old)
    let wanted = destination.destination(of: relationship)
    let targets = mappings.filter { mapping in
      guard let from = text("sourcename", of: mapping).flatMap({ source.entitiesByName[$0] }),
        let to = text("destinationname", of: mapping).flatMap({ destination.entitiesByName[$0] })
      else { return false }
      return from.isKind(of: given) && to.isKind(of: wanted)
    }
    guard let first = targets.first, targets.count == 1 else {
      return .destinationInstances(ofRelationship: relationship.name)
    }
    let name = text("name", of: first)
      ?? EntityMapping.defaultName(from: text("sourcename", of: first), to: text("destinationname", of: first))
    return .destinationInstances(ofMapping: name, for: .source(relationship.name))
  }

  // MARK: The file

  private func text(_ name: String, of element: MarkupElement) -> String? {
    let text = element.children(named: "attribute").first { $0.attributes["name"] == name }?.text
      .trimmingCharacters(in: .whitespacesAndNewlines)
    return text?.isEmpty == false ? text : nil
  }

  private func related(_ name: String, of element: MarkupElement) -> [MarkupElement] {
    let references = element.children(named: "relationship").first { $0.attributes["name"] == name }?
      .attributes["idrefs"] ?? ""
    return references.split(separator: " ").compactMap { objects[String($0)] }
      .ordered { (text("name", of: $0) ?? "") < (text("name", of: $1) ?? "") }
  }

  private func archive(_ name: String, of element: MarkupElement) throws -> ArchivedObject? {
    guard let text = text(name, of: element) else { return nil }
    guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else {
      throw PersistenceError(.malformedFile, at: .file(file, line: element.line), "'\(name)' isn't base64.")
    }
    var place = PersistenceError.Place.file(file, line: element.line)
    place.key = name
    return try KeyedArchive(data: data, place: place).root()
  }

  private func expression(_ name: String, of element: MarkupElement) throws -> FetchExpression? {
    try archive(name, of: element).map(MappingArchiveReader.expression)
  }

  private func userInfo(of element: MarkupElement) throws -> [String: StoredValue] {
    try MappingArchiveReader.userInfo(archive("userinfodata", of: element)?.entries ?? [])
  }

  private func entity(_ name: String, of model: ManagedObjectModel, _ element: MarkupElement) throws -> Entity {
    if let entity = model.entitiesByName[name] { return entity }
    throw PersistenceError(
      .malformedFile, at: .file(file, line: element.line), "The mapping is for '\(name)', which isn't in the model.",
      fix: "The model's entities are \(model.entities.map(\.name).sorted().joined(separator: ", ")).")
  }
}
