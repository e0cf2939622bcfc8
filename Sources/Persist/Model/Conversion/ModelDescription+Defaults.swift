/// Conversion of defaults that are values of another type: 1 for a double, 0 for a Boolean, a string for a URI.
extension ModelDescription {
  /// Returns the description with every default converted to its attribute's type if that type has an equal value.
  ///
  /// Other defaults are left for the model check to report.
  func convertingDefaults() -> ModelDescription {
    var result = self
    for entity in entities.indices {
      for attribute in entities[entity].attributes.indices where entities[entity].attributes[attribute].hasOddDefault {
        result.entities[entity].attributes[attribute].convertDefault()
      }
    }
    for composite in composites.indices {
      for element in composites[composite].elements.indices
      where composites[composite].elements[element].hasOddDefault {
        result.composites[composite].elements[element].convertDefault()
      }
    }
    return result
  }
}

extension AttributeDescription {
  /// Whether the default needs conversion. A float's always does, and so does that of a date with microseconds: digits
  /// beyond the precision mustn't be returned.
  fileprivate var hasOddDefault: Bool { type == .float || roundsDates || problem(with: defaultValue) != nil }

  fileprivate mutating func convertDefault() {
    let conversion = ValueConversion(self, at: .unknown)
    if let value = try? conversion.converted(.value(defaultValue)) { defaultValue = value }
  }
}
