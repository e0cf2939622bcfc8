import Foundation

/// Reads property lists in XML form, which old stores and handwritten files use.
///
/// `PropertyListSerialization` is no substitute: it silently keeps one value of a duplicate key, ignores content after
/// the list, reports line numbers only within message texts, and represents Booleans and numbers differently on each
/// platform.
struct XMLPropertyListReader {
  private let place: PersistenceError.Place

  init(place: PersistenceError.Place) { self.place = place }

  /// Whether data looks like XML.
  static func recognizes(_ bytes: [UInt8]) -> Bool {
    let text = bytes.prefix(256).drop { [0xEF, 0xBB, 0xBF].contains($0) || isSpace($0) }
    return text.starts(with: "<?xml".utf8) || text.starts(with: "<plist".utf8) || text.starts(with: "<!".utf8)
  }

  func read(_ data: Data) throws -> PropertyList {
    let limits = MarkupReader.Limits(
      bytes: PropertyList.Limits.bytes, depth: PropertyList.Limits.depth, pieces: PropertyList.Limits.expandedValues)
    let root: MarkupElement
    do {
      root = try MarkupReader.root(in: data, from: place.file, limits: limits)
    } catch var error as PersistenceError {
      var whole = place
      (whole.line, whole.column) = (error.place.line, error.place.column)
      error.place = whole
      throw error
    }
    guard root.name == "plist", root.children.count == 1, hasNoText(root) else {
      throw damaged("'<plist>' with one value in it was expected.", at: root)
    }
    return try value(root.children[0])
  }

  /// Converts an element to a value. The markup reader has already limited the nesting depth.
  private func value(_ element: MarkupElement) throws -> PropertyList {
    switch element.name {
    case "array":
      guard hasNoText(element) else { throw damaged("text occurs between the values of an array.", at: element) }
      return .array(try element.children.map(value))
    case "dict": return try dictionary(element)
    default:
      guard element.children.isEmpty else {
        throw damaged("'<\(element.name)>' can't hold other elements.", at: element)
      }
      return try scalar(element)
    }
  }

  private func dictionary(_ element: MarkupElement) throws -> PropertyList {
    guard hasNoText(element), element.children.count.isMultiple(of: 2) else {
      throw damaged("a dictionary must contain alternating keys and values.", at: element)
    }
    var entries: [String: PropertyList] = Dictionary()
    for index in stride(from: 0, to: element.children.count, by: 2) {
      let key = element.children[index]
      guard key.name == "key", key.children.isEmpty else {
        throw damaged("'<key>' was expected before a value.", at: key)
      }
      guard entries.updateValue(try value(element.children[index + 1]), forKey: key.text) == nil else {
        throw damaged("the key '\(key.text)' occurs twice in a dictionary.", at: key)
      }
    }
    return .dictionary(entries)
  }

  private func scalar(_ element: MarkupElement) throws -> PropertyList {
    let trimmed = element.text.trimmingCharacters(in: .whitespacesAndNewlines)
    switch element.name {
    case "string": return .string(element.text)
    case "true" where trimmed.isEmpty: return .boolean(true)
    case "false" where trimmed.isEmpty: return .boolean(false)
    case "integer":
      if let value = Int64(trimmed) { return .integer(value) }
      if let value = UInt64(trimmed) { return .unsigned(value) }
      if trimmed.hasPrefix("0x"), let value = Int64(trimmed.dropFirst(2), radix: 16) { return .integer(value) }
    case "real": if let value = Double(trimmed) { return .real(value) }
    case "date": if let date = try? Date.ISO8601FormatStyle().parse(trimmed) { return .date(date) }
    case "data":
      // Longer data is split into lines.
      let base64 = element.text.utf8.filter { !Self.isSpace($0) }
      if let data = Data(base64Encoded: Data(base64)) { return .data(data) }
    default: throw damaged("a property list has no '<\(element.name)>' here.", at: element)
    }
    throw damaged("'\(trimmed.prefix(60))' isn't a value for '<\(element.name)>'.", at: element)
  }

  private func hasNoText(_ element: MarkupElement) -> Bool { element.text.utf8.allSatisfy(Self.isSpace) }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

  private func damaged(_ message: String, at element: MarkupElement) -> PersistenceError {
    var place = place
    place.line = element.line
    return PersistenceError(.malformedFile, at: place, "The XML property list is damaged: \(message)")
  }
}
