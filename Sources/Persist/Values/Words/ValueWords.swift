package import Foundation

/// The one table of how values are worded for people: in messages, plans, dumps, histories and pictures.
///
/// | value | wording |
/// |---|---|
/// | none | `no value` |
/// | Boolean | `true`, `false` |
/// | number | `5`, `1.5`, `1e+300`, `NaN`, `infinity`, `-infinity` |
/// | text, URI | `'It\'s tea'`, on one line, with escapes; shortened: `'Lorem ipsum…'` |
/// | date | `2022-01-01T00:00:00Z`, in UTC; `63114076800 seconds before 2001` if calendars disagree about the day |
/// | data | `3 bytes (01 02 03)`, `4096 bytes (89 50 4e 47 0d 0a 1a 0a …)` |
/// | UUID | `6BA7B810-9DAD-11D1-80B4-00C04FD430C8` |
/// | object | `Item 5`, `an unsaved Item` |
/// | composite | `(city: 'Rome', zip: no value)`, elements by name |
///
/// A wording never contains a line break or a character that a terminal interprets, and its length has a limit.
package enum ValueWords {
  /// The number of bytes of data that are shown.
  private static let shownBytes = 8
  /// The length of a composite after which its remaining elements are left out.
  private static let longestComposite = 240
  /// The number of levels of a composite that are shown.
  private static let shownLevels = 4

  /// A text in quotation marks.
  ///
  /// - Parameter count: The number of characters after which the text is shortened.
  package static func text(_ text: String, shown count: Int = 80) -> String {
    let (shown, isWhole) = beginning(of: text, count)
    var words = "'"
    for scalar in shown.unicodeScalars {
      if scalar == "'" || scalar == "\\" { words.unicodeScalars.append("\\") }
      append(scalar, to: &words)
    }
    return words + (isWhole ? "'" : "…'")
  }

  package static func text(_ text: Substring) -> String { self.text(String(text)) }

  /// A text from outside within a message, without quotation marks: on one line, without characters that a terminal
  /// interprets.
  package static func line(_ text: String) -> String {
    var words = ""
    for scalar in text.unicodeScalars { append(scalar, to: &words) }
    return words
  }

  /// The beginning of such a text.
  ///
  /// - Parameter count: The number of characters after which the text is shortened.
  package static func line(_ text: String, shown count: Int) -> String {
    let (shown, isWhole) = beginning(of: text, count)
    return isWhole ? line(shown) : line(shown) + "…"
  }

  /// A predicate or an expression within a message.
  package static func format(_ format: some CustomStringConvertible) -> String { line(format.description, shown: 300) }

  /// A double, or a float with its own digits.
  package static func number(_ number: some BinaryFloatingPoint & CustomStringConvertible) -> String {
    if number.isNaN { return "NaN" }
    return number.isFinite ? number.description : number < 0 ? "-infinity" : "infinity"
  }

  /// A date in ISO 8601 in UTC, with microseconds if there is a fraction of a second.
  package static func date(_ date: Date) -> String {
    if let parts = DateParts(date) { return parts.iso8601 }
    let seconds = date.timeIntervalSinceReferenceDate
    guard seconds.isFinite else { return number(seconds) }
    let count = abs(seconds)
    let digits = count < 1e15 && count == count.rounded() ? "\(Int64(count))" : "\(count)"
    return "\(digits) seconds \(seconds < 0 ? "before" : "after") 2001"
  }

  /// Data as its size and its first bytes.
  package static func data(_ data: Data) -> String {
    let shown = data.prefix(shownBytes).map { Data([$0]).hexadecimalDigits }
    let bytes = shown + (data.count > shownBytes ? ["…"] : [])
    return size(data.count) + (data.isEmpty ? "" : " (\(bytes.joined(separator: " ")))")
  }

  /// The size of data.
  package static func size(_ count: Int) -> String { Measure.count(count, "byte") }

  /// An object.
  package static func object(_ id: ManagedObjectID) -> String {
    let name = line(id.entityName)
    return id.primaryKey.map { "\(name) \($0)" } ?? "an unsaved \(name)"
  }

  fileprivate static func composite(_ elements: [String: StoredValue], level: Int) -> String {
    guard level <= shownLevels || elements.isEmpty else { return "(…)" }
    var words = ""
    for (name, value) in elements.sorted(on: \.key) {
      if !words.isEmpty { words += ", " }
      guard words.utf8.count <= longestComposite else {
        words += "…"
        break
      }
      words += "\(line(name)): \(value.words(level: level + 1))"
    }
    return "(\(words))"
  }

  /// The beginning of a text that is shown, and whether it is the whole text. A character can consist of any number of
  /// scalars.
  private static func beginning(of text: String, _ count: Int) -> (text: String, isWhole: Bool) {
    let characters = text.prefix(count)
    let scalars = characters.unicodeScalars.prefix(count * 4)
    return (String(String.UnicodeScalarView(scalars)), scalars.endIndex == text.endIndex)
  }

  private static func append(_ scalar: Unicode.Scalar, to text: inout String) {
    if scalar.isInterpreted { text += scalar.escaped(asASCII: true) } else { text.unicodeScalars.append(scalar) }
  }
}

extension StoredValue: CustomStringConvertible {
  /// The value as it is worded for people in all messages: a text in quotation marks and shortened, a date in ISO 8601,
  /// data as their size. It doesn't read back to the value.
  public var description: String { words(level: 1) }

  fileprivate func words(level: Int) -> String {
    switch self {
    case .null: "no value"
    case .boolean(let flag): flag ? "true" : "false"
    case .integer(let number): String(number)
    case .double(let number): ValueWords.number(number)
    case .decimal(let number): number.description
    case .string(let text), .uri(let text): ValueWords.text(text)
    case .date(let date): ValueWords.date(date)
    case .data(let data): ValueWords.data(data)
    case .uuid(let uuid): uuid.uuidString
    case .objectID(let id): ValueWords.object(id)
    case .composite(let elements): ValueWords.composite(elements, level: level)
    }
  }
}
