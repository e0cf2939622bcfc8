import Foundation

/// Reads the attributes of an XML element one by one; those left unread are preserved as unknown.
struct XMLFields {
  let element: MarkupElement
  private let log: XMLProblems
  /// The names of the attributes that have been read.
  private var read: [String] = []
  private var restChildren: [String: String] = Dictionary()

  init(_ element: MarkupElement, log: XMLProblems) {
    self.element = element
    self.log = log
  }

  /// The unread parts: attributes by name, child elements as markup under `<name>`.
  var unknown: [String: String] {
    guard read.count < element.attributes.count else { return restChildren }
    return element.attributes.filter { !read.contains($0.key) }.merging(restChildren) { attribute, _ in attribute }
  }

  mutating func keepUnknown(_ child: MarkupElement) {
    restChildren["<\(child.name)>", default: ""] += child.markup
  }

  /// Reads a value unchanged, including an empty one.
  mutating func verbatim(_ key: String) -> String? {
    guard let value = element.attributes[key] else { return nil }
    if !read.contains(key) { read.append(key) }
    return value
  }

  /// Reads a value; nil if it is missing or empty.
  mutating func text(_ keys: String...) -> String? {
    for key in keys {
      if let value = verbatim(key), !value.isEmpty { return value }
    }
    return nil
  }

  /// Reads a value that the element requires.
  mutating func required(_ key: String) -> String? {
    if let value = text(key) { return value }
    report("<\(element.name)> has no '\(key)'.")
    return nil
  }

  /// Reads `YES` or `NO`; any other value is treated as missing, with a warning.
  mutating func flag(_ keys: String..., default standard: Bool = false) -> Bool {
    for key in keys {
      guard let value = text(key) else { continue }
      if let flag = XcodeValueText.boolean(value) { return flag }
      ignore(key, of: value, consequence: "expected YES or NO, so it counts as \(standard ? "YES" : "NO").")
    }
    return standard
  }

  /// Reads `YES` or `NO` for a flag that affects a store's tables: any other value is an error.
  mutating func layoutFlag(_ key: String) -> Bool {
    guard let value = text(key) else { return false }
    if let flag = XcodeValueText.boolean(value) { return flag }
    report("'\(key)' is \(ValueWords.text(value)); expected YES or NO.")
    return false
  }

  /// Reads a nonnegative whole number; any other value is treated as missing, with a warning.
  mutating func count(_ key: String) -> Int? {
    guard let value = text(key) else { return nil }
    if let number = Int(value), number >= 0 { return number }
    ignore(key, of: value, consequence: "expected a whole number from 0, so it has no effect.")
    return nil
  }

  /// Reads a limit on a number of objects, where -1 means no limit.
  mutating func bound(_ key: String) -> Int? {
    guard element.attributes[key] == "-1" else { return count(key) }
    _ = verbatim(key)
    return 0
  }

  /// Returns the entries of the `<userInfo>` child.
  func userInfo() -> [String: String] {
    var result: [String: String] = Dictionary()
    for entry in element.children(named: "userInfo").flatMap({ $0.children(named: "entry") }) {
      guard let key = entry.attributes["key"] else {
        log.warn("An <entry> of <userInfo> has no 'key' and is left out.", line: entry.line)
        continue
      }
      result[key] = entry.attributes["value"] ?? ""
    }
    return result
  }

  /// Reports a problem that would make a store of the model incorrect.
  func report(_ message: String, fix: String? = nil) { log.report(message, line: element.line, fix: fix) }

  /// Reports a problem with something that the model can omit.
  func warn(_ message: String, fix: String? = nil) { log.warn(message, line: element.line, fix: fix) }

  /// Warns of a value that can't be read, and preserves it as unknown.
  ///
  /// - Parameter consequence: the end of the sentence that starts with the value.
  @inline(never)
  mutating func ignore(_ key: String, of value: String, consequence: String, fix: String? = nil) {
    read.removeAll { $0 == key }
    warn("'\(key)' is \(ValueWords.text(value)); \(consequence)", fix: fix ?? "Correct or remove it.")
  }
}

/// Collects the problems of one file so that all are reported together.
final class XMLProblems {
  private let file: URL?
  /// The problems that prevent the file from being read.
  private(set) var errors: [PersistenceError] = []
  /// The parts that were omitted from the model.
  private(set) var warnings: [PersistenceError] = []
  /// A file with more problems than this isn't a model at all.
  private static let limit = 100

  init(file: URL?) { self.file = file }

  func report(_ message: String, line: Int, fix: String? = nil) {
    guard errors.count < Self.limit else { return }
    errors.append(
      PersistenceError(.malformedFile, at: PersistenceError.Place(file: file, line: line), message, fix: fix))
  }

  func warn(_ message: String, line: Int, fix: String? = nil) {
    guard warnings.count < Self.limit else { return }
    warnings.append(
      PersistenceError(.invalidModel, at: PersistenceError.Place(file: file, line: line), message, fix: fix))
  }

  func throwIfAny() throws {
    guard !errors.isEmpty else { return }
    throw PersistenceError.combining(errors, as: .malformedFile, "The model file has \(errors.count) problems.")
  }
}
