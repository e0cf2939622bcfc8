import Foundation

/// The kind of a fact about an object, with the property: the part of its key that many objects have in common.
enum FactHead: Sendable, Hashable {
  case life, union
  case value(PropertyName)
  case owner(PropertyName)
  case member(PropertyName)
  case place(PropertyName)
  case part(PropertyName)

  /// Nil for a fact that isn't about an object.
  init?(_ key: FactKey) {
    switch key {
    case .life: self = .life
    case .union: self = .union
    case .value(_, let property): self = .value(property)
    case .owner(_, let property): self = .owner(property)
    case .member(_, let property, _): self = .member(property)
    case .place(_, let property, _): self = .place(property)
    case .part(_, let property, _): self = .part(property)
    case .model, .cover, .pass: return nil
    }
  }

  init(_ reader: inout ByteReader) throws {
    let mark = try reader.byte()
    func property() throws -> PropertyName {
      let tag = ModelTag(number: try reader.fixed64())
      return PropertyName(model: tag, entity: try reader.text(), name: try reader.text())
    }
    switch mark {
    case UInt8(ascii: "L"): self = .life
    case UInt8(ascii: "A"): self = .union
    case UInt8(ascii: "P"): self = .value(try property())
    case UInt8(ascii: "W"): self = .owner(try property())
    case UInt8(ascii: "M"): self = .member(try property())
    case UInt8(ascii: "O"): self = .place(try property())
    case UInt8(ascii: "J"): self = .part(try property())
    default: throw SyncFormat.error("A fact has an unknown kind.")
    }
  }

  func write(to writer: inout ByteWriter) {
    func write(_ mark: Character, _ property: PropertyName) {
      writer.byte(mark.asciiValue ?? 0)
      writer.fixed(property.model.number)
      writer.counted(property.entity)
      writer.counted(property.name)
    }
    switch self {
    case .life: writer.byte(UInt8(ascii: "L"))
    case .union: writer.byte(UInt8(ascii: "A"))
    case .value(let property): write("P", property)
    case .owner(let property): write("W", property)
    case .member(let property): write("M", property)
    case .place(let property): write("O", property)
    case .part(let property): write("J", property)
    }
  }

  var bytes: Data {
    var writer = ByteWriter()
    write(to: &writer)
    return writer.data
  }

  /// Whether the property is followed by a second object or a path.
  var hasRest: Bool {
    switch self {
    case .union, .member, .place, .part: true
    case .life, .value, .owner: false
    }
  }

  /// - Parameter rest: The part after the property: see ``FactKey/rest``.
  func key(_ object: Identity, _ rest: Data) -> FactKey {
    let other = Identity(bytes: rest)
    return switch self {
    case .life: .life(object)
    case .value(let property): .value(object, property)
    case .owner(let property): .owner(object, property)
    case .union: .union(object, other)
    case .member(let property): .member(object, property, other)
    case .place(let property): .place(object, property, other)
    case .part(let property): .part(object, property, JSONPath(bytes: rest))
    }
  }
}

extension ByteReader {
  /// Reads an identity, which nothing follows.
  mutating func identity() throws -> Identity {
    let bytes = rest()
    guard (1...SyncFormat.maximumNameSize).contains(bytes.count) else {
      throw SyncFormat.error("An identity is missing.")
    }
    return Identity(bytes: bytes)
  }
}
