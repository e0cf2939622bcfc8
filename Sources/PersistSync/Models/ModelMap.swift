import Foundation
import Persist

/// The parts of the store's own model that correspond to those of the model of a fact.
final class ModelMap {
  let model: ManagedObjectModel
  let tag: ModelTag
  private var others: [ModelTag: Correspondence?] = [:]
  private var names: [NameQuery: String?] = [:]
  /// The versions whose facts wait, because it isn't clear what corresponds to what.
  private(set) var failures: [PersistenceError] = []
  private let registry: ModelRegistry?
  let mappings: VersionMappings
  private var versions: [ModelTag: (map: ModelMap, schema: SyncSchema)] = [:]
  private let known: KnownVersions
  private let descriptions: () throws -> [ModelTag: Data]
  private lazy var models = Result { try knownModels() }

  private struct NameQuery: Hashable {
    var property: PropertyName
    var entity: String
  }

  /// - Parameters:
  ///   - registry: The versions that the program knows; nil for none.
  ///   - mappings: The mapping models between them.
  ///   - known: The models that have been compared before.
  ///   - descriptions: The descriptions of the models that replicas have used.
  init(
    _ model: ManagedObjectModel, _ tag: ModelTag, registry: ModelRegistry?, mappings: VersionMappings,
    known: KnownVersions, descriptions: @escaping () throws -> [ModelTag: Data]
  ) {
    (self.model, self.tag, self.registry, self.descriptions) = (model, tag, registry, descriptions)
    (self.mappings, self.known) = (mappings, known)
  }

  /// The correspondences from other versions to one of those that mapping models know.
  func version(_ tag: ModelTag, _ model: ManagedObjectModel) throws -> (map: ModelMap, schema: SyncSchema)? {
    if let known = versions[tag] { return known }
    let map = ModelMap(
      model, tag, registry: registry, mappings: mappings, known: known, descriptions: descriptions)
    let version = (map: map, schema: try SyncSchema(model, identifiedBy: [:]))
    versions[tag] = version
    return version
  }

  /// The correspondences to another version as its programs knew them; nil for an unknown version.
  func version(_ tag: ModelTag) throws -> ModelMap? {
    try models.get()[tag].map {
      ModelMap(
        $0, tag, registry: registry, mappings: mappings.known(to: tag), known: known, descriptions: descriptions)
    }
  }

  private func knownModels() throws -> [ModelTag: ManagedObjectModel] {
    var models: [ModelTag: ManagedObjectModel] = [:]
    for (tag, data) in try descriptions() { models[tag] = known.model(tag, data) }
    for version in registry?.versions ?? [] {
      models[ModelTag(of: version.model)] = version.model
    }
    return models
  }

  /// The own name of an entity of another model; nil if it has no place. Of several entities that it is split into, the
  /// first one.
  func entityName(_ name: String, in other: ModelTag) throws -> String? {
    try entityNames(name, in: other).first
  }

  /// The own names of the entities that an entity of another model is split into, or was merged from.
  func entityNames(_ name: String, in other: ModelTag) throws -> [String] {
    other == tag ? [name] : try correspondence(other)?.entities[name] ?? []
  }

  /// The own entity of an object; nil if the model has no place for it.
  func entity(of object: ObjectFacts) throws -> Entity? {
    guard let life = object.life else { return nil }
    var (version, name) = (life.model, life.entity)
    if !mappings.splits.isEmpty, version != tag, let last = mappings.place(of: tag) {
      for split in mappings.splits {
        guard let first = mappings.place(of: version), first <= split.places.lowerBound,
          split.places.upperBound <= last,
          let (source, schema) = try self.version(split.sourceTag, split.source),
          try source.entityName(name, in: version) == split.entity
        else { continue }
        guard let chosen = try split.destination(of: object, source, schema) else { return nil }
        (version, name) = (split.destinationTag, chosen)
      }
    }
    let names = try entityNames(name, in: version)
    // An earlier version doesn't know which of its entities a later one was merged from.
    if names.count > 1, let place = mappings.place(of: version), let own = mappings.place(of: tag), own < place {
      return nil
    }
    return names.first.flatMap { model.entitiesByName[$0] }
  }

  /// The name of a property in the own model; nil if it has no place.
  ///
  /// - Parameter entity: The own entity of the object.
  func name(of property: PropertyName, in entity: Entity) throws -> String? {
    if property.model == tag { return property.name }
    let query = NameQuery(property: property, entity: entity.name)
    if let known = names[query] { return known }
    let name = try correspondence(property.model)?.property(property.name, of: property.entity, in: entity.name)
    names.updateValue(name, forKey: query)
    return name
  }

  /// The own declarations of a property, whatever the entity of the object for which it was recorded: several if it was
  /// moved to subentities.
  func declarations(of property: PropertyName) throws -> [PropertyDeclaration] {
    if property.model == tag { return [PropertyDeclaration(entity: property.entity, name: property.name)] }
    return try correspondence(property.model)?.declarations(of: property.name, in: property.entity) ?? []
  }

