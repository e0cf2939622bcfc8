import Foundation
import Persist

/// The Swift code for values of an attribute type.
struct ValueType {
  /// The Swift type's name.
  let name: String
  /// Whether the type has a value for "no value", such as 0 or the empty string.
  let hasAbsent: Bool
  /// The typed accessor of managed objects that reads the value, and the conversion of its result to this type.
  private let reader: String?
  private let conversion: String?
  private let storedCase: String
  private let wrapping: String

  init?(_ type: AttributeType) {
    switch type {
    case .int16:
      self.init("Int16", reader: "integer", storedCase: "integer", reading: "Int16(exactly: $0)", writing: "Int64(#)")
    case .int32:
      self.init("Int32", reader: "integer", storedCase: "integer", reading: "Int32(exactly: $0)", writing: "Int64(#)")
    case .int64: self.init("Int64", reader: "integer", storedCase: "integer")
    case .double: self.init("Double", reader: "double", storedCase: "double")
    case .float: self.init("Float", reader: "double", storedCase: "double", reading: "Float($0)", writing: "Double(#)")
    case .boolean: self.init("Bool", reader: "boolean", storedCase: "boolean")
    case .string: self.init("String", reader: "string", storedCase: "string")
    case .date: self.init("Date", reader: "date", storedCase: "date")
    case .binary: self.init("Data", reader: "data", storedCase: "data")
    case .decimal: self.init("Decimal", reader: "decimal", storedCase: "decimal")
    case .uuid: self.init("UUID", reader: "uuid", storedCase: "uuid", hasAbsent: false)
    case .uri:
      self.init(
        "URL", reader: nil, storedCase: "uri", reading: "URL(string: $0)", writing: "#.absoluteString", hasAbsent: false
      )
    case .transformable, .composite, .objectID, .undefined: return nil
    }
  }

  private init(
    _ name: String, reader: String?, storedCase: String, reading conversion: String? = nil,
    writing wrapping: String = "#", hasAbsent: Bool = true
  ) {
    self.name = name
    self.reader = reader
    self.storedCase = storedCase
    self.conversion = conversion
    self.wrapping = wrapping
    self.hasAbsent = hasAbsent
  }

  /// The expression for a stored value.
  func stored(_ value: String, _ types: inout TypeNames) -> String {
    var text = wrapping.replacingOccurrences(of: "#", with: value)
    if text.hasSuffix("(\(value))") {
      text = "\(types(String(wrapping.prefix { $0 != "(" })))(\(value))"
    }
    return ".\(storedCase)(\(text))"
  }

  /// The expression for the stored value of an optional.
  func storedOptional(_ value: String, _ types: inout TypeNames) -> String {
    "\(value).map { \(types.inBody("StoredValue"))\(stored("$0", &types)) } ?? .null"
  }

  /// The expression for an attribute's value.
  ///
  /// - Parameters:
  ///   - slot: the slot of the attribute.
  ///   - isTransient: whether the attribute is transient.
  ///   - absent: the expression for a missing value; nil makes the result an optional.
  ///   - types: the names of the types in the generated file.
  func read(slot: Int, isTransient: Bool, absent: String?, _ types: inout TypeNames) -> String {
    // A transient attribute has no column in a row, so its default isn't read through the row's integer accessor.
    guard let reader, !isTransient || reader != "integer" else {
      return match("attributeValue(at: \(slot))", absent: absent, &types)
    }
    var text = "\(reader)(at: \(slot))"
    if conversion != nil { text += ".\(mayNotFit ? "flatMap" : "map") { \(converted("$0", &types)) }" }
    return text + (absent.map { " ?? \($0)" } ?? "")
  }

  /// A pattern match over a stored value, as a complete expression.
  func match(_ value: String, absent: String? = nil, _ types: inout TypeNames) -> String {
    let found = converted("value", &types) + (mayNotFit ? absent.map { " ?? \($0)" } ?? "" : "")
    return "if case .\(storedCase)(let value) = \(value) { \(found) } else { \(absent ?? "nil") }"
  }

  /// Whether a stored value of the right case may not be representable in this type.
  private var mayNotFit: Bool { conversion != nil && name != "Float" }

  private func converted(_ value: String, _ types: inout TypeNames) -> String {
    guard let conversion else { return value }
    let type = types(name)
    return conversion.replacingOccurrences(of: "$0", with: value)
      .replacingOccurrences(of: "\(name)(", with: "\(type)(")
  }

  /// The value of a non-optional property without a stored value: the default, or else 0, false or empty.
  func absent(_ standard: StoredValue, _ types: inout TypeNames) -> String {
    switch (name, standard) {
    case ("Int16", .integer(let value)) where Int16(exactly: value) != nil: return "\(value)"
    case ("Int32", .integer(let value)) where Int32(exactly: value) != nil: return "\(value)"
    case ("Int64", .integer(let value)): return "\(value)"
    case ("Double", .double(let value)) where value.isFinite: return "\(value)"
    case ("Float", .double(let value)) where Float(value).isFinite: return "\(Float(value))"
    case (_, .boolean(let value)): return "\(value)"
    case (_, .string(let value)): return SwiftName.literal(value)
    case (_, .date(let value)):
      return "\(types("Date"))(timeIntervalSinceReferenceDate: \(value.timeIntervalSinceReferenceDate))"
    case (_, .decimal(let value)) where value != 0: return "\(types("Decimal"))(string: \"\(value)\") ?? 0"
    default: break
    }
    switch name {
    case "Bool": return "false"
    case "String": return "\"\""
    case "Date": return "\(types("Date"))(timeIntervalSinceReferenceDate: 0)"
    case "Data": return "\(types("Data"))()"
    default: return "0"
    }
  }
}
