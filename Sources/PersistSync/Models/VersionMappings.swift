import Foundation
import Persist

/// The mapping models between versions.
struct VersionMappings: Sendable {
  /// A mapping model from one version to another.
  struct Step: Sendable {
    let source: ManagedObjectModel
    let sourceTag: ModelTag
    let destination: ManagedObjectModel
    let destinationTag: ModelTag
    let entities: [EntityMapping]
  }

  /// An entity whose objects become those of several ones, or of one depending on their values.
  struct Split: Sendable {
    let source: ManagedObjectModel
    let sourceTag: ModelTag
    let destinationTag: ModelTag
    /// The places of the versions in their order.
    let places: ClosedRange<Int>
    let entity: String
    /// In the order of precedence, with the predicate over the source objects; nil for all.
    let destinations: [(name: String, predicate: FetchPredicate?)]
  }

  /// In the order of the versions.
  private(set) var steps: [Step] = []
  private(set) var splits: [Split] = []
  /// The places of the versions in their order.
  private var places: [ModelTag: Int] = [:]

  static let none = VersionMappings()

  var isEmpty: Bool { steps.isEmpty }

  private init() {}

  /// - Parameters:
  ///   - registry: The versions, with the mapping models of their files.
  ///   - mappings: Other mapping models, which name their versions.
  /// - Throws: The errors of reading a mapping model.
  init(_ registry: ModelRegistry?, _ mappings: [MappingModel]) throws {
    guard let registry, !registry.mappingModels.isEmpty || !mappings.isEmpty else { return }
    let versions = registry.versions
    for source in versions {
      for destination in versions where source.name != destination.name {
        let files = registry.mappingModels.isEmpty ? [] : try registry.readMappingModels(from: source, to: destination)
        let given = mappings.filter { $0.sourceVersion == source.name && $0.destinationVersion == destination.name }
        let all = (files + given).flatMap(\.entityMappings)
        guard !all.isEmpty else { continue }
        steps.append(
          Step(
            source: source.model, sourceTag: ModelTag(of: source.model), destination: destination.model,
            destinationTag: ModelTag(of: destination.model), entities: all))
      }
    }
    guard !steps.isEmpty else { return }
    for (place, version) in versions.enumerated() { places[ModelTag(of: version.model)] = place }
    splits = steps.flatMap(splits).sorted { ($0.places.lowerBound, $0.entity) < ($1.places.lowerBound, $1.entity) }
  }

  /// The place of a version in their order; nil for an unknown one.
  func place(of version: ModelTag) -> Int? { places[version] }

  private func splits(of step: Step) -> [Split] {
    guard let from = places[step.sourceTag], let to = places[step.destinationTag], from < to else { return [] }
    let mappings = step.orderedEntities.filter { $0.sourceEntityName != nil && $0.destinationEntityName != nil }
    return Dictionary(grouping: mappings, by: { $0.sourceEntityName ?? "" }).compactMap { entity, mappings in
      let destinations = mappings.map { ($0.destinationEntityName ?? "", $0.selection) }
      guard destinations.count > 1 || destinations.contains(where: { $0.1 != nil }) else { return nil }
      return Split(
        source: step.source, sourceTag: step.sourceTag, destinationTag: step.destinationTag, places: from...to,
        entity: entity, destinations: destinations)
    }
  }

  /// The mapping models between the versions up to one of them.
  func known(to version: ModelTag) -> VersionMappings {
    guard let last = places[version] else { return .none }
    var known = self
    known.steps = steps.filter { step in
      [step.sourceTag, step.destinationTag].allSatisfy { places[$0].map { $0 <= last } == true }
    }
    known.splits = splits.filter { $0.places.upperBound <= last }
    return known
  }

