import Foundation
import Persist

/// The source code of an attribute's property in a generated class.
struct AttributeText {
  let attribute: AttributeDescription
  let slot: Int
  /// Reports features that Swift can't express directly.
  let report: (String) -> Void

  /// The user info key that names the Swift type of the values: an enumeration with raw values, or any `StorableValue`;
  /// for a transformable attribute the type that its transformer produces.
  static let swiftTypeKey = "swiftType"

  /// The property's type and the bodies of its getter and setter.
  struct Accessor {
    var type: String
    var getter: String
    /// Nil if the property is read-only.
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
      report("'\(type)', set as \(Self.swiftTypeKey) in the user info, isn't a Swift type.")
    }
    if let type = ValueType(attribute.type) { return plain(type, &types) }
    switch attribute.type {
    case .composite: return composite(&types)
    case .transformable: return transformable(&types)
    default:
      report(
        "An attribute of type \(attribute.type.rawValue) has no Swift type; it is a StoredValue.")
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

  /// Accessor for values of a type that the user info names.
  private func typed(_ type: String, _ types: inout TypeNames) -> Accessor {
    if attribute.type == .transformable {
      return cast(to: type)
    }
    types.use("PersistMacrosless")
    if attribute.isOptional || attribute.defaultValue.isNull {
      return Accessor(
        type: type + "?", getter: "\(type)?.value(of: self, at: \(slot)) ?? nil",
        setter: "setGeneratedValue(newValue, at: \(slot))")
    }
    return Accessor(
      type: type, getter: "generatedValue(at: \(slot), default: \(storedDefault(&types)))",
      setter: "setGeneratedValue(newValue, at: \(slot))")
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

  /// Accessor that reads the value by name and casts it to a type.
  private func cast(to type: String) -> Accessor {
    let name = SwiftName.literal(attribute.name)
    return Accessor(type: type + "?", getter: "self[\(name)] as? \(type)", setter: "self[\(name)] = newValue")
  }

  private func transformable(_ types: inout TypeNames) -> Accessor {
    let name = SwiftName.literal(attribute.name)
    let transformer = attribute.valueTransformerName.flatMap { $0.isEmpty || $0.hasPrefix("NS") ? nil : $0 }
    if let transformer {
      report(
        "The transformer '\(transformer)' is an Objective-C class: register a transformer of that name with "
          + "AttributeTransformers.register(_:named:).")
    }
    let type = attribute.valueClassName.flatMap { SwiftTypeText.ofFoundationClass($0) }
    if let type {
      if type.contains("Data") || type.contains("Date") || type.contains("U") { types.usePublicly("Foundation") }
      return cast(to: type)
    }
    if let given = attribute.valueClassName {
      report(
        "The class '\(given)' of the values may be an Objective-C class; the property is of type Any?. Name the type "
          + "in the attribute's user info as \(Self.swiftTypeKey).")
    }
    return Accessor(type: "Any?", getter: "self[\(name)]", setter: "self[\(name)] = newValue")
  }
}
