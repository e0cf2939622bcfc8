import Foundation

/// A difference between two models, in words: for errors that explain why a store and a model don't match, and for
/// finding the version that a store was written with.
package struct ModelDifference: Sendable, Equatable {
  /// The significance of a difference for telling versions apart.
  package enum Weight: Sendable, Equatable {
    /// Rows are stored or read differently: the versions are distinct.
    case storage
    /// Rules, defaults, indexes: versions that differ only in these are stored in the same form.
    case detail
  }

  package let weight: Weight
  let entity: String?
  let property: String?
  /// The difference, such as `required in the store, optional in the model`.
  let what: String

  /// Compares a store's model with another one.
  ///
  /// Parts that a store's model can't express aren't compared: editor settings, entries preserved as unknown, and
  /// classes, which the application that wrote the store may have replaced.
  @inline(never)
  package static func between(store: ManagedObjectModel, model: ManagedObjectModel) -> [ModelDifference] {
    var comparison = ModelWordComparison()
    comparison.compare(store.description, model.description)
    return comparison.differences
  }
}

extension ManagedObjectModel {
  /// Whether stores of the two models have the same form, as far as both models can express it; works for a model's
  /// source and its archive too.
  func isStoredLike(_ other: ManagedObjectModel) -> Bool {
    entitiesByName.count == other.entitiesByName.count
      && ModelDifference.between(store: self, model: other).allSatisfy { $0.weight == .detail }
  }
}

extension ModelDifference: CustomStringConvertible {
  /// The difference as a sentence.
  package var description: String {
    let subject = [entity, property].compactMap { $0 }.joined(separator: ".")
    return (subject.isEmpty ? what : "\(subject): \(what)") + "."
  }
}

/// Collects the differences of two models.
private struct ModelWordComparison {
  private(set) var differences: [ModelDifference] = []
  private var entity: String?
  private var property: String?
  private var storeComposites: [String: CompositeDescription] = Dictionary()
  private var modelComposites: [String: CompositeDescription] = Dictionary()

  mutating func compare(_ store: ModelDescription, _ model: ModelDescription) {
    storeComposites = Self.byName(store.composites, \.name)
    modelComposites = Self.byName(model.composites, \.name)
    for (name, left, right) in Self.pairs(in: store.entities, and: model.entities, by: \.name) {
      (entity, property) = (name, nil)
      switch (left, right) {
      case (let left?, let right?): compare(left, right)
      case (_?, nil): record(.storage, Self.missing("an entity", inModel: true))
      case (nil, _): record(.storage, Self.missing("an entity", inModel: false))
      }
    }
    (entity, property) = (nil, nil)
    value(
      "configurations", store: store.configurations.mapValues(Set.init),
      model: model.configurations.mapValues(Set.init), .detail)
    value(
      "fetch requests", store: Set(store.fetchRequestTemplates.keys),
      model: Set(model.fetchRequestTemplates.keys), .detail)
  }

  private mutating func compare(_ store: EntityDescription, _ model: EntityDescription) {
    text("parent", store: store.parent, model: model.parent, .storage)
    flag(yes: "abstract", no: "not abstract", store: store.isAbstract, model: model.isAbstract, weight: .storage)
    text("hash modifier", store: store.versionHashModifier, model: model.versionHashModifier, .storage)
    value("uniqueness constraints", store: store.uniquenessTexts, model: model.uniquenessTexts, .storage)
    text("renaming identifier", store: store.renamingIdentifier, model: model.renamingIdentifier, .detail)
    value("user info", store: store.userInfo, model: model.userInfo, .detail)
    value("indexes", store: Set(store.indexes.map(\.normalForm)), model: Set(model.indexes.map(\.normalForm)), .detail)
    value("compound indexes", store: Set(store.compoundIndexes), model: Set(model.compoundIndexes), .detail)
    // Composites are compared in flattened form: an archive may not contain the names of their types.
    let attributes = (
      store: Self.flattened(store.attributes, by: storeComposites),
      model: Self.flattened(model.attributes, by: modelComposites)
    )
    for (name, left, right) in Self.pairs(in: attributes.store, and: attributes.model, by: \.name) {
      compareAttributes(name, store: left, model: right)
    }
    for (name, left, right) in Self.pairs(in: store.relationships, and: model.relationships, by: \.name) {
      compareRelationships(name, store: left, model: right)
    }
    let requests = (store.fetchedProperties.map(\.name), model.fetchedProperties.map(\.name))
    property = nil
    value("fetched properties", store: Set(requests.0), model: Set(requests.1), .detail)
  }