  /// The entities and properties of two versions that are the same by a mapping model between them.
  func pairs(from one: ModelTag, to other: ModelTag) -> [(theirs: [String], own: [String])] {
    var pairs: [(theirs: [String], own: [String])] = []
    for step in steps {
      let isForward = step.sourceTag == one && step.destinationTag == other
      guard isForward || step.sourceTag == other && step.destinationTag == one else { continue }
      for mapping in step.orderedEntities {
        guard let source = mapping.sourceEntityName, let destination = mapping.destinationEntityName else { continue }
        let copies = (mapping.attributeMappings + mapping.relationshipMappings).compactMap { property in
          property.copiedName.map { ([source, $0], [destination, property.name]) }
        }
        for (old, new) in [([source], [destination])] + copies { pairs.append(isForward ? (old, new) : (new, old)) }
      }
    }
    return pairs
  }

  /// The attributes of the later of two versions whose values a mapping model in between computes, so that equal names
  /// don't mean equal values.
  func computedNames(from one: ModelTag, to other: ModelTag) -> Set<[String]> {
    guard let first = places[one], let second = places[other] else { return [] }
    let (low, high) = (min(first, second), max(first, second))
    var names: Set<[String]> = []
    for step in steps {
      guard let from = places[step.sourceTag], let to = places[step.destinationTag], from < to, from >= low, to <= high
      else { continue }
      for mapping in step.entities {
        for property in mapping.attributeMappings where property.isComputed {
          names.insert([mapping.destinationEntityName ?? "", property.name])
        }
      }
    }
    return names
  }
}

extension VersionMappings.Step {
  /// Of several entities that an entity is split into, that with its name comes first.
  var orderedEntities: [EntityMapping] {
    entities.filter { $0.sourceEntityName == $0.destinationEntityName }
      + entities.filter { $0.sourceEntityName != $0.destinationEntityName }
  }
}

extension EntityMapping {
  /// The predicate over the source objects; nil for all of them, and for an expression of another form.
  var selection: FetchPredicate? {
    guard case .fetch(let request, _, false)? = sourceExpression, case .call(_, _, let arguments) = request,
      arguments.count == 2, case .constant(.string(let format)) = arguments[1],
      let predicate = try? FetchPredicate(format), predicate != FetchPredicate(value: true)
    else { return nil }
    return predicate
  }
}

extension VersionMappings.Split {
  /// The entity of an object in the later version: the first one whose predicate it meets.
  ///
  /// Only values of the earlier versions count, so that a later change of such a value doesn't move the object.
  ///
  /// - Parameters:
  ///   - map: The correspondences to the earlier version.
  ///   - schema: The properties of the earlier version.
  /// - Returns: Nil if the mapping model leaves the object out.
  func destination(of object: ObjectFacts, _ map: ModelMap, _ schema: SyncSchema) throws -> String? {
    guard let from = source.entitiesByName[entity] else { return nil }
    var registers: [String: [Register]] = [:]
    for (property, register) in object.values where register.life == object.count {
      guard let place = map.mappings.place(of: property.model), place <= places.lowerBound,
        let name = try map.name(of: property, in: from)
      else { continue }
      registers[name, default: []].append(register)
    }
    for name in registers.keys { registers[name]?.sort { Register.isLater($0, than: $1) } }
    let values = MappedSource(from, schema[from], registers)
    var isDecided = true
    for (name, predicate) in destinations {
      guard let predicate else { return name }
      if let meets = try? predicate.evaluate(with: values) {
        if meets { return name }
      } else {
        isDecided = false
      }
    }
    // A predicate over other objects can't be evaluated.
    return isDecided ? nil : destinations.first?.name
  }
}

extension PropertyMapping {
  private static let source = FetchExpression.variable("source")

  /// The property of the source object whose value becomes that of this one, unchanged.
  var copiedName: String? {
    switch valueExpression {
    case .path(Self.source, let keys)? where keys.count == 1: keys[0]
    case .call(_, "destinationInstancesForSourceRelationshipNamed:sourceInstances:", let arguments)?:
      if case .constant(.string(let name))? = arguments.first { name } else { nil }
    case .call(_, "destinationInstancesForEntityMappingNamed:sourceInstances:", let arguments)?:
      if case .path(Self.source, let keys)? = arguments.last, keys.count == 1 { keys[0] } else { nil }
    default: nil
    }
  }

