import Foundation
import Persist

extension JSONItem {
  /// The members of an object.
  ///
  /// - Parameter what: the words for this value, for the error if it isn't an object.
  func members(_ what: String) throws -> [String: JSONItem] {
    guard case .object(let members) = self else {
      throw UnusableInput("\(what) has to be an object, not \(kind).", code: .malformedFile)
    }
    return Dictionary(uniqueKeysWithValues: members.map { ($0.name, $0.value) })
  }

  /// Converts this value to one of an attribute.
  ///
  /// - Parameters:
  ///   - elements: the elements of a composite attribute.
  ///   - path: the names from the composite attribute to this one.
  func value(
    of attribute: AttributeDescription, _ elements: [Property.Element], path: [String]
  ) throws -> StoredValue {
    switch self {
    case .null: return .null
    case .boolean(let flag) where attribute.type == .boolean: return .boolean(flag)
    case .number(let text): return try attribute.imported(text, isNumber: true)
    case .string(let text): return try attribute.imported(text, isNumber: false)
    case .object where attribute.type == .composite: return try composite(elements, path: path)
    case .object(let members) where members.first?.name == "missingFile":
      throw UnusableInput(
        "The value of '\(attribute.name)' was in a file that was missing when the object was exported.",
        code: .fileAccess, property: attribute.name, fix: "Replace it by null, or by the value in base64.")
    default: throw attribute.mismatch(kind)
    }
  }

  private func composite(_ elements: [Property.Element], path: [String]) throws -> StoredValue {
    var parts: [String: StoredValue] = [:]
    for (name, part) in try members("'\(path.joined(separator: "."))'") {
      let inner = path + [name]
      if let element = elements.first(where: { $0.path == inner }) {
        parts[name] = try part.value(of: element.attribute, [], path: inner)
      } else if case .object = part, elements.contains(where: { $0.path.starts(with: inner) }) {
        parts[name] = try part.composite(elements, path: inner)
      } else if case .null = part, elements.contains(where: { $0.path.starts(with: inner) }) {
        parts[name] = .null
      } else {
        throw UnusableInput(
          "'\(path.joined(separator: "."))' has no element '\(name)'.", code: .unknownProperty, property: path[0])
      }
    }
    return .composite(parts)
  }
}