  private mutating func compareAttributes(
    _ name: String, store: AttributeDescription?, model: AttributeDescription?
  ) {
    property = name
    guard let store, let model else {
      let weight: ModelDifference.Weight = (store ?? model)?.isTransient == true ? .detail : .storage
      record(weight, Self.missing("an attribute", inModel: model == nil))
      return
    }
    if store.type != model.type {
      record(.storage, "\(store.type.rawValue) in the store, \(model.type.rawValue) in the model")
    }
    flag(yes: "transient", no: "stored", store: store.isTransient, model: model.isTransient, weight: .storage)
    // A transient attribute isn't stored, so its other differences don't matter.
    let weight: ModelDifference.Weight = store.isTransient && model.isTransient ? .detail : .storage
    flag(yes: "optional", no: "required", store: store.isOptional, model: model.isOptional, weight: weight)
    let external = (store.allowsExternalStorage, model.allowsExternalStorage)
    flag(yes: "in external files", no: "not in external files", store: external.0, model: external.1, weight: weight)
    let preserved = (store.preservesValueOnDeletion, model.preservesValueOnDeletion)
    flag(yes: "kept on deletion", no: "not kept on deletion", store: preserved.0, model: preserved.1, weight: weight)
    flag(yes: "derived", no: "not derived", store: store.isDerived, model: model.isDerived, weight: weight)
    if store.isDerived && model.isDerived {
      // An expression can be written in several ways, and an archive may contain none of them.
      text("derivation", store: store.derivation?.formatNormalForm, model: model.derivation?.formatNormalForm, .detail)
    }
    text("hash modifier", store: store.versionHashModifier, model: model.versionHashModifier, .storage)
    if store.defaultValue != model.defaultValue {
      record(.detail, "default \(store.defaultValue) in the store, \(model.defaultValue) in the model")
    }
    text("renaming identifier", store: store.renamingIdentifier, model: model.renamingIdentifier, .detail)
    text("transformer", store: store.valueTransformerName, model: model.valueTransformerName, .detail)
    value("user info", store: store.userInfo, model: model.userInfo, .detail)
    value("validation", store: store.validation.normalForm, model: model.validation.normalForm, .detail)
    flag(yes: "indexed", no: "not indexed", store: store.isIndexed, model: model.isIndexed, weight: .detail)
  }

  private mutating func compareRelationships(
    _ name: String, store: RelationshipDescription?, model: RelationshipDescription?
  ) {
    property = name
    guard let store, let model else {
      record(.storage, Self.missing("a relationship", inModel: model == nil))
      return
    }
    text("destination", store: store.destination, model: model.destination, .storage)
    text("inverse", store: store.inverse, model: model.inverse, .storage)
    flag(yes: "to-many", no: "to-one", store: store.isToMany, model: model.isToMany, weight: .storage)
    if store.isToMany && model.isToMany {
      flag(yes: "ordered", no: "unordered", store: store.isOrdered, model: model.isOrdered, weight: .storage)
    }
    flag(yes: "transient", no: "stored", store: store.isTransient, model: model.isTransient, weight: .storage)
    flag(yes: "optional", no: "required", store: store.isOptional, model: model.isOptional, weight: .storage)
    text("hash modifier", store: store.versionHashModifier, model: model.versionHashModifier, .storage)
    value("delete rule", store: store.deleteRule, model: model.deleteRule, .detail)
    value(
      "counts", store: [store.minimumCount, store.maximumCount],
      model: [model.minimumCount, model.maximumCount], .detail)
    text("renaming identifier", store: store.renamingIdentifier, model: model.renamingIdentifier, .detail)
    value("user info", store: store.userInfo, model: model.userInfo, .detail)
  }

  // MARK: Words

  private static func missing(_ what: String, inModel: Bool) -> String {
    what + (inModel ? " of the store that the model doesn't have" : " of the model that the store doesn't have")
  }

  @inline(never)
  private mutating func record(_ weight: ModelDifference.Weight, _ what: String) {
    differences.append(ModelDifference(weight: weight, entity: entity, property: property, what: what))
  }

  @inline(never)
  private mutating func flag(
    yes: String, no: String, store: Bool, model: Bool, weight: ModelDifference.Weight
  ) {
    if store != model { record(weight, "\(store ? yes : no) in the store, \(model ? yes : no) in the model") }
  }

  @inline(never)
  private mutating func text(
    _ what: String, store: String?, model: String?, _ weight: ModelDifference.Weight
  ) {
    guard store != model else { return }
    func quoted(_ text: String?) -> String { text.map { "'\($0)'" } ?? "none" }
    record(weight, "\(what) \(quoted(store)) in the store, \(quoted(model)) in the model")
  }

  private mutating func value<Value: Equatable>(
    _ what: String, store: Value, model: Value, _ weight: ModelDifference.Weight
  ) {
    if store != model { record(weight, "other \(what) in the model than in the store") }
  }

  // MARK: Forms to compare

  private static func sets(_ lists: [[String]]) -> Set<Set<String>> { Set(lists.map(Set.init)) }

  /// Pairs the elements of two lists by name, in name order.
  private static func pairs<Element>(
    in store: [Element], and model: [Element], by name: (Element) -> String
  ) -> [(name: String, store: Element?, model: Element?)] {
    let left = byName(store, name)
    let right = byName(model, name)
    return Set(left.keys).union(right.keys).sorted().map { ($0, left[$0], right[$0]) }
  }

  private static func byName<Element>(_ elements: [Element], _ name: (Element) -> String) -> [String: Element] {
    Dictionary(elements.map { (name($0), $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Returns the attributes and the elements of composite ones, named by their paths.
  private static func flattened(
    _ attributes: [AttributeDescription], by composites: [String: CompositeDescription]
  ) -> [AttributeDescription] {
    var result: [AttributeDescription] = []
    var pending = attributes.map { (attribute: $0, depth: 0) }
    while let (attribute, depth) = pending.popLast() {
      result.append(attribute)
      guard attribute.type == .composite, depth <= ModelCheck.Limit.compositeDepth,
        let composite = attribute.compositeName.flatMap({ composites[$0] })
      else { continue }
      for var element in composite.elements {
        element.name = "\(attribute.name).\(element.name)"
        pending.append((element, depth + 1))
      }
    }
    return result
  }
}