  var isComputed: Bool { valueExpression != nil && copiedName == nil }
}

/// An object of an earlier version, from whose values a mapping model computes those of a later one.
private final class MappedSource: KeyedObject {
  private let entity: Entity
  private let part: SyncSchema.EntityPart
  private let registers: [String: [Register]]
  /// The time of the last of the values that were read.
  private(set) var last: Stamp?

  init(_ entity: Entity, _ part: SyncSchema.EntityPart, _ registers: [String: [Register]]) {
    (self.entity, self.part, self.registers) = (entity, part, registers)
  }

  func fetchValue(forKey key: String) throws -> FetchValue {
    guard let attribute = part.attribute(key) else {
      throw PersistenceError(
        .unknownProperty, at: .property(entity.name, key), "'\(entity.name)' has no attribute '\(key)'.",
        fix: "Values of other objects can't be computed while changes are synchronized.")
    }
    let known = registers[key] ?? []
    if let stamp = known.first?.stamp { last = last.map { max($0, stamp) } ?? stamp }
    return .value(attribute.value(of: known))
  }

  func hasProperty(named name: String) -> Bool { part.attribute(name) != nil }
  var fetchIdentity: StoredValue { .null }
  var fetchEntityName: String? { entity.name }
}

extension ModelMap {
  /// The values of an object that mapping models compute from those of other versions, each with the time of the latest
  /// value that it was computed from.
  ///
  /// - Parameter known: The object's values.
  func computedValues(of object: ObjectFacts, _ known: [PropertyName: Register]) throws -> [PropertyName: Register] {
    guard !mappings.steps.isEmpty, object.life != nil else { return [:] }
    var values = known
    var computed: [PropertyName: Register] = [:]
    for step in mappings.steps {
      guard let (source, schema) = try version(step.sourceTag, step.source),
        let destination = try version(step.destinationTag, step.destination)?.map,
        let from = try source.entity(of: object), let to = try destination.entity(of: object)
      else { continue }
      let mappings = step.entities.filter {
        $0.sourceEntityName == from.name && $0.destinationEntityName == to.name && $0.policyName == nil
          && $0.attributeMappings.contains(where: \.isComputed)
      }
      guard !mappings.isEmpty else { continue }
      var registers: [String: [Register]] = [:]
      for (property, register) in values where register.life == object.count {
        if let name = try source.name(of: property, in: from) { registers[name, default: []].append(register) }
      }
      for name in registers.keys { registers[name]?.sort { Register.isLater($0, than: $1) } }
      for property in mappings.flatMap(\.attributeMappings) where property.isComputed {
        let read = MappedSource(from, schema[from], registers)
        guard let register = Self.register(property, read, life: object.count) else { continue }
        let name = PropertyName(model: step.destinationTag, entity: to.name, name: property.name)
        computed[name] = register
        if values[name].map({ Register.isLater(register, than: $0) }) ?? true { values[name] = register }
      }
    }
    return computed
  }

  /// The result of an expression; nil if it needs more than the object's own values.
  private static func register(_ property: PropertyMapping, _ source: MappedSource, life: UInt32) -> Register? {
    guard let expression = property.valueExpression else { return nil }
    // A fixed time, so that all replicas compute the same.
    let evaluator = ExpressionEvaluator(
      variables: ["source": .object(source)], now: Date(timeIntervalSinceReferenceDate: 0))
    guard case .value(let value)? = try? evaluator.value(of: expression, for: .object(source)), let stamp = source.last
    else { return nil }
    return Register(life: life, stamp: stamp, content: PortableValue.bytes(value))
  }
}
