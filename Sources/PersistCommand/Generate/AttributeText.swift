import Foundation
import Persist

/// The property of a generated class that stands for an attribute.
struct AttributeText {
  let attribute: AttributeDescription
  let slot: Int
  /// Collects what can't be said in Swift as it is.
  let report: (String) -> Void

  /// The key of the user info that names the Swift type of the values: an enumeration with raw values, or any
  /// `StorableValue`; for a transformable attribute what its transformer makes.
  static let swiftTypeKey = "swiftType"

  /// The type, and the bodies of getter and setter.
  struct Accessor {
    var type: String
    var getter: String
    /// Nil where the property can only be read.
    var setter: String?
  }

  func accessor(_ types: inout TypeNames) -> Accessor {
    var accessor = accessorToSet(&types)
    if attribute.isDerived { accessor.setter = nil }
    return accessor
  }

  private func accessorToSet(_ types: inout TypeNames) -> Accessor {
    if let type = attribute.userInfo[Self.swiftTypeKey] {
      if SwiftTypeText.isType(type) { return typed(type, &types) }
      report("'\(type)', which the user info has as \(Self.swiftTypeKey), isn't a type of Swift.")
    }
    if let type = ValueType(attribute.type) { return plain(type, &types) }
    switch attribute.type {
    case .composite: return composite(&types)
    case .transformable: return transformable(&types)
    default:
      report(
        "An attribute of type \(attribute.type.rawValue) has no type in Swift; it is a StoredValue.")
      return Accessor(
        type: types("StoredValue"), getter: "attributeValue(at: \(slot))",
        setter: "setAttributeValue(newValue, at: \(slot))")
    }
  }

  private func plain(_ type: ValueType, _ types: inout TypeNames) -> Accessor {
    let isOptional = !type.hasAbsent || attribute.isOptional && !attribute.usesScalarType
    let standard = attribute.isOptional ? .null : attribute.defaultValue
    let absent = isOptional ? nil : type.absent(standard, &types)
    let getter = type.read(slot: slot, isTransient: attribute.isTransient, absent: absent, &types)
    let value = isOptional ? type.storedOptional("newValue", &types) : type.stored("newValue", &types)
    return Accessor(
      type: types(type.name) + (isOptional ? "?" : ""), getter: getter,
      setter: "setAttributeValue(\(value), at: \(slot))")
  }

  /// Values of a type that the user info names.
  private func typed(_ type: String, _ types: inout TypeNames) -> Accessor {
    if attribute.type == .transformable {
      return cast(to: type)
    }
    types.use("PersistMacrosless")
    if attribute.isOptional || attribute.defaultValue.isNull {
      return Accessor(
        type: type + "?", getter: "\(type).value(of: self, at: \(slot))",
        setter: "setAttributeValue(newValue?.stored ?? .null, at: \(slot))")
    }
    return Accessor(
      type: type, getter: "generatedValue(at: \(slot), default: \(storedDefault(&types)))",
      setter: "setAttributeValue(newValue.stored, at: \(slot))")
  }

  private func storedDefault(_ types: inout TypeNames) -> String {
    guard let type = ValueType(attribute.type), type.hasAbsent else { return ".null" }
    return type.stored(type.absent(attribute.defaultValue, &types), &types)
  }

  private func composite(_ types: inout TypeNames) -> Accessor {
    let name = SwiftName.written(SwiftName.identifier(attribute.compositeName ?? attribute.name))
    if attribute.isOptional {
      return Accessor(
        type: name + "?", getter: "\(name)(stored: attributeValue(at: \(slot)))",
        setter: "setAttributeValue(newValue?.stored ?? .null, at: \(slot))")
    }
    return Accessor(
      type: name, getter: "\(name)(stored: attributeValue(at: \(slot))) ?? \(name)()",
      setter: "setAttributeValue(newValue.stored, at: \(slot))")
  }

  /// A value that is found by its name, as one of a type.
  private func cast(to type: String) -> Accessor {
    let name = SwiftName.literal(attribute.name)
    return Accessor(type: type + "?", getter: "self[\(name)] as? \(type)", setter: "self[\(name)] = newValue")
  }

  private func transformable(_ types: inout TypeNames) -> Accessor {
    let name = SwiftName.literal(attribute.name)
    let transformer = attribute.valueTransformerName.flatMap { $0.isEmpty || $0.hasPrefix("NS") ? nil : $0 }
    if let transformer {
      report(
        "The transformer '\(transformer)' is a class of Objective-C's: register one of that name with "
          + "AttributeTransformers.register(_:named:).")
    }
    let type = attribute.valueClassName.flatMap { SwiftTypeText.ofFoundationClass($0) }
    if let type {
      if type.contains("Data") || type.contains("Date") || type.contains("U") { types.usePublicly("Foundation") }
      return cast(to: type)
    }
    if let given = attribute.valueClassName {
      report(
        "The class '\(given)' of the values may be one of Objective-C's; the property is of type Any?. Name the type "
          + "in the attribute's user info as \(Self.swiftTypeKey).")
    }
    return Accessor(type: "Any?", getter: "self[\(name)]", setter: "self[\(name)] = newValue")
  }
}
