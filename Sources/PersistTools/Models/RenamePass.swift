import Persist

/// Renames the entities and properties of a model and all references to them, those in predicates and expressions too.
struct RenamePass {
  private let renames: ModelRenames
  /// The renames that led from the parent version to the model; nil for the parent version itself.
  private let earlier: ModelRenames?
  /// The entities from which entities inherit, by name in the model.
  private var parents: [String: String] = [:]
  /// The properties that entities declare, by the names of both in the model.
  private var properties: [String: [String: MarkupElement]] = [:]

  /// The place of an element in the model.
  private struct Scope {
    /// The entity that contains the element.
    var owner: String?
    /// The entity of the objects for which predicates and keys are evaluated.
    var evaluated: String?
  }

  /// The XML attributes with predicates, expressions or key paths.
  private static let formats: [String: [String]] = [
    "attribute": ["derivationExpression"],
    "constraint": ["value"],
    "index": ["value"],
    "fetchIndex": ["partialIndexPredicate", "partialIndexPredicateString", "partialPredicate", "predicateString"],
    "fetchIndexElement": ["property", "expression"],
    "fetchRequest": ["predicateString"],
    "sortDescriptor": ["key"],
  ]

  /// - Parameters:
  ///   - renames: the renames to apply, which are those of one side of a merge.
  ///   - earlier: the renames of the other side that the model already has; nil for none.
  ///   - model: the model to rename.
  /// - Returns: the model with the new names.
  static func applying(
    _ renames: ModelRenames, after earlier: ModelRenames?, to model: MarkupElement
  ) -> MarkupElement {
    RenamePass(renames, after: earlier, in: model).renamed(model, in: Scope())
  }

  private init(_ renames: ModelRenames, after earlier: ModelRenames?, in model: MarkupElement) {
    self.renames = renames
    self.earlier = earlier
    for entity in model.children(named: "entity") {
      guard let name = entity.attributes["name"] else { continue }
      parents[name] = entity.attributes["parentEntity"]
      for property in ModelRenames.properties(of: entity) {
        if let key = property.attributes["name"] { properties[name, default: [:]][key] = property }
      }
    }
  }

  private func renamed(_ element: MarkupElement, in scope: Scope) -> MarkupElement {
    var attributes = element.attributes
    var inner = scope
    func renameEntity(_ key: String) {
      if let name = attributes[key], let new = newName(ofEntity: name) { attributes[key] = new }
    }
    switch element.name {
    case "entity":
      inner = Scope(owner: attributes["name"], evaluated: attributes["name"])
      renameEntity("name")
      renameEntity("parentEntity")
    case _ where ModelRenames.propertyElements.contains(element.name):
      guard let owner = scope.owner else { break }
      if let name = attributes["name"] { attributes["name"] = newName(ofProperty: name, declaredBy: owner) ?? name }
      if let name = attributes["inverseName"],
        let destination = attributes["inverseEntity"] ?? attributes["destinationEntity"]
      {
        attributes["inverseName"] = reference(to: name, of: destination).name
      }
      renameEntity("destinationEntity")
      renameEntity("inverseEntity")
    case "memberEntity", "element": renameEntity("name")
    case "fetchRequest":
      inner.evaluated = attributes["entity"]
      renameEntity("entity")
    default: break
    }
    if let entity = inner.evaluated {
      let source = scope.owner.map { ["FETCH_SOURCE": $0] } ?? [:]
      for key in Self.formats[element.name] ?? [] {
        guard let text = attributes[key] else { continue }
        attributes[key] = FormatRenaming.renamed(text, of: entity, variables: source) { reference(to: $0, of: $1) }
      }
    }
    var result = MarkupElement(name: element.name, attributes: attributes, line: element.line)
    result.text = element.text
    result.children = element.children.map { renamed($0, in: inner) }
    return result
  }

  private func newName(ofEntity name: String) -> String? {
    oldName(ofEntity: name).flatMap { renames.entities[$0] }
  }

  /// Returns the entity's name in the parent version; nil if it doesn't have the entity.
  private func oldName(ofEntity name: String) -> String? {
    guard let earlier else { return name }
    return ModelRenames.oldName(of: name, in: earlier.entities)
  }

  private func newName(ofProperty name: String, declaredBy entity: String) -> String? {
    guard let oldEntity = oldName(ofEntity: entity), let names = renames.properties[oldEntity] else { return nil }
    return ModelRenames.oldName(of: name, in: earlier?.properties[oldEntity] ?? [:]).flatMap { names[$0] }
  }

  /// Returns the property, own or inherited, that a name stands for in an entity.
  private func reference(to name: String, of entity: String) -> FormatRenaming.Reference {
    var seen: Set<String> = []
    var next: String? = entity
    var new: String?
    while let current = next, seen.insert(current).inserted {
      new = new ?? newName(ofProperty: name, declaredBy: current)
      if let property = properties[current]?[name] {
        let request = property.children(named: "fetchRequest").first
        return FormatRenaming.Reference(
          name: newName(ofProperty: name, declaredBy: current) ?? name,
          destination: property.attributes["destinationEntity"] ?? request?.attributes["entity"])
      }
      next = parents[current]
    }
    return FormatRenaming.Reference(name: new ?? name, destination: nil)
  }
}
