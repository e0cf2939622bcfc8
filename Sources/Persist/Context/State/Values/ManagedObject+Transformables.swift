import Foundation

/// Conversion of transformable attributes between values and stored bytes.
extension ManagedObject {
  /// Returns the decoded value of a transformable attribute, or its bytes if its transformer isn't registered.
  ///
  /// The value is decoded anew each time: mutating a returned object changes nothing in the store until it is set
  /// again.
  final func transformedValue(of attribute: AttributeDescription, at slot: Int) throws -> Any? {
    guard case .data(let data) = attributeValue(at: slot) else { return nil }
    guard let transformer = AttributeTransformers.transformer(of: attribute) else { return data }
    return try located(attribute) { () throws -> Any in try transformer.value(from: data) }
  }

  /// Returns a value as seen by programs; for a transformable attribute, the bytes if they can't be decoded.
  final func dynamicValue(_ value: StoredValue, of property: Property) -> Any? {
    if case .data(let data) = value, let attribute = property.attribute, attribute.type == .transformable,
      let transformer = AttributeTransformers.transformer(of: attribute)
    {
      return (try? transformer.value(from: data)) ?? data
    }
    return DynamicValue.any(value)
  }

  /// Returns the bytes for a value of a transformable attribute.
  final func transformableValue(_ value: Any?, for attribute: AttributeDescription) throws -> StoredValue {
    guard let value, GivenValue(value)?.isNull != true else { return .null }
    if let stored = value as? StoredValue {
      return try ValueConversion(attribute, at: .property(entity.name, attribute.name)).stored(stored)
    }
    guard let transformer = AttributeTransformers.transformer(of: attribute) else {
      if let data = value as? Data { return .data(data) }
      if let bytes = value as? [UInt8] { return .data(Data(bytes)) }
      throw PersistenceError(
        .typeMismatch, at: .property(entity.name, attribute.name),
        "No transformer '\(attribute.valueTransformerName ?? "")' is registered for a \(type(of: value)).",
        fix: "Register it with AttributeTransformers.register(_:named:), or set the archived bytes.")
    }
    return .data(try located(attribute) { try transformer.data(from: value) })
  }

  /// Adds the property to an error that doesn't name one.
  private func located<Result>(_ attribute: AttributeDescription, _ body: () throws -> Result) throws -> Result {
    try PersistenceError.placing({ place in
      place.entity = place.entity ?? entity.name
      place.property = place.property ?? attribute.name
    }, body)
  }
}
