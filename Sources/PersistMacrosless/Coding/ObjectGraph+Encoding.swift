import Foundation
import Persist

extension ObjectGraph: Encodable {
  /// Encodes the objects of the graph and those that its paths reach, each once, in breadth-first order. Faults are
  /// fulfilled.
  ///
  /// - Throws: `PersistenceError.Code.unknownProperty` if a path names something other than a relationship, and the
  ///   encoder's errors.
  public func encode(to encoder: any Encoder) throws {
    let nodes = try GraphNodes(of: self)
    var graph = encoder.container(keyedBy: GraphKey.self)
    try graph.encode(objects.compactMap { nodes.number(of: $0) }, forKey: .roots)
    var list = graph.nestedUnkeyedContainer(forKey: .objects)
    for node in nodes.all {
      var object = list.nestedContainer(keyedBy: GraphKey.self)
      try object.encode(nodes.number(of: node.object), forKey: .number)
      try object.encode(node.object.entity.name, forKey: .entity)
      var attributes = object.nestedContainer(keyedBy: GraphKey.self, forKey: .attributes)
      for property in node.object.entity.properties where property.isCoded {
        let value = node.object.attributeValue(at: property.slot)
        if value.isNull, node.object.hasInitialValue(of: property) {
          // A new object would otherwise keep its initial value.
          try attributes.encodeNil(forKey: GraphKey(property.name))
        } else {
          try attributes.encode(value, for: property.name)
        }
      }
      guard !node.relationships.isEmpty else { continue }
      var relationships = object.nestedContainer(keyedBy: GraphKey.self, forKey: .relationships)
      for name in node.relationships.sorted() {
        guard let property = node.object.entity.property(named: name) else { continue }
        let numbers = node.object.others(at: property).compactMap { nodes.number(of: $0) }
        if property.isToMany {
          try relationships.encode(numbers, forKey: GraphKey(name))
        } else {
          try relationships.encodeIfPresent(numbers.first, forKey: GraphKey(name))
        }
      }
    }
  }
}

/// The distinct objects of a graph in breadth-first order.
private struct GraphNodes {
  struct Node {
    let object: ManagedObject
    /// The relationships followed from the object, on any of the paths that reached it.
    var relationships: Set<String>
  }

  private(set) var all: [Node] = []
  private var places: [ManagedObject: Int] = [:]

  /// - Throws: `PersistenceError.Code.unknownProperty` for a path that doesn't consist of relationships.
  init(of graph: ObjectGraph) throws {
    let paths = Set(graph.paths.map { $0.split(separator: ".").map(String.init) })
    // Following a path includes all of its prefixes.
    let steps = paths.reduce(into: Set<[String]>()) { steps, path in
      for length in 1...max(1, path.count) { steps.insert(Array(path.prefix(length))) }
    }
    var waiting = graph.objects.map { (object: $0, path: [String]()) }
    var seen: Set<Step> = []
    while !waiting.isEmpty {
      var next: [(object: ManagedObject, path: [String])] = []
      for (object, path) in waiting where seen.insert(Step(object: object, path: path)).inserted {
        let names = steps.filter { $0.count == path.count + 1 && $0.starts(with: path) }.compactMap(\.last)
        record(object, names)
        for name in names.sorted() {
          for other in try object.others(at: relationship(name, of: object)) { next.append((other, path + [name])) }
        }
      }
      waiting = next
    }
  }

  private struct Step: Hashable {
    let object: ManagedObject
    let path: [String]
  }

  func number(of object: ManagedObject) -> Int? { places[object].map { $0 + 1 } }

  private mutating func record(_ object: ManagedObject, _ names: [String]) {
    if let place = places[object] {
      all[place].relationships.formUnion(names)
    } else {
      places[object] = all.count
      all.append(Node(object: object, relationships: Set(names)))
    }
  }

  private func relationship(_ name: String, of object: ManagedObject) throws -> Property {
    if let property = object.entity.property(named: name), property.relationship != nil { return property }
    throw PersistenceError(
      .unknownProperty, at: .property(object.entity.name, name),
      "'\(object.entity.name)' has no relationship '\(name)'.",
      fix: "It has \(object.entity.relationships.map(\.name).sorted().joined(separator: ", ")).")
  }
}

extension Property {
  /// Whether a graph encodes the property's value: a stored attribute that isn't derived.
  var isCoded: Bool { attribute.map { !$0.isTransient && $0.derivation == nil } ?? false }
}

extension ManagedObject {
  /// Whether a new object of this one's class has a value of an attribute, from the model or from the class.
  fileprivate func hasInitialValue(of property: Property) -> Bool {
    if let attribute = property.attribute, !attribute.defaultValue.isNull { return true }
    return declaredDefault(at: property.slot)?.isNull == false
  }

  /// The objects at the other end of a relationship; at most one for a to-one relationship.
  fileprivate func others(at property: Property) -> [ManagedObject] {
    property.isToMany
      ? Array(toMany(at: property.slot, of: ManagedObject.self)) : toOne(at: property.slot).map { [$0] } ?? []
  }
}

extension KeyedEncodingContainer<GraphKey> {
  /// Encodes a value in the encoder's own format for its type; null is left out.
  fileprivate mutating func encode(_ value: StoredValue, for name: String) throws {
    let key = GraphKey(name)
    switch value {
    case .null, .objectID: break
    case .boolean(let value): try encode(value, forKey: key)
    case .integer(let value): try encode(value, forKey: key)
    case .double(let value): try encode(value, forKey: key)
    case .decimal(let value): try encode(value.description, forKey: key)
    case .string(let value), .uri(let value): try encode(value, forKey: key)
    case .date(let value): try encode(value, forKey: key)
    case .data(let value): try encode(value, forKey: key)
    case .uuid(let value): try encode(value, forKey: key)
    case .composite(let parts):
      var inner = nestedContainer(keyedBy: GraphKey.self, forKey: key)
      for (name, part) in parts.sorted(by: { $0.key < $1.key }) { try inner.encode(part, for: name) }
    }
  }
}
