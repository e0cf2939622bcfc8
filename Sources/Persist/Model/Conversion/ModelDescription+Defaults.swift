/// Defaults that are written as values of another type: 1 for a double, 0 for a truth value, a text for a URI.
extension ModelDescription {
  /// The description with every default as a value of its attribute's type, where that type has an equal of it.
  ///
  /// What it has no equal of is left for the model's check to report.
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
  /// A float's default is one to convert, too: what is beyond a float's precision must not come back.
  fileprivate var hasOddDefault: Bool { type == .float || problem(with: defaultValue) != nil }

  fileprivate mutating func convertDefault() {
    let conversion = ValueConversion(self, at: .unknown)
    if let value = try? conversion.converted(.value(defaultValue)) { defaultValue = value }
  }
}
