import Foundation

/// Writes a value in the format of `NSKeyedArchiver`; equal values result in equal bytes.
struct KeyedArchiveWriter {
  private var objects: [PropertyList] = [.string("$null")]
  /// The object numbers of values that the archive contains once.
  private var numbers: [PropertyList.ByteIdentity: Int] = Dictionary()
  private var classes: [String: Int] = Dictionary()

  /// The maximum nesting depth of arrays and dictionaries.
  static let depthLimit = 100

  /// - Throws: ``PersistenceError/Code/typeMismatch`` if a value has a type that archives can't contain.
  static func archive(_ value: Any) throws -> Data {
    var writer = KeyedArchiveWriter()
    let root = try writer.add(value, depth: 0)
    return try PropertyList.dictionary([
      "$version": .integer(100_000), "$archiver": .string("NSKeyedArchiver"),
      "$top": .dictionary(["root": root]), "$objects": .array(writer.objects),
    ]).binaryData()
  }

  /// - Returns: A reference to the value's object.
  private mutating func add(_ value: Any, depth: Int) throws -> PropertyList {
    guard depth < Self.depthLimit else {
      throw PersistenceError(.limitExceeded, "The value is nested more than \(Self.depthLimit) levels deep.")
    }
    if let list = value as? PropertyList { return try add(list, depth: depth) }
    // Elements of collections in sets are read as AnyHashable, which would hide a registered type.
    if type(of: value) == AnyHashable.self, let value = value as? AnyHashable {
      return try add(value.base, depth: depth)
    }
    // Checked first, so that a registered type is never mistaken for a type it can be cast to.
    if let entry = ArchivedTypes.entry(for: value), let content = try entry.encode(value) {
      return try object(of: entry.name) { ["content": try $0.add(content, depth: depth + 1)] }
    }
    let value = Self.unboxed(value)
    if let plain = Self.plain(value) { return unique(plain) }
    switch value {
    case let value as Date:
      return try object(of: "NSDate") { _ in ["NS.time": .real(value.timeIntervalSinceReferenceDate)] }
    case let value as UUID:
      let bytes = value.data
      return try object(of: "NSUUID") { _ in ["NS.uuidbytes": .data(bytes)] }
    case let value as URL:
      return try object(of: "NSURL") {
        ["NS.base": .uid(0), "NS.relative": $0.unique(.string(value.absoluteString))]
      }
    case let value as Decimal: return try decimal(value)
    case is NSNull: return try object(of: "NSNull") { _ in Dictionary() }
    case let value as [String: Any]:
      let entries = value.sorted(on: \.key)
      return try object(of: "NSDictionary") { writer in
        let keys = entries.map { writer.unique(.string($0.key)) }
        let values = try entries.map { try writer.add($0.value, depth: depth + 1) }
        return ["NS.keys": .array(keys), "NS.objects": .array(values)]
      }
    case let value as NSSet where type(of: value as Any) is AnyClass:
      return try list(value.allObjects.ordered { "\($0)" < "\($1)" }, of: "NSSet", depth)
    case let value as Set<AnyHashable>:
      let members = value.map(\.base).ordered { "\($0)" < "\($1)" }
      return try list(members, of: "NSSet", depth)
    case let value as [Any]: return try list(value, of: "NSArray", depth)
    default:
      throw PersistenceError(
        .typeMismatch, "A value of type \(type(of: value)) can't be archived.",
        fix: "Make it Codable and register it: AttributeTransformers.register(\(type(of: value)).self).")
    }
  }

  /// Adds the encoded form of a Codable type.
  private mutating func add(_ content: PropertyList, depth: Int) throws -> PropertyList {
    switch content {
    case .array(let elements): try add(elements as [Any], depth: depth)
    case .dictionary(let entries): try add(entries as [String: Any], depth: depth)
    case .date(let date): try add(date as Any, depth: depth)
    default: unique(content)
    }
  }

  private mutating func list(_ members: [Any], of className: String, _ depth: Int) throws -> PropertyList {
    try object(of: className) { writer in
      ["NS.objects": .array(try members.map { try writer.add($0, depth: depth + 1) })]
    }
  }

