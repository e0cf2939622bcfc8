import Persist

extension CompositeValue {
  /// Returns the reason why a model's composite attribute can't hold values of this type, as the end of a sentence; nil
  /// if it can.
  ///
  /// A part that the attribute lacks would be lost, and an element that the type lacks would lose its value when the
  /// property is set.
  static func problem(with property: Property) -> String? {
    let parts: [(path: [String], type: any StorableValue.Type)]
    do {
      parts = try leaves()
    } catch {
      return "can't be a \(Self.self), whose parts can't be found: \(error)"
    }
    var elements = property.elementTypes
    for part in parts {
      let name = part.path.joined(separator: ".")
      let type = part.type.attributeType
      if type == .composite {
        // A type with its own conversion, whose parts are unknown.
        elements = elements.filter { !$0.key.hasPrefix(name + ".") }
        continue
      }
      guard let found = elements.removeValue(forKey: name) else {
        return "has no element '\(name)', which \(Self.self) has."
      }
      if !found.canHold(type) { return "has an element '\(name)' of type \(found.rawValue), not \(type.rawValue)." }
    }
    return elements.keys.min().map { "has an element '\($0)', which \(Self.self) lacks." }
  }
}
