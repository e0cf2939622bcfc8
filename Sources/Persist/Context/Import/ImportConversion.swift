import Foundation

/// Converts imported data to values of an attribute's type, as permissively as MagicalRecord and without losing digits,
/// according to ``ValueConversion``.
///
/// | attribute | additionally accepts |
/// |---|---|
/// | `transformable` | the values of its transformer; base64 text if that isn't registered |
/// | `composite` | an object with the elements' names |
///
/// `dateFormat` in the attribute's user info is a pattern such as `yyyy-MM-dd HH:mm`, in the GMT time zone unless it
/// contains one, or `UnixTime` for milliseconds since 1970.
struct ImportConversion {
  let attribute: AttributeDescription
  let place: PersistenceError.Place

  func stored(_ value: ImportValue) throws -> StoredValue {
    switch value {
    case .plain(.null): return .null
    case _ where attribute.type == .transformable:
      if let transformer = AttributeTransformers.transformer(of: attribute) {
        return .data(try transformer.data(from: value.any))
      }
      guard case .plain(.value(.string(let text))) = value, let data = Data(base64Encoded: text) else {
        throw PersistenceError(
          .typeMismatch, at: place, "No transformer '\(attribute.valueTransformerName ?? "")' is registered.",
          fix: "Register it with AttributeTransformers.register(_:named:), or supply its bytes in base64.")
      }
      return .data(data)
    case .plain(let given): return try ValueConversion(attribute, at: place, from: .data).stored(given)
    case .list, .fields:
      throw PersistenceError(
        .typeMismatch, at: place,
        "'\(attribute.name)' is of type \(attribute.type.rawValue) and can't hold a nested value.",
        fix: "Name the nested value with a dot in mappedKeyName: 'outer.inner'.")
    }
  }

  /// Converts a value for a composite attribute.
  func stored(_ value: ImportValue, elements: [Property.Element], below path: [String]) throws -> StoredValue {
    if value.isNull { return .null }
    if case .plain(.value(.composite(let parts))) = value {
      return try ValueConversion(attribute, at: place, from: .data).stored(parts, elements: elements)
    }
    guard case .fields(let members) = value else {
      throw PersistenceError(.typeMismatch, at: place, "'\(attribute.name)' is composite and needs an object.")
    }
    var parts: [String: StoredValue] = Dictionary()
    for (name, member) in members {
      let inner = path + [name]
      if let element = elements.first(where: { $0.path == inner }) {
        parts[name] = try ImportConversion(attribute: element.attribute, place: place).stored(member)
      } else if elements.contains(where: { $0.path.starts(with: inner) }) {
        parts[name] = try stored(member, elements: elements, below: inner)
      }
    }
    return .composite(parts)
  }
}