  private func correspondence(_ other: ModelTag) throws -> Correspondence? {
    if let known = others[other] { return known }
    let models = try models.get()
    var found: Correspondence?
    if let theirs = models[other] {
      do {
        found = try correspondence(from: (other, theirs), to: (tag, model))
      } catch {
        failures.append(failure(theirs, error))
      }
      // Versions in between know of renames that neither of the two has.
      if let direct = found {
        let comparison = comparison(other, tag, others: Set(models.keys))
        found = known.correspondence(comparison) { completed(direct, from: theirs, other, by: models) }
      }
    }
    others.updateValue(found, forKey: other)
    return found
  }
}

extension ModelMap {
  private func correspondence(
    from theirs: (tag: ModelTag, model: ManagedObjectModel), to own: (tag: ModelTag, model: ManagedObjectModel)
  ) throws -> Correspondence {
    try known.correspondence(comparison(theirs.tag, own.tag)) {
      try Correspondence(
        from: theirs.model, to: own.model, mapped: mappings.pairs(from: theirs.tag, to: own.tag),
        computed: mappings.computedNames(from: theirs.tag, to: own.tag))
    }
  }

  private func comparison(
    _ theirs: ModelTag, _ own: ModelTag, others: Set<ModelTag> = []
  ) -> KnownVersions.Comparison {
    KnownVersions.Comparison(theirs: theirs, own: own, mappingCount: mappings.steps.count, others: others)
  }

  /// Follows renames through all known versions, however many are in between.
  private func completed(
    _ direct: Correspondence, from theirs: ManagedObjectModel, _ other: ModelTag,
    by models: [ModelTag: ManagedObjectModel]
  ) -> Correspondence {
    let others = models.filter { $0.key != other && $0.key != tag }.sorted { $0.key.number < $1.key.number }
      .map { (tag: $0.key, model: $0.value) }
    let ends = others + [(tag, model)]
    var reached: [Correspondence?] = others.map { try? correspondence(from: (other, theirs), to: $0) } + [direct]
    let steps = others.map { middle in ends.map { try? correspondence(from: middle, to: $0) } }
    for _ in others {
      for (middle, row) in steps.enumerated() {
        guard let first = reached[middle] else { continue }
        for (end, step) in row.enumerated() where end != middle {
          if let step { reached[end]?.complete(by: first, step) }
        }
      }
    }
    return reached.last.flatMap { $0 } ?? direct
  }

  private func failure(_ theirs: ManagedObjectModel, _ error: any Error) -> PersistenceError {
    func name(_ model: ManagedObjectModel) -> String { model.description.versionIdentifiers.joined(separator: ", ") }
    return PersistenceError(
      .mappingAmbiguous,
      "Changes of the version '\(name(theirs))' wait: what corresponds to what in '\(name(model))' isn't clear.",
      fix: (error as? PersistenceError)?.fix, errors: [error as? PersistenceError].compactMap { $0 })
  }
}

extension StoredValue {
  /// Whether the value is a text that contains U+0000.
  var hasNullCharacter: Bool {
    switch self {
    case .string(let text), .uri(let text): text.utf8.contains(0)
    default: false
    }
  }

  /// The value in the type of an attribute of another version of the model; nil if it has no equal there, or if no
  /// column can hold it, like NaN.
  func converted(to type: AttributeType) -> StoredValue? {
    func integer(in range: ClosedRange<Int64>) -> StoredValue? {
      switch self {
      case .integer(let value): range.contains(value) ? self : nil
      case .boolean(let value): .integer(value ? 1 : 0)
      default: nil
      }
    }
    if isNull { return self }
    switch type {
    case .int16: return integer(in: Int64(Int16.min)...Int64(Int16.max))
    case .int32: return integer(in: Int64(Int32.min)...Int64(Int32.max))
    case .int64: return integer(in: .min ... .max)
    case .boolean:
      if case .integer(let value) = self { return (0...1).contains(value) ? .boolean(value == 1) : nil }
      if case .boolean = self { return self }
    case .double, .float:
      switch self {
      case .double(let value): return type == .double && !value.isNaN || Double(Float(value)) == value ? self : nil
      case .integer(let value): return Int64(exactly: Double(value)) == value ? .double(Double(value)) : nil
      default: return nil
      }
    case .decimal:
      if case .integer(let value) = self { return .decimal(Decimal(value)) }
      if case .decimal(let value) = self, !value.isNaN { return self }
    case .string:
      if case .uri(let text) = self { return .string(text) }
      if case .string = self { return self }
    case .uri:
      if case .string(let text) = self { return StoredValue.isURI(text) ? .uri(text) : nil }
      if case .uri = self { return self }
    case .date: if case .date(let value) = self, !value.timeIntervalSinceReferenceDate.isNaN { return self }
    case .uuid: if case .uuid = self { return self }
    case .binary, .transformable: if case .data = self { return self }
    case .composite, .objectID, .undefined: break
    }
    return nil
  }
}
