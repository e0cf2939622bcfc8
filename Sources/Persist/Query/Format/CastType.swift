import Foundation

/// The target types of `CAST`, by their Objective-C names.
enum CastType: String, CaseIterable {
  case string = "NSString"
  case number = "NSNumber"
  case decimal = "NSDecimalNumber"
  case date = "NSDate"
  case data = "NSData"
  case uuid = "NSUUID"
  case url = "NSURL"
  case objectID = "NSManagedObjectID"
  case composite = "NSDictionary"

  /// The type with a name; the NS prefix is optional.
  init?(className name: String) {
    let plain = name.hasPrefix("NS") ? String(name.dropFirst(2)) : name
    let known = Self.allCases.first { $0.rawValue.dropFirst(2).caseInsensitiveCompare(plain) == .orderedSame }
    guard let type = known else { return nil }
    self = type
  }
}

extension FetchExpression {
  /// The constant denoted by a cast of this expression: nil if the cast remains a function, because this isn't a
  /// literal or the type has literals of its own; an inner nil if the literal isn't valid for the type.
  func literal(of type: CastType) -> StoredValue?? {
    switch (type, self) {
    case (.date, .constant(.double(let seconds))):
      return .some(.date(Date(timeIntervalSinceReferenceDate: seconds)))
    case (.date, .constant(.integer(let seconds))):
      return .some(.date(Date(timeIntervalSinceReferenceDate: Double(seconds))))
    case (.decimal, .constant(.string(let text))):
      return .some(Decimal(wholeText: text).map(StoredValue.decimal))
    case (.number, .constant(.string("infinity"))): return .some(.double(.infinity))
    case (.number, .constant(.string("-infinity"))): return .some(.double(-.infinity))
    case (.number, .constant(.string("nan"))): return .some(.double(.nan))
    case (.data, .constant(.string(let text))):
      return .some(Data(base64Encoded: text).map(StoredValue.data))
    case (.uuid, .constant(.string(let text))):
      return .some(UUID(uuidString: text).map(StoredValue.uuid))
    case (.url, .constant(.string(let text))):
      return .some(.uri(text))
    case (.objectID, .constant(.string(let text))):
      let id = URL(string: text).flatMap(ManagedObjectID.init(uriRepresentation:))
      return .some(id.map(StoredValue.objectID))
    case (.composite, .aggregate(let parts)):
      return compositeLiteral(parts)
    default: return .none
    }
  }

  /// Builds a composite from alternating keys and values.
  private func compositeLiteral(_ parts: [FetchExpression]) -> StoredValue?? {
    guard parts.count.isMultiple(of: 2) else { return .some(nil) }
    var elements: [String: StoredValue] = Dictionary()
    for index in stride(from: 0, to: parts.count, by: 2) {
      guard case .constant(.string(let key)) = parts[index] else { return .some(nil) }
      guard case .constant(let value) = parts[index + 1] else { return .none }
      elements[key] = value
    }
    return .some(.composite(elements))
  }
}
