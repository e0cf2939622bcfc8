public import Foundation
public import Persist

extension ObjectGraph: DecodableWithConfiguration {
  /// Creates the encoded objects as new objects of a context.
  ///
  /// - Throws: the decoder's errors, and `PersistenceError.Code.unknownEntity`,
  ///   `PersistenceError.Code.unknownProperty` or `PersistenceError.Code.typeMismatch` for entities, properties or
  ///   values that the context's model doesn't accept.
  public init(from decoder: any Decoder, configuration context: ManagedObjectContext) throws {
    let graph = try decoder.container(keyedBy: GraphKey.self)
    var made: [Int: ManagedObject] = [:]
    do {
      try Self.makeObjects(from: graph, in: context, into: &made)
      try Self.relateObjects(from: graph, made)
      let roots = try graph.decode([Int].self, forKey: .roots)
      self.init(try roots.map { try Self.object($0, of: made, at: graph.codingPath) })
    } catch {
      for object in made.values { context.delete(object) }
      throw error
    }
  }

  private static func makeObjects(
    from graph: KeyedDecodingContainer<GraphKey>, in context: ManagedObjectContext,
    into made: inout [Int: ManagedObject]
  ) throws {
    var list = try graph.nestedUnkeyedContainer(forKey: .objects)
    while !list.isAtEnd {
      let encoded = try list.nestedContainer(keyedBy: GraphKey.self)
      let number = try encoded.decode(Int.self, forKey: .number)
      guard made[number] == nil else {
        throw DecodingError.dataCorrupted(
          .init(codingPath: encoded.codingPath, debugDescription: "Two objects have the number \(number)."))
      }
      let object = try context.create(try encoded.decode(String.self, forKey: .entity))
      made[number] = object
      let attributes = try encoded.nestedContainer(keyedBy: GraphKey.self, forKey: .attributes)
      for key in attributes.allKeys {
        guard let property = object.entity.property(named: key.stringValue), property.isCoded,
          let attribute = property.attribute
        else { throw unknown(key, of: object) }
        let value: Any?
        if attribute.type == .composite {
          value = try attributes.parts(of: property.elements, below: [attribute.name], forKey: key)
        } else {
          value = try attributes.value(of: attribute.type, forKey: key)
        }
        try object.setValue(value, forKey: key.stringValue)
      }
    }
  }

  private static func relateObjects(
    from graph: KeyedDecodingContainer<GraphKey>, _ made: [Int: ManagedObject]
  ) throws {
    var list = try graph.nestedUnkeyedContainer(forKey: .objects)
    while !list.isAtEnd {
      let encoded = try list.nestedContainer(keyedBy: GraphKey.self)
      guard encoded.contains(.relationships) else { continue }
      let owner = try object(encoded.decode(Int.self, forKey: .number), of: made, at: encoded.codingPath)
      let relationships = try encoded.nestedContainer(keyedBy: GraphKey.self, forKey: .relationships)
      for key in relationships.allKeys {
        guard let property = owner.entity.property(named: key.stringValue), property.relationship != nil else {
          throw unknown(key, of: owner)
        }
        let numbers =
          property.isToMany
          ? try relationships.decode([Int].self, forKey: key) : [try relationships.decode(Int.self, forKey: key)]
        let others = try numbers.map { try object($0, of: made, at: relationships.codingPath) }
        try owner.setValue(property.isToMany ? others : others.first, forKey: key.stringValue)
      }
    }
  }

  private static func object(
    _ number: Int, of made: [Int: ManagedObject], at path: [any CodingKey]
  ) throws -> ManagedObject {
    if let object = made[number] { return object }
    throw DecodingError.dataCorrupted(
      .init(codingPath: path, debugDescription: "There is no object with the number \(number)."))
  }

  private static func unknown(_ key: GraphKey, of object: ManagedObject) -> PersistenceError {
    PersistenceError(
      .unknownProperty, at: .property(object.entity.name, key.stringValue),
      "'\(object.entity.name)' has no property '\(key.stringValue)' that could be decoded.",
      fix: "Decode with the model that the graph was encoded with.")
  }
}

extension KeyedDecodingContainer<GraphKey> {
  /// Decodes a value in the decoder's own format for an attribute's type.
  fileprivate func value(of type: AttributeType, forKey key: GraphKey) throws -> Any? {
    if try decodeNil(forKey: key) { return nil }
    switch type {
    case .int16, .int32, .int64: return try decode(Int64.self, forKey: key)
    case .boolean: return try decode(Bool.self, forKey: key)
    case .double, .float: return try decode(Double.self, forKey: key)
    case .decimal:
      let text = try decode(String.self, forKey: key)
      // Double, unlike Decimal, accepts a text only as a whole.
      guard Double(text) != nil, let number = Decimal(string: text), !number.isNaN else {
        throw DecodingError.dataCorruptedError(
          forKey: key, in: self, debugDescription: "\(StoredValue.string(text)) isn't a number.")
      }
      return number
    case .string, .uri: return try decode(String.self, forKey: key)
    case .date: return try decode(Date.self, forKey: key)
    case .binary: return try decode(Data.self, forKey: key)
    // The encoded bytes are the stored ones; as plain data, they would be transformed again.
    case .transformable: return StoredValue.data(try decode(Data.self, forKey: key))
    case .uuid: return try decode(UUID.self, forKey: key)
    case .composite, .objectID, .undefined:
      throw DecodingError.dataCorruptedError(
        forKey: key, in: self, debugDescription: "A value of type \(type.rawValue) isn't encoded.")
    }
  }

  /// The parts of a composite, including those of nested composites; nil for an encoded null.
  fileprivate func parts(
    of elements: [Property.Element], below path: [String], forKey key: GraphKey
  ) throws -> [String: Any]? {
    if try decodeNil(forKey: key) { return nil }
    let inner = try nestedContainer(keyedBy: GraphKey.self, forKey: key)
    var parts: [String: Any] = [:]
    for key in inner.allKeys {
      let path = path + [key.stringValue]
      if let element = elements.first(where: { $0.path == path }) {
        parts[key.stringValue] = try inner.value(of: element.attribute.type, forKey: key)
      } else if elements.contains(where: { $0.path.starts(with: path) }) {
        parts[key.stringValue] = try inner.parts(of: elements, below: path, forKey: key)
      } else {
        throw DecodingError.dataCorruptedError(
          forKey: key, in: inner, debugDescription: "The composite has no part '\(key.stringValue)'.")
      }
    }
    return parts
  }
}
