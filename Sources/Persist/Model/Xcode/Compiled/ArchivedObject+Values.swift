package import Foundation

extension ArchivedObject {
  /// The value of a Foundation object: a string, number, date, and so on; nil for objects of other classes.
  package var storedValue: StoredValue? {
    get throws {
      switch value {
      case .null: return .null
      case .boolean(let value): return .boolean(value)
      case .integer(let value): return .integer(value)
      case .unsigned(let value): return .decimal(Decimal(value))
      case .real(let value): return .double(value)
      case .string(let value): return .string(value)
      case .date(let value): return .date(value)
      case .data(let value): return .data(value)
      case .array, .uid: return nil
      case .dictionary: break
      }
      if isKind(of: "NSString") { return try text.map(StoredValue.string) }
      if isKind(of: "NSDate") {
        return try member("NS.time")?.value.doubleValue
          .map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
      }
      if isKind(of: "NSData") { return try member("NS.data")?.value.dataValue.map(StoredValue.data) }
      if isKind(of: "NSUUID") { return try uuid.map(StoredValue.uuid) }
      if isKind(of: "NSURL") { return try uri.map(StoredValue.uri) }
      if isKind(of: "NSDecimalNumber") || isKind(of: "NSDecimalNumberPlaceholder") {
        return try decimal.map(StoredValue.decimal)
      }
      if isKind(of: "NSNumber") { return try numberValue }
      if isKind(of: "NSNull") { return .null }
      return nil
    }
  }

  private var uuid: UUID? {
    get throws {
      guard let bytes = try member("NS.uuidbytes")?.value.dataValue.map({ [UInt8]($0) }), bytes.count == 16 else {
        return nil
      }
      return UUID(uuid: (
        bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7], bytes[8], bytes[9], bytes[10],
        bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
      ))
    }
  }

  /// The text of a URL, unchanged unless it is relative to a base.
  private var uri: String? {
    get throws {
      guard let relative = try text("NS.relative") else { return nil }
      guard try member("NS.base")?.text("NS.relative") != nil else { return relative }
      return try url?.absoluteString ?? relative
    }
  }

  /// A URL, relative to its base if it has one; nil if it isn't valid.
  package var url: URL? {
    get throws {
      guard let relative = try text("NS.relative") else { return nil }
      let base = try member("NS.base")?.text("NS.relative").flatMap { URL(string: $0) }
      return URL(string: relative, relativeTo: base)
    }
  }

  /// A decimal number: eight 16-bit digits, least significant first, as in `NSDecimal`.
  package var decimal: Decimal? {
    get throws {
      guard let bytes = try member("NS.mantissa")?.value.dataValue.map({ [UInt8]($0) }), bytes.count == 16,
        let exponent = Int(exactly: try integer("NS.exponent")), (-128...127).contains(exponent),
        case let length = try integer("NS.length"), (0...8).contains(length)
      else { return nil }
      let isBigEndian = try integer("NS.mantissa.bo", default: 1) == 2
      let isNegative = try flag("NS.negative")
      var mantissa = Decimal(0)
      for index in (0..<Int(length)).reversed() {
        let pair = (UInt16(bytes[2 * index]), UInt16(bytes[2 * index + 1]))
        mantissa = mantissa * 65_536 + Decimal(isBigEndian ? pair.0 << 8 | pair.1 : pair.1 << 8 | pair.0)
      }
      // A number with a minus sign and no digits is NaN.
      guard length > 0 || !isNegative else { return nil }
      return Decimal(sign: isNegative ? .minus : .plus, exponent: exponent, significand: mantissa)
    }
  }

  private var numberValue: StoredValue? {
    get throws {
      if let value = try member("NS.boolval")?.value.booleanValue { return .boolean(value) }
      if let value = try member("NS.intval")?.value.integerValue { return .integer(value) }
      return try member("NS.dblval")?.value.doubleValue.map(StoredValue.double)
    }
  }
}

extension StoredValue {
  /// Converts the value to the form that an attribute of a type holds: archives don't distinguish the numbers of
  /// several types.
  ///
  /// Nil if the value doesn't fit the type.
  func converted(to type: AttributeType) -> StoredValue? {
    switch (type, self) {
    // The source says 0.1, the archive contains the nearest float: its shortest decimal form restores the original.
    case (.float, .double(let value)): Double(Float(value).description).map(StoredValue.double)
    case _ where type.holds(self): self
    case (.boolean, .integer(let value)): .boolean(value != 0)
    case (.boolean, .double(let value)): .boolean(value != 0)
    case (.int16, .boolean(let value)), (.int32, .boolean(let value)), (.int64, .boolean(let value)):
      .integer(value ? 1 : 0)
    case (.int16, .double(let value)), (.int32, .double(let value)), (.int64, .double(let value)):
      Int64(exactly: value).map(StoredValue.integer)
    case (.int16, .decimal(let value)), (.int32, .decimal(let value)), (.int64, .decimal(let value)):
      Int64(value.description).map(StoredValue.integer)
    case (.double, .integer(let value)): .double(Double(value))
    case (.double, .boolean(let value)): .double(value ? 1 : 0)
    case (.double, .decimal(let value)): Double(value.description).map(StoredValue.double)
    case (.float, .integer(let value)): Double(Float(value).description).map(StoredValue.double)
    case (.float, .boolean(let value)): .double(value ? 1 : 0)
    case (.float, .decimal(let value)): Double(value.description).map(StoredValue.double)
    case (.decimal, .integer(let value)): .decimal(Decimal(value))
    case (.decimal, .boolean(let value)): .decimal(value ? 1 : 0)
    case (.decimal, .double(let value)): Decimal(string: "\(value)").map(StoredValue.decimal)
    case (.uuid, .string(let value)): UUID(uuidString: value).map(StoredValue.uuid)
    case (.uri, .string(let value)): .uri(value)
    default: nil
    }
  }
}