  /// Converts an object of Foundation to the value that it holds: an `NSNumber` casts to every type that can represent
  /// its number, so that a cast would make 1 a Boolean.
  private static func unboxed(_ value: Any) -> Any {
    guard type(of: value) is AnyClass else { return value }
    return switch GivenValue(value) {
    case .float(let number)?: number
    case .value(.boolean(let value))?: value
    case .value(.integer(let number))?: number
    case .value(.double(let number))?: number
    case .value(.decimal(let number))?: value is NSDecimalNumber ? number : (value as? NSNumber)?.uint64Value ?? number
    case .value(.string(let text))?: text
    case .value(.date(let date))?: date
    case .value(.data(let data))?: data
    case .value(.uuid(let uuid))?: uuid
    default: value
    }
  }

  /// Adds a decimal number as eight 16-bit digits, least significant first, like `NSDecimalNumber`.
  private mutating func decimal(_ number: Decimal) throws -> PropertyList {
    guard !number.isNaN else {
      throw PersistenceError(.typeMismatch, "NaN can't be archived as a decimal number.", fix: "Archive a number.")
    }
    var digits: [UInt16] = []
    var rest = number.significand
    while rest != 0, digits.count < 8 {
      var quotient = rest / 65_536
      var whole = Decimal()
      NSDecimalRound(&whole, &quotient, 0, .down)
      digits.append(UInt16(truncatingIfNeeded: NSDecimalNumber(decimal: rest - whole * 65_536).intValue))
      rest = whole
    }
    let length = digits.count
    digits += Array(repeating: 0, count: 8 - length)
    let mantissa = Data(digits.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] })
    return try object(of: "NSDecimalNumber") { _ in
      [
        "NS.mantissa": .data(mantissa), "NS.mantissa.bo": .integer(1),
        "NS.exponent": .integer(Int64(number.exponent)), "NS.length": .integer(Int64(length)),
        "NS.negative": .boolean(number.isSignMinus), "NS.compact": .boolean(true),
      ]
    }
  }

  /// Returns a value that archives contain unchanged.
  private static func plain(_ value: Any) -> PropertyList? {
    switch value {
    case let value as Bool: .boolean(value)
    case let value as String: .string(value)
    case let value as Substring: .string(String(value))
    case let value as any BinaryInteger:
      Int64(exactly: value).map(PropertyList.integer) ?? UInt64(exactly: value).map(PropertyList.unsigned)
    case let value as any BinaryFloatingPoint: .real(Double(value))
    case let value as Data: .data(value)
    // Compared by type: any empty array can be cast to an array of bytes.
    case let bytes as [UInt8] where type(of: value) == [UInt8].self: .data(Data(bytes))
    default: nil
    }
  }

  private mutating func unique(_ plain: PropertyList) -> PropertyList {
    let key = PropertyList.ByteIdentity(plain)
    if let number = numbers[key] { return .uid(UInt64(number)) }
    numbers[key] = objects.count
    objects.append(plain)
    return .uid(UInt64(objects.count - 1))
  }

  /// Adds an object followed by its members, as in Apple's archives.
  private mutating dynamic func object(
    of className: String, _ members: (inout Self) throws -> [String: PropertyList]
  ) throws -> PropertyList {
    let number = objects.count
    objects.append(.null)
    var object = try members(&self)
    object["$class"] = reference(toClass: className)
    objects[number] = .dictionary(object)
    return .uid(UInt64(number))
  }

  private mutating func reference(toClass name: String) -> PropertyList {
    if let number = classes[name] { return .uid(UInt64(number)) }
    classes[name] = objects.count
    let superclasses = name == "NSDecimalNumber" ? ["NSNumber", "NSValue"] : []
    objects.append(
      .dictionary([
        "$classname": .string(name),
        "$classes": .array(([name] + superclasses + ["NSObject"]).map(PropertyList.string)),
      ]))
    return .uid(UInt64(objects.count - 1))
  }
}
