/// The properties of source objects that the expressions of a mapping model read.
///
/// A policy may read anything: all properties of its source entity count as read.
struct MappingUse {
  private var names: [String: Set<String>] = Dictionary()
  private var wholeEntities: Set<String> = []
  /// Names read from objects whose entity is unknown.
  private var namesOfAny: Set<String> = []
  private let model: ManagedObjectModel

  /// - Parameter links: the relationship mappings of each step that are ignored, because the pairs that they find are
  ///   analyzed separately.
  init(_ plan: CopyPlan, _ links: [[MappingLink]]) {
    model = plan.old.model
    for step in plan.steps {
      guard let source = step.source else { continue }
      if step.policy != nil { wholeEntities.insert(source.name) }
      let linked = Set(links[step.index].map(\.name))
      // An expression for a derived or transient attribute preserves nothing: its result isn't stored.
      let stored = step.mapping.attributeMappings.filter { mapping in
        step.destination?.attribute(named: mapping.name).map { !$0.isDerived && !$0.isTransient } ?? true
      }
      let mappings = stored + step.mapping.relationshipMappings.filter { !linked.contains($0.name) }
      for expression in mappings.compactMap(\.valueExpression) { collect(expression, from: source) }
    }
  }

  func contains(_ name: String, of entity: Entity) -> Bool {
    wholeEntities.contains(entity.name) || namesOfAny.contains(name) || names[entity.name]?.contains(name) == true
  }

  private mutating func collect(_ expression: FetchExpression, from source: Entity) {
    switch expression {
    case .variable(MappingVariable.source): wholeEntities.insert(source.name)
    case .path(of: .variable(MappingVariable.source), let keys): follow(keys, from: source)
    case .path(of: let root, let keys):
      namesOfAny.formUnion(keys)
      collect(root, from: source)
    case .call(on: .variable(MappingVariable.entityPolicy), _, let arguments):
      for argument in arguments {
        collect(argument, from: source)
        // A policy's method may read all of the objects passed to it.
        guard case .path(of: .variable(MappingVariable.source), let keys) = argument else { continue }
        wholeEntities.formUnion(follow(keys, from: source).map(\.name))
      }
    default:
      for part in expression.parts { collect(part, from: source) }
    }
  }

  /// - Returns: the entities of the objects that the keys refer to; empty for values.
  @discardableResult
  private mutating func follow(_ keys: [String], from source: Entity) -> [Entity] {
    var entities = [source]
    for key in keys where !key.hasPrefix("@") {
      for entity in entities { names[entity.name, default: []].insert(key) }
      guard let relationship = entities.lazy.compactMap({ $0.relationship(named: key) }).first else { return [] }
      entities = Array(model.hierarchy(of: model.destination(of: relationship)))
    }
    return entities
  }
}
